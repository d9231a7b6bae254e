"""Devices and gangs in plans: what new nodes bring, what is made, released, and kept together."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from libs.checker.ahead import ahead
from libs.checker.claims import Purchase, claim_violations, purchase
from libs.checker.devices import device_resources, node_slices
from libs.checker.gangs import broken_gangs
from libs.checker.plan import check_plan
from libs.domain import labels as keys
from libs.domain.capacity import InstanceType
from libs.domain.device import (
    IMPLICIT_RESOURCE,
    CapacityPolicy,
    CounterUse,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClass,
    DevicePool,
    DeviceVersion,
)
from libs.domain.plan import LaunchOption, Plan, PlannedNodeClaim
from libs.domain.resources import CPU, Resources
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.taint import Effect, Taint
from libs.domain.workload import Gang
from libs.oracle.cluster import Cluster
from tests.support.builders import (
    a_catalogue,
    a_node,
    a_nodeclaim,
    a_pod,
    a_snapshot,
    a_type,
    amounts,
)

DRIVER = "gpu.example.com"
POOL = DevicePool(driver=DRIVER, pool="cards", devices=(Device(name="card-0"),))
KIND = a_type("g-4", capacity=amounts(cpu=4, memory="16Gi", pods=8), device_pools=(POOL,))
RESOURCE = "example.com/card"
PLUGGED = a_type("g-4", capacity=KIND.capacity.add(Resources({RESOURCE: 1})), device_pools=(POOL,))
OPTION = LaunchOption(
    instance_type="g-4", zone="zone-a", capacity_type="spot", price_nanos_per_hour=9 * 10**8
)


def _pod(name: str, **claim: str) -> dict[str, Any]:
    container = {"name": "main", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {"containers": [container], "resourceClaims": [{"name": "card", **claim}]},
    }


def _cluster(*pods: dict[str, Any], others: Iterable[tuple[str, Any]] = ()) -> Cluster:
    cluster = Cluster()
    devices = {"requests": [{"name": "r", "exactly": {"deviceClassName": "card"}}]}
    metadata = {"name": "card", "namespace": "default"}
    template = {"metadata": metadata, "spec": {"spec": {"devices": devices}}}
    cluster.put("ResourceClaimTemplate", template)
    cluster.put("DeviceClass", {"metadata": {"name": "card"}, "spec": {}})
    for pod in pods:
        cluster.put("Pod", pod)
    for kind, obj in others:
        cluster.put(kind, obj)
    return cluster


def _plan(snapshot: ClusterSnapshot, *uids: str) -> Plan:
    pool = snapshot.nodepools["default"]
    claim = PlannedNodeClaim(
        index=0,
        nodepool=pool.name,
        nodepool_uid=pool.uid,
        nodepool_hash=pool.hash,
        requirements=pool.template.requirements,
        requests=amounts(cpu=2, memory="2Gi", pods=2),
        instance_types=("g-4",),
        cheapest=OPTION,
        pod_uids=uids,
    )
    return Plan(nodeclaims=(claim,))


@pytest.mark.parametrize(
    ("names", "rules"),
    [
        pytest.param(("a",), set(), id="one pod, one card"),
        pytest.param(("a", "b"), {"DynamicResources"}, id="two pods, one card"),
    ],
)
def test_a_new_node_brings_the_devices_of_its_type(names: tuple[str, ...], rules: set[str]) -> None:
    snapshot = a_snapshot(pods=[a_pod(name) for name in names], catalogues=[a_catalogue(KIND)])
    cluster = _cluster(*(_pod(name, resourceClaimTemplateName="card") for name in names))

    found = check_plan(cluster, snapshot, _plan(snapshot, *(f"uid-{name}" for name in names)))

    assert {one.rule for one in found} == rules


@pytest.mark.parametrize(
    ("resource", "kind", "said", "rules"),
    [
        pytest.param(RESOURCE, KIND, 0, set(), id="devices serve it"),
        pytest.param(
            f"{IMPLICIT_RESOURCE}card", KIND, 0, set(), id="devices of the class with its name do"
        ),
        pytest.param(RESOURCE, KIND, 1, {"LaunchList"}, id="devices serve it, the node is to"),
        pytest.param(RESOURCE, PLUGGED, 1, set(), id="the node offers it"),
        pytest.param(RESOURCE, PLUGGED, 0, {"Requests"}, id="the node is to, and is not asked"),
        pytest.param("example.com/other", KIND, 0, {"Requests"}, id="no class stands for it"),
    ],
)
def test_a_claim_asks_for_what_devices_do_not_serve(
    resource: str, kind: InstanceType, said: int, rules: set[str]
) -> None:
    known = DeviceClass(name="card", extended_resource=RESOURCE)
    snapshot = a_snapshot(catalogues=[a_catalogue(kind)], device_classes=[known])
    (claim,) = _plan(snapshot).nodeclaims
    bought = purchase(snapshot, replace(claim, requests=Resources({CPU: 1000, resource: said})))
    assert isinstance(bought, Purchase)

    found = claim_violations(
        bought, [Resources({CPU: 1000, resource: 1})], device_resources(snapshot)
    )

    assert {one.rule for one in found} == rules


def test_a_pod_whose_template_is_missing_cannot_be_bound() -> None:
    snapshot = a_snapshot(pods=[a_pod("a")], catalogues=[a_catalogue(KIND)])
    cluster = _cluster(_pod("a", resourceClaimTemplateName="gone"))

    (found,) = check_plan(cluster, snapshot, _plan(snapshot, "uid-a"))

    assert found.message == 'pod "default/a": ResourceClaim not created yet'


def test_a_node_that_starts_has_what_its_drivers_have_not_published_yet() -> None:
    claim = a_nodeclaim("claim-1", node_name="node-1")
    node = a_node(
        "node-1", labels={keys.INSTANCE_TYPE: "g-4"}, nodeclaim="claim-1", initialized=False
    )
    snapshot = a_snapshot(nodes=[node], nodeclaims=[claim], catalogues=[a_catalogue(KIND)])

    later = ahead(Cluster(), snapshot, ())

    assert [one["spec"]["nodeName"] for one in later.resource_slices.values()] == ["node-1"]


def test_what_a_driver_has_published_does_not_come_twice() -> None:
    claim = a_nodeclaim("claim-1", node_name="node-1")
    node = a_node(
        "node-1", labels={keys.INSTANCE_TYPE: "g-4"}, nodeclaim="claim-1", initialized=False
    )
    snapshot = a_snapshot(nodes=[node], nodeclaims=[claim], catalogues=[a_catalogue(KIND)])
    about = {"name": "own", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": "node-1", "pool": about, "devices": []}
    cluster = Cluster()
    cluster.put("ResourceSlice", {"metadata": {"name": "own"}, "spec": spec})

    assert list(ahead(cluster, snapshot, ()).resource_slices) == ["own"]


@pytest.mark.parametrize(
    ("consumers", "released"),
    [
        pytest.param(["uid-old"], True, id="all its pods go"),
        pytest.param(["uid-old", "uid-stays"], False, id="another pod stays"),
        pytest.param([], False, id="nobody's"),
    ],
)
def test_a_claim_is_allocated_anew_when_all_its_pods_go(
    consumers: list[str], released: bool
) -> None:
    old = {**_pod("old", resourceClaimName="mine"), "status": {"phase": "Running"}}
    old["spec"]["nodeName"] = "node-1"
    status = {
        "allocation": {"devices": {"results": []}},
        "reservedFor": [{"resource": "pods", "name": one, "uid": one} for one in consumers],
    }
    claim = {"metadata": {"name": "mine", "namespace": "default"}, "spec": {}, "status": status}
    snapshot = a_snapshot(
        nodes=[a_node("node-1", leaving=True)], pods=[a_pod("old", node="node-1")]
    )
    cluster = _cluster(old, others=[("ResourceClaim", claim)])

    later = ahead(cluster, snapshot, ["default/old"])

    assert ("allocation" not in later.resource_claims["default/mine"]["status"]) is released


def test_all_that_is_known_of_a_device_is_in_its_slices() -> None:
    policy = CapacityPolicy(default=1000, least=1000, most=4000, step=500)
    device = Device(
        name="card-0",
        attributes=(
            DeviceAttribute(name="kind", value="x"),
            DeviceAttribute(name="cores", value=4),
            DeviceAttribute(name="fit", value=True),
            DeviceAttribute(name="driver", value=DeviceVersion(text="1.2.3")),
        ),
        capacity=(DeviceCapacity(name="memory", amount=8000, policy=policy),),
        shared=True,
        counters=(CounterUse(counter_set="board", amounts=Resources({"power": 2000})),),
        taints=(Taint(key="worn", value="x", effect=Effect.NO_SCHEDULE),),
        has_binding_conditions=True,
    )
    board = CounterUse(counter_set="board", amounts=Resources({"power": 8000}))
    kind = replace(KIND, device_pools=(replace(POOL, devices=(device,), counters=(board,)),))

    devices, counters = node_slices("n", kind)

    assert devices["spec"]["devices"] == [
        {
            "name": "card-0",
            "attributes": {
                "kind": {"string": "x"},
                "cores": {"int": 4},
                "fit": {"bool": True},
                "driver": {"version": "1.2.3"},
            },
            "capacity": {
                "memory": {
                    "value": "8000m",
                    "requestPolicy": {
                        "default": "1000m",
                        "validRange": {"min": "1000m", "max": "4000m", "step": "500m"},
                    },
                }
            },
            "consumesCounters": [
                {"counterSet": "board", "counters": {"power": {"value": "2000m"}}}
            ],
            "taints": [{"key": "worn", "value": "x", "effect": "NoSchedule"}],
            "allowMultipleAllocations": True,
            "bindingConditions": ["ready"],
        }
    ]
    assert counters["spec"]["sharedCounters"] == [
        {"name": "board", "counters": {"power": {"value": "8000m"}}}
    ]


@pytest.mark.parametrize(
    ("running", "placed", "broken"),
    [
        pytest.param(0, 3, False, id="whole"),
        pytest.param(0, 2, True, id="short"),
        pytest.param(1, 2, False, id="whole with one that runs"),
        pytest.param(0, 0, False, id="not placed at all"),
    ],
)
def test_a_gang_is_placed_whole_or_not_at_all(running: int, placed: int, broken: bool) -> None:
    old = [a_pod(f"old-{n}", gang="default/crew", node="node-1") for n in range(running)]
    new = [a_pod(f"new-{n}", gang="default/crew") for n in range(3)]
    gang = Gang(namespace="default", name="crew", min_members=3)
    snapshot = a_snapshot(pods=[*old, *new], nodes=[a_node("node-1")], gangs=[gang])

    found = list(broken_gangs(snapshot, {f"uid-new-{n}" for n in range(placed)}))

    assert bool(found) is broken
    assert {one.rule for one in found} <= {"Gang"}


@pytest.mark.parametrize(
    ("published", "rules"),
    [
        pytest.param((), set(), id="its driver is yet to publish"),
        pytest.param(({"matchLabels": {keys.ZONE: "zone-b"}},), set(), id="another zone's"),
        pytest.param(({"matchLabels": {keys.ZONE: "zone-a"}},), {"VolumeBinding"}, id="its zone's"),
    ],
)
def test_a_new_node_has_room_for_volumes_unless_its_zone_has_none(
    published: tuple[Any, ...], rules: set[str]
) -> None:
    snapshot = a_snapshot(pods=[a_pod("a")], catalogues=[a_catalogue(KIND)])
    pod = _pod("a", resourceClaimTemplateName="card")
    pod["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    size = {"requests": {"storage": "2Gi"}}
    late = {
        "metadata": {"name": "late"},
        "provisioner": "disk.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    data = {
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {"storageClassName": "late", "resources": size},
    }
    driver = {"metadata": {"name": "disk.example.com"}, "spec": {"storageCapacity": True}}
    capacities = [
        {
            "metadata": {"name": f"c{n}"},
            "storageClassName": "late",
            "nodeTopology": one,
            "capacity": "1Gi",
        }
        for n, one in enumerate(published)
    ]
    others = [
        ("StorageClass", late),
        ("PersistentVolumeClaim", data),
        ("CSIDriver", driver),
        *(("CSIStorageCapacity", one) for one in capacities),
    ]

    found = check_plan(_cluster(pod, others=others), snapshot, _plan(snapshot, "uid-a"))

    assert {one.rule for one in found} == rules
