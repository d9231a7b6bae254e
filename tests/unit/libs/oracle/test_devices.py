"""Devices, rule by rule: a small cluster, a claim, and whether the node will do."""

from typing import Any

import pytest

from libs.oracle.check import check
from libs.oracle.cluster import Cluster
from libs.oracle.devices.binding import bind_devices
from libs.oracle.verdict import judge
from tests.unit.libs.oracle.kube import Obj, node, pod

DRIVER = "gpu.example.com"
GPU = {"metadata": {"name": "gpu"}, "spec": {}}


def _device(name: str, **fields: Any) -> Obj:
    return {"name": name, **fields}


def _slice(*devices: Obj, name: str = "slice", pool: str = "pool", **spec: Any) -> Obj:
    place = (
        {}
        if spec.keys() & {"nodeName", "nodeSelector", "perDeviceNodeSelection"}
        else {"allNodes": True}
    )
    about = {
        "name": pool,
        "generation": spec.pop("generation", 1),
        "resourceSliceCount": spec.pop("slices", 1),
    }
    return {
        "metadata": {"name": name},
        "spec": {"driver": DRIVER, "pool": about, "devices": list(devices), **place, **spec},
    }


def _exactly(name: str = "r", **fields: Any) -> Obj:
    return {"name": name, "exactly": {"deviceClassName": "gpu", **fields}}


def _claim(*requests: Obj, name: str = "mine", constraints: Any = (), **more: Any) -> Obj:
    devices = {"requests": list(requests), "constraints": list(constraints)}
    metadata = {"name": name, "namespace": "default", "uid": name}
    return {"metadata": metadata, "spec": {"devices": devices}, **more}


def _given(name: str, device: str, **result: Any) -> Obj:
    """Return a claim that holds a device."""
    results = [{"request": "r", "driver": DRIVER, "pool": "pool", "device": device, **result}]
    return _claim(_exactly(), name=name, status={"allocation": {"devices": {"results": results}}})


def _asking(*claims: str, name: str = "asking", **more: Any) -> Obj:
    references = [{"name": one, "resourceClaimName": one} for one in claims or ("mine",)]
    found = pod(name, requests={}, resourceClaims=references)
    return {**found, "metadata": {**found["metadata"], "uid": name}, **more}


def _cluster(*objects: Obj) -> Cluster:
    cluster = Cluster()
    for one in (node("n1", labels={"zone": "a"}), node("n2", labels={"zone": "b"})):
        cluster.put("Node", one)
    cluster.put("DeviceClass", GPU)
    for one in objects:
        spec = one.get("spec", {})
        kind = "ResourceSlice" if "driver" in spec else "ResourceClaim"
        cluster.put(kind, one)
    return cluster


def _feasible(*objects: Obj, asking: Obj | None = None) -> tuple[str, ...]:
    return judge(_cluster(*objects), asking or _asking()).feasible


BOTH = ("n1", "n2")
PAIR = (
    _device("a", attributes={"numa": {"int": 0}, "kind": {"string": "x"}}),
    _device("b", attributes={"numa": {"int": 1}, "kind": {"string": "x"}}),
)
SHARED = _device(
    "s",
    allowMultipleAllocations=True,
    capacity={
        "memory": {
            "value": "40Gi",
            "requestPolicy": {"default": "10Gi", "validRange": {"min": "10Gi", "step": "10Gi"}},
        }
    },
)
COUNTED = (
    _slice(
        name="counters",
        slices=2,
        sharedCounters=[{"name": "card", "counters": {"memory": {"value": "40Gi"}}}],
    ),
    _slice(
        *(
            _device(
                f"part-{number}",
                consumesCounters=[
                    {"counterSet": "card", "counters": {"memory": {"value": "20Gi"}}}
                ],
            )
            for number in range(3)
        ),
        slices=2,
    ),
)
TAINTED = _slice(_device("a", taints=[{"key": "worn", "value": "x", "effect": "NoSchedule"}]))


