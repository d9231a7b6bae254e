"""Devices that pods claim: promised by the filters, written by the scheduler."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.server import ApiServer
from services.simulator.core.objects import condition_of
from services.simulator.core.scheduler.scheduler import Scheduler
from tests.unit.services.simulator.living import Obj, a_node, a_pod

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CLAIMS = "resourceclaims.resource.k8s.io"


def a_cluster(*, devices: int = 1, nodes: int = 2, **device: Any) -> DirectApi:
    numbers = itertools.count(1)
    api = ApiServer(lambda: NOW, lambda: f"uid-{next(numbers)}", lambda: "abcde").direct
    for number in range(nodes):
        api.create("nodes", a_node(f"n{number}"))
    selector = {"cel": {"expression": 'device.driver == "gpu.example.com"'}}
    gpu = {"metadata": {"name": "gpu"}, "spec": {"selectors": [selector], **device.pop("cls", {})}}
    api.create("deviceclasses.resource.k8s.io", gpu)
    listed = [{"name": f"d{number}", **device} for number in range(devices)]
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    slice_ = {
        "metadata": {"name": "n1-gpu"},
        "spec": {"driver": "gpu.example.com", "nodeName": "n1", "pool": pool, "devices": listed},
    }
    api.create("resourceslices.resource.k8s.io", slice_)
    return api


def claim(api: DirectApi, name: str = "one") -> Obj:
    request = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
    made = {"metadata": {"name": name}, "spec": {"devices": {"requests": [request]}}}
    return api.create(CLAIMS, made, "default")


def claiming(name: str, claimed: str = "one") -> Obj:
    return a_pod(name, resourceClaims=[{"name": "gpu", "resourceClaimName": claimed}])


def status_of(api: DirectApi, name: str = "one") -> Obj:
    found: Obj = api.get(CLAIMS, name, "default").get("status", {})
    return found


def node_of(api: DirectApi, name: str) -> str:
    return str(api.get("pods", name, "default")["spec"].get("nodeName", ""))


def message_of(api: DirectApi, name: str) -> str:
    condition = condition_of(api.get("pods", name, "default"), "PodScheduled")
    return str((condition or {}).get("message", ""))


def test_a_claim_gets_the_devices_of_the_node_and_its_pod() -> None:
    api = a_cluster()
    claim(api)
    uid = api.create("pods", claiming("p"), "default")["metadata"]["uid"]

    Scheduler(api).step(NOW)

    assert node_of(api, "p") == "n1"
    status = status_of(api)
    (result,) = status["allocation"]["devices"]["results"]
    assert (result["request"], result["pool"], result["device"]) == ("r", "n1", "d0")
    assert status["allocation"]["allocationTimestamp"] == "2026-01-01T00:00:00Z"
    assert status["reservedFor"] == [{"resource": "pods", "name": "p", "uid": uid}]


def test_pods_share_a_claim_and_devices_are_given_once() -> None:
    api = a_cluster()
    claim(api)
    claim(api, "two")
    scheduler = Scheduler(api)
    for name, claimed in (("a", "one"), ("b", "one"), ("c", "two")):
        api.create("pods", claiming(name, claimed), "default")
        scheduler.step(NOW)

    assert [node_of(api, name) for name in "abc"] == ["n1", "n1", ""]
    assert [one["name"] for one in status_of(api)["reservedFor"]] == ["a", "b"]
    assert message_of(api, "c") == (
        "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    )


def test_devices_out_of_reach_are_given_back() -> None:
    api = a_cluster()
    made = claim(api)
    only = {"key": "metadata.name", "operator": "In", "values": ["gone"]}
    allocation = {
        "devices": {
            "results": [
                {"request": "r", "driver": "gpu.example.com", "pool": "gone", "device": "x"}
            ]
        },
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [only]}]},
    }
    api.update(CLAIMS, {**made, "status": {"allocation": allocation}}, subresource="status")
    api.create("pods", claiming("p"), "default")
    scheduler = Scheduler(api)

    scheduler.step(NOW)

    assert "deallocation of ResourceClaim completed, preemption: 0/2" in message_of(api, "p")
    assert "allocation" not in status_of(api)
    scheduler.step(NOW + timedelta(seconds=1))
    assert node_of(api, "p") == "n1"


def test_a_pod_waits_until_its_devices_are_ready() -> None:
    bound: dict[str, Any] = {
        "bindsToNode": True,
        "bindingConditions": ["ready"],
        "bindingFailureConditions": ["no"],
    }
    api = a_cluster(**bound)
    claim(api)
    api.create("pods", claiming("p"), "default")
    scheduler = Scheduler(api)
    scheduler.step(NOW)
    assert node_of(api, "p") == ""
    assert api.get("pods", "p", "default")["status"]["nominatedNodeName"] == "n1"

    ready = {"type": "ready", "status": "True", "reason": "Attached", "message": ""}
    ready["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    device = {"driver": "gpu.example.com", "pool": "n1", "device": "d0", "conditions": [ready]}
    present = api.get(CLAIMS, "one", "default")
    changed = {**present, "status": {**present["status"], "devices": [device]}}
    api.update(CLAIMS, changed, subresource="status")
    scheduler.step(NOW)

    assert node_of(api, "p") == "n1"


def test_devices_that_never_get_ready_are_taken_back() -> None:
    bound: dict[str, Any] = {
        "bindsToNode": True,
        "bindingConditions": ["ready"],
        "bindingFailureConditions": ["no"],
    }
    api = a_cluster(**bound)
    claim(api)
    api.create("pods", claiming("p"), "default")
    scheduler = Scheduler(api)
    scheduler.step(NOW)
    assert status_of(api)["reservedFor"]

    api.delete("nodes", "n1")
    scheduler.step(NOW)

    assert not status_of(api).get("reservedFor")
    assert node_of(api, "p") == ""


def test_an_extended_resource_of_a_class_gets_a_claim_of_its_own() -> None:
    api = a_cluster(cls={"extendedResourceName": "example.com/gpu"})
    asked = {"resources": {"limits": {"example.com/gpu": "1"}}}
    api.create("pods", a_pod("p", container=asked), "default")

    Scheduler(api).step(NOW)

    assert node_of(api, "p") == "n1"
    (made,) = api.list(CLAIMS, "default")
    assert made["metadata"]["name"] == "p-extended-resources-abcde"
    assert made["status"]["reservedFor"][0]["name"] == "p"
    told = api.get("pods", "p", "default")["status"]["extendedResourceClaimStatus"]
    mapping = {"containerName": "main", "requestName": "container-0-request-0"}
    assert told["resourceClaimName"] == made["metadata"]["name"]
    assert told["requestMappings"] == [{**mapping, "resourceName": "example.com/gpu"}]


def test_a_pod_without_its_claim_is_not_tried_and_not_told() -> None:
    api = a_cluster()
    api.create("pods", claiming("p"), "default")
    scheduler = Scheduler(api)

    scheduler.step(NOW)

    assert condition_of(api.get("pods", "p", "default"), "PodScheduled") is None
    assert api.list("events", "default") == ()
    claim(api)
    scheduler.step(NOW + timedelta(seconds=1))
    assert node_of(api, "p") == "n1"