@pytest.mark.parametrize(
    ("objects", "feasible"),
    [
        pytest.param((_slice(*PAIR), _claim(_exactly(count=2))), BOTH, id="as many as there are"),
        pytest.param((_slice(*PAIR), _claim(_exactly(count=3))), (), id="more than there are"),
        pytest.param(
            (_slice(*PAIR, nodeName="n2"), _claim(_exactly())), ("n2",), id="a node's own devices"
        ),
        pytest.param(
            (_slice(*PAIR), _given("other", "a"), _claim(_exactly(count=2))),
            (),
            id="another claim holds one",
        ),
        pytest.param(
            (_slice(*PAIR), _given("other", "a", adminAccess=True), _claim(_exactly(count=2))),
            BOTH,
            id="looking at a device does not hold it",
        ),
        pytest.param(
            (_slice(*PAIR), _given("other", "a"), _claim(_exactly(count=2, adminAccess=True))),
            BOTH,
            id="admin access to what others hold",
        ),
        pytest.param(
            (_slice(*PAIR), _claim(_exactly(allocationMode="All"), _exactly("q"))),
            (),
            id="all leaves nothing",
        ),
        pytest.param(
            (_slice(*PAIR, slices=2), _claim(_exactly())), (), id="a pool with a slice missing"
        ),
        pytest.param(
            (
                _slice(*PAIR, name="old"),
                _slice(_device("c"), name="new", generation=2),
                _claim(_exactly(count=2)),
            ),
            (),
            id="only the newest generation counts",
        ),
        pytest.param(
            (_slice(_device("a"), _device("a")), _claim(_exactly())), (), id="a name twice"
        ),
        pytest.param(
            (
                _slice(*PAIR),
                _claim(_exactly(count=2), constraints=[{"matchAttribute": f"{DRIVER}/numa"}]),
            ),
            (),
            id="no two that match",
        ),
        pytest.param(
            (
                _slice(*PAIR),
                _claim(_exactly(count=2), constraints=[{"matchAttribute": f"{DRIVER}/kind"}]),
            ),
            BOTH,
            id="two that match",
        ),
        pytest.param(
            (
                _slice(*PAIR, _device("c", attributes={"numa": {"int": 0}})),
                _claim(_exactly(count=3), constraints=[{"distinctAttribute": f"{DRIVER}/numa"}]),
            ),
            (),
            id="three that differ are not there",
        ),
        pytest.param(
            (
                _slice(*PAIR),
                _claim(
                    {
                        "name": "r",
                        "firstAvailable": [
                            {"name": "many", "deviceClassName": "gpu", "count": 3},
                            {"name": "few", "deviceClassName": "gpu", "count": 1},
                        ],
                    }
                ),
            ),
            BOTH,
            id="the second choice is there",
        ),
        pytest.param(
            (*COUNTED, _claim(_exactly(count=2))), BOTH, id="parts of a card as long as it lasts"
        ),
        pytest.param((*COUNTED, _claim(_exactly(count=3))), (), id="parts of a card used up"),
        pytest.param(
            (*COUNTED, _given("other", "part-0"), _claim(_exactly(count=2))),
            (),
            id="another claim took counters",
        ),
        pytest.param(
            (
                _slice(SHARED),
                _given("other", "s", shareID="1", consumedCapacity={"memory": "20Gi"}),
                _claim(_exactly(capacity={"requests": {"memory": "15Gi"}})),
            ),
            BOTH,
            id="a share rounded up fits",
        ),
        pytest.param(
            (
                _slice(SHARED),
                _given("other", "s", shareID="1", consumedCapacity={"memory": "20Gi"}),
                _claim(_exactly(capacity={"requests": {"memory": "21Gi"}})),
            ),
            (),
            id="a share rounded up no longer fits",
        ),
        pytest.param(
            (_slice(SHARED), _claim(_exactly(capacity={"requests": {"cores": "1"}}))),
            (),
            id="a capacity that the device lacks",
        ),
        pytest.param((TAINTED, _claim(_exactly())), (), id="a tainted device"),
        pytest.param(
            (TAINTED, _claim(_exactly(tolerations=[{"key": "worn", "operator": "Exists"}]))),
            BOTH,
            id="a taint that is tolerated",
        ),
        pytest.param(
            (
                _slice(
                    _device("a", nodeName="n1"),
                    _device("b", allNodes=True),
                    perDeviceNodeSelection=True,
                ),
                _claim(_exactly(count=2)),
            ),
            ("n1",),
            id="each device says where it is",
        ),
        pytest.param((_slice(*PAIR), _claim(_exactly(count=33))), (), id="too many for a claim"),
    ],
)
def test_devices_are_where_they_can_be_given(
    objects: tuple[Obj, ...], feasible: tuple[str, ...]
) -> None:
    assert _feasible(*objects) == feasible


@pytest.mark.parametrize(
    ("expression", "feasible"),
    [
        pytest.param(f'device.attributes["{DRIVER}"].numa == 1', BOTH, id="an attribute"),
        pytest.param('device.driver == "other.example.com"', (), id="no device matches"),
        pytest.param(f'device.attributes["{DRIVER}"].missing == 1', (), id="it has no value"),
        pytest.param("device.attributes[", (), id="no CEL"),
    ],
)
def test_selectors_are_cel(expression: str, feasible: tuple[str, ...]) -> None:
    selectors = [{"cel": {"expression": expression}}]

    assert _feasible(_slice(*PAIR), _claim(_exactly(selectors=selectors))) == feasible


def _wanting(*requests: Obj, **metadata: Any) -> Obj:
    claim = _claim(*requests)
    return {**claim, "metadata": {**claim["metadata"], **metadata}}


TEMPLATE = {"name": "r", "resourceClaimTemplateName": "t"}
UNMADE = {**pod("asking", requests={}, resourceClaims=[TEMPLATE])}
MADE = {**UNMADE, "status": {"resourceClaimStatuses": [{"name": "r", "resourceClaimName": "mine"}]}}
NOT_NEEDED = {**UNMADE, "status": {"resourceClaimStatuses": [{"name": "r"}]}}


@pytest.mark.parametrize(
    ("objects", "asking", "reason"),
    [
        pytest.param((), _asking(), 'could not find ResourceClaim "default/mine"', id="no claim"),
        pytest.param(
            (_wanting(_exactly(), deletionTimestamp="2026-01-01T00:00:00Z"),),
            _asking(),
            'resourceclaim "mine" is being deleted',
            id="the claim goes",
        ),
        pytest.param(
            (_claim(_exactly(deviceClassName="odd")),),
            _asking(),
            "request r: device class odd does not exist",
            id="no class",
        ),
        pytest.param(
            (), UNMADE, 'pod "default/asking": ResourceClaim not created yet', id="yet to be made"
        ),
        pytest.param(
            (_claim(_exactly()),),
            MADE,
            "ResourceClaim default/mine was not created for Pod default/asking (Pod is not owner)",
            id="made for another pod",
        ),
    ],
)
def test_a_claim_that_cannot_be_used_refuses_the_pod(
    objects: tuple[Obj, ...], asking: Obj, reason: str
) -> None:
    refused = judge(_cluster(*objects), asking).pod_refused

    assert refused is not None
    assert (refused.plugin, refused.reasons) == ("DynamicResources", (reason,))


@pytest.mark.parametrize(
    ("devices", "reason"),
    [
        pytest.param([_device("a")], "resourceclaim not available on the node", id="out of reach"),
        pytest.param([], "cannot allocate all claims", id="what lacks comes first"),
        pytest.param(
            [_device("a"), _device("a")], "invalid resource pools were encountered", id="twice"
        ),
    ],
)
def test_a_node_says_what_is_the_matter_with_its_devices(devices: list[Obj], reason: str) -> None:
    elsewhere = {"nodeSelector": {"nodeSelectorTerms": [{"matchFields": [_in_fields("n3")]}]}}
    given = {**_claim(_exactly(), name="given"), "status": {"allocation": elsewhere}}

    found = judge(_cluster(_slice(*devices), given, _claim(_exactly())), _asking("given", "mine"))

    assert found.reasons == {reason: 2}


def _in_fields(name: str) -> Obj:
    return {"key": "metadata.name", "operator": "In", "values": [name]}


def test_a_reference_that_needs_no_claim_asks_for_nothing() -> None:
    assert _feasible(asking=NOT_NEEDED) == BOTH


def test_a_shared_claim_keeps_its_pods_where_its_device_is() -> None:
    cluster = _cluster(_slice(_device("a"), nodeName="n2"), _claim(_exactly()))
    cluster.put("Pod", _asking(name="first"))
    cluster.put("Pod", _asking(name="second"))

    assert check(cluster, (), [("default/first", "n2"), ("default/second", "n2")]) == []
    (wrong,) = check(cluster, (), [("default/first", "n2"), ("default/second", "n1")])
    assert (wrong.pod, wrong.rule) == ("default/second", "DynamicResources")


def test_pods_of_one_plan_do_not_get_the_same_device() -> None:
    claims = (_claim(_exactly(), name="one"), _claim(_exactly(), name="two"))
    cluster = _cluster(_slice(_device("a")), *claims)
    for name in ("one", "two"):
        cluster.put("Pod", _asking(name, name=name))

    (wrong,) = check(cluster, (), [("default/one", "n1"), ("default/two", "n1")])

    assert (wrong.pod, wrong.message) == ("default/two", "cannot allocate all claims")


def test_a_search_without_end_is_given_up() -> None:
    devices = [_device(f"d{number}", attributes={"n": {"int": number}}) for number in range(24)]
    distinct = [{"matchAttribute": f"{DRIVER}/n", "requests": ["last"]}]
    requests = [_exactly("many", count=10), _exactly("last", count=2)]
    cluster = _cluster(_slice(*devices, nodeName="n1"), _claim(*requests, constraints=distinct))

    assert judge(cluster, _asking()).rejected["n1"].reasons == (
        "timed out trying to allocate devices",
    )


def test_a_full_claim_takes_no_more_pods() -> None:
    taken = _given("mine", "a")
    taken["status"]["reservedFor"] = [{"resource": "pods", "name": str(n)} for n in range(256)]

    assert _feasible(_slice(*PAIR), taken) == ()


def test_a_device_that_failed_to_bind_is_not_available() -> None:
    taken = _given("mine", "a", bindingConditions=["up"], bindingFailureConditions=["broken"])
    condition = {"type": "broken", "status": "True"}
    status = {"driver": DRIVER, "pool": "pool", "device": "a", "conditions": [condition]}
    taken["status"]["devices"] = [status]

    assert _feasible(_slice(*PAIR), taken) == ()


def test_binding_writes_the_allocation_and_the_consumer() -> None:
    cluster = _cluster(
        _slice(SHARED, nodeName="n1"),
        _claim(_exactly(capacity={"requests": {"memory": "15Gi"}})),
    )

    ((kind, claim),) = bind_devices(cluster, _asking(), "n1")

    assert kind == "ResourceClaim"
    assert claim["status"] == {
        "allocation": {
            "devices": {
                "results": [
                    {
                        "request": "r",
                        "driver": DRIVER,
                        "pool": "pool",
                        "device": "s",
                        "shareID": "mine-0",
                        "consumedCapacity": {"memory": str(20 * 2**30)},
                    }
                ]
            },
            "nodeSelector": {
                "nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
                ]
            },
        },
        "reservedFor": [{"resource": "pods", "name": "asking", "uid": "asking"}],
    }


RESOURCE = "gpu.example.com/card"
NAMING = {"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": RESOURCE}}


def _container(amount: int, resource: str = RESOURCE, **fields: Any) -> Obj:
    return {"name": f"c{amount}", "resources": {"requests": {resource: amount}}, **fields}


def _of_plugin(cards: int) -> Obj:
    return node("n1", allocatable={"pods": "10", RESOURCE: cards})


@pytest.mark.parametrize(
    ("spec", "feasible"),
    [
        pytest.param({"containers": [_container(2)]}, BOTH, id="as many as there are"),
        pytest.param({"containers": [_container(3)]}, (), id="more than there are"),
        pytest.param(
            {"containers": [_container(1), _container(2)]}, (), id="containers run at a time"
        ),
        pytest.param(
            {"containers": [_container(1)], "initContainers": [_container(2)]},
            BOTH,
            id="init containers run before",
        ),
        pytest.param(
            {"containers": [_container(1)], "initContainers": [_container(3)]},
            (),
            id="an init container wants more",
        ),
        pytest.param(
            {
                "containers": [_container(1)],
                "initContainers": [_container(2, restartPolicy="Always")],
            },
            (),
            id="sidecars stay",
        ),
        pytest.param(
            {"containers": [_container(2, "deviceclass.resource.kubernetes.io/gpu")]},
            BOTH,
            id="a class by its name",
        ),
        pytest.param(
            {"containers": [_container(1, "deviceclass.resource.kubernetes.io/odd")]},
            (),
            id="no such class",
        ),
    ],
)
def test_a_resource_may_stand_for_devices(spec: Obj, feasible: tuple[str, ...]) -> None:
    cluster = _cluster(_slice(*PAIR))
    cluster.put("DeviceClass", NAMING)
    asking = pod("asking")

    assert judge(cluster, {**asking, "spec": spec}).feasible == feasible


@pytest.mark.parametrize(
    ("cards", "feasible"),
    [pytest.param(3, BOTH, id="enough"), pytest.param(1, ("n2",), id="too few")],
)
def test_what_a_device_plugin_offers_comes_first(cards: int, feasible: tuple[str, ...]) -> None:
    cluster = _cluster(_slice(*PAIR))
    cluster.put("DeviceClass", NAMING)
    cluster.put("Node", _of_plugin(cards))

    assert (
        judge(cluster, {**pod("a"), "spec": {"containers": [_container(2)]}}).feasible == feasible
    )


def test_binding_makes_the_claim_of_such_a_resource() -> None:
    cluster = _cluster(_slice(*PAIR))
    cluster.put("DeviceClass", NAMING)
    for name in ("a", "b"):
        cluster.put("Pod", {**pod(name), "spec": {"containers": [_container(1)]}})

    assert check(cluster, (), [("default/a", "n1"), ("default/b", "n2")]) == []
    cluster.put("Pod", {**pod("c"), "spec": {"containers": [_container(1)]}})
    placements = [("default/a", "n1"), ("default/b", "n2"), ("default/c", "n1")]
    (wrong,) = check(cluster, (), placements)
    assert (wrong.pod, wrong.rule) == ("default/c", "DynamicResources")


def test_of_two_classes_for_a_resource_the_newer_one_counts() -> None:
    nothing = {"selectors": [{"cel": {"expression": "false"}}], "extendedResourceName": RESOURCE}
    metadata = {"name": "new", "creationTimestamp": "2026-01-01T00:00:00Z"}
    cluster = _cluster(_slice(*PAIR))
    cluster.put("DeviceClass", NAMING)
    cluster.put("DeviceClass", {"metadata": metadata, "spec": nothing})

    assert judge(cluster, {**pod("a"), "spec": {"containers": [_container(1)]}}).feasible == ()
