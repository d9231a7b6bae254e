"""Devices, rule by rule: a small cluster, a claim, and whether the node will do."""

from typing import Any

import pytest

from libs.oracle.check import check
from libs.oracle.devices.binding import bind_devices
from libs.oracle.verdict import judge
from tests.unit.libs.oracle.device_objects import (
    DRIVER,
    a_claim,
    a_cluster,
    a_device,
    a_held_claim,
    a_slice,
    asking_for,
    exactly,
)
from tests.unit.libs.oracle.kube import Obj, pod


def _feasible(*objects: Obj, asking: Obj | None = None) -> tuple[str, ...]:
    return judge(a_cluster(*objects), asking or asking_for()).feasible


BOTH = ("n1", "n2")

PAIR = (
    a_device("a", attributes={"numa": {"int": 0}, "kind": {"string": "x"}}),
    a_device("b", attributes={"numa": {"int": 1}, "kind": {"string": "x"}}),
)

SHARED = a_device(
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
    a_slice(
        name="counters",
        slices=2,
        sharedCounters=[{"name": "card", "counters": {"memory": {"value": "40Gi"}}}],
    ),
    a_slice(
        *(
            a_device(
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

TAINTED = a_slice(a_device("a", taints=[{"key": "worn", "value": "x", "effect": "NoSchedule"}]))


@pytest.mark.parametrize(
    ("objects", "feasible"),
    [
        pytest.param((a_slice(*PAIR), a_claim(exactly(count=2))), BOTH, id="as many as there are"),
        pytest.param((a_slice(*PAIR), a_claim(exactly(count=3))), (), id="more than there are"),
        pytest.param(
            (a_slice(*PAIR, nodeName="n2"), a_claim(exactly())), ("n2",), id="a node's own devices"
        ),
        pytest.param(
            (a_slice(*PAIR), a_held_claim("other", "a"), a_claim(exactly(count=2))),
            (),
            id="another claim holds one",
        ),
        pytest.param(
            (
                a_slice(*PAIR),
                a_held_claim("other", "a", adminAccess=True),
                a_claim(exactly(count=2)),
            ),
            BOTH,
            id="looking at a device does not hold it",
        ),
        pytest.param(
            (
                a_slice(*PAIR),
                a_held_claim("other", "a"),
                a_claim(exactly(count=2, adminAccess=True)),
            ),
            BOTH,
            id="admin access to what others hold",
        ),
        pytest.param(
            (a_slice(*PAIR), a_claim(exactly(allocationMode="All"), exactly("q"))),
            (),
            id="all leaves nothing",
        ),
        pytest.param(
            (a_slice(*PAIR, slices=2), a_claim(exactly())), (), id="a pool with a slice missing"
        ),
        pytest.param(
            (
                a_slice(*PAIR, name="old"),
                a_slice(a_device("c"), name="new", generation=2),
                a_claim(exactly(count=2)),
            ),
            (),
            id="only the newest generation counts",
        ),
        pytest.param(
            (a_slice(a_device("a"), a_device("a")), a_claim(exactly())), (), id="a name twice"
        ),
        pytest.param(
            (
                a_slice(*PAIR),
                a_claim(exactly(count=2), constraints=[{"matchAttribute": f"{DRIVER}/numa"}]),
            ),
            (),
            id="no two that match",
        ),
        pytest.param(
            (
                a_slice(*PAIR),
                a_claim(exactly(count=2), constraints=[{"matchAttribute": f"{DRIVER}/kind"}]),
            ),
            BOTH,
            id="two that match",
        ),
        pytest.param(
            (
                a_slice(*PAIR, a_device("c", attributes={"numa": {"int": 0}})),
                a_claim(exactly(count=3), constraints=[{"distinctAttribute": f"{DRIVER}/numa"}]),
            ),
            (),
            id="three that differ are not there",
        ),
        pytest.param(
            (
                a_slice(*PAIR),
                a_claim(
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
            (*COUNTED, a_claim(exactly(count=2))), BOTH, id="parts of a card as long as it lasts"
        ),
        pytest.param((*COUNTED, a_claim(exactly(count=3))), (), id="parts of a card used up"),
        pytest.param(
            (*COUNTED, a_held_claim("other", "part-0"), a_claim(exactly(count=2))),
            (),
            id="another claim took counters",
        ),
        pytest.param(
            (
                a_slice(SHARED),
                a_held_claim("other", "s", shareID="1", consumedCapacity={"memory": "20Gi"}),
                a_claim(exactly(capacity={"requests": {"memory": "15Gi"}})),
            ),
            BOTH,
            id="a share rounded up fits",
        ),
        pytest.param(
            (
                a_slice(SHARED),
                a_held_claim("other", "s", shareID="1", consumedCapacity={"memory": "20Gi"}),
                a_claim(exactly(capacity={"requests": {"memory": "21Gi"}})),
            ),
            (),
            id="a share rounded up no longer fits",
        ),
        pytest.param(
            (a_slice(SHARED), a_claim(exactly(capacity={"requests": {"cores": "1"}}))),
            (),
            id="a capacity that the device lacks",
        ),
        pytest.param((TAINTED, a_claim(exactly())), (), id="a tainted device"),
        pytest.param(
            (TAINTED, a_claim(exactly(tolerations=[{"key": "worn", "operator": "Exists"}]))),
            BOTH,
            id="a taint that is tolerated",
        ),
        pytest.param(
            (
                a_slice(
                    a_device("a", nodeName="n1"),
                    a_device("b", allNodes=True),
                    perDeviceNodeSelection=True,
                ),
                a_claim(exactly(count=2)),
            ),
            ("n1",),
            id="each device says where it is",
        ),
        pytest.param((a_slice(*PAIR), a_claim(exactly(count=33))), (), id="too many for a claim"),
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

    assert _feasible(a_slice(*PAIR), a_claim(exactly(selectors=selectors))) == feasible


def _wanting(*requests: Obj, **metadata: Any) -> Obj:
    claim = a_claim(*requests)
    return {**claim, "metadata": {**claim["metadata"], **metadata}}


TEMPLATE = {"name": "r", "resourceClaimTemplateName": "t"}

UNMADE = {**pod("asking", requests={}, resourceClaims=[TEMPLATE])}

MADE = {**UNMADE, "status": {"resourceClaimStatuses": [{"name": "r", "resourceClaimName": "mine"}]}}

NOT_NEEDED = {**UNMADE, "status": {"resourceClaimStatuses": [{"name": "r"}]}}


@pytest.mark.parametrize(
    ("objects", "asking", "reason"),
    [
        pytest.param(
            (), asking_for(), 'could not find ResourceClaim "default/mine"', id="no claim"
        ),
        pytest.param(
            (_wanting(exactly(), deletionTimestamp="2026-01-01T00:00:00Z"),),
            asking_for(),
            'resourceclaim "mine" is being deleted',
            id="the claim goes",
        ),
        pytest.param(
            (a_claim(exactly(deviceClassName="odd")),),
            asking_for(),
            "request r: device class odd does not exist",
            id="no class",
        ),
        pytest.param(
            (), UNMADE, 'pod "default/asking": ResourceClaim not created yet', id="yet to be made"
        ),
        pytest.param(
            (a_claim(exactly()),),
            MADE,
            "ResourceClaim default/mine was not created for Pod default/asking (Pod is not owner)",
            id="made for another pod",
        ),
    ],
)
def test_a_claim_that_cannot_be_used_refuses_the_pod(
    objects: tuple[Obj, ...], asking: Obj, reason: str
) -> None:
    refused = judge(a_cluster(*objects), asking).pod_refused

    assert refused is not None
    assert (refused.plugin, refused.reasons) == ("DynamicResources", (reason,))


@pytest.mark.parametrize(
    ("devices", "reason"),
    [
        pytest.param([a_device("a")], "resourceclaim not available on the node", id="out of reach"),
        pytest.param([], "cannot allocate all claims", id="what lacks comes first"),
        pytest.param(
            [a_device("a"), a_device("a")], "invalid resource pools were encountered", id="twice"
        ),
    ],
)
def test_a_node_says_what_is_the_matter_with_its_devices(devices: list[Obj], reason: str) -> None:
    elsewhere = {"nodeSelector": {"nodeSelectorTerms": [{"matchFields": [_in_fields("n3")]}]}}
    given = {**a_claim(exactly(), name="given"), "status": {"allocation": elsewhere}}

    found = judge(
        a_cluster(a_slice(*devices), given, a_claim(exactly())), asking_for("given", "mine")
    )

    assert found.reasons == {reason: 2}


def _in_fields(name: str) -> Obj:
    return {"key": "metadata.name", "operator": "In", "values": [name]}


def test_a_reference_that_needs_no_claim_asks_for_nothing() -> None:
    assert _feasible(asking=NOT_NEEDED) == BOTH


def test_a_shared_claim_keeps_its_pods_where_its_device_is() -> None:
    cluster = a_cluster(a_slice(a_device("a"), nodeName="n2"), a_claim(exactly()))
    cluster.put("Pod", asking_for(name="first"))
    cluster.put("Pod", asking_for(name="second"))

    assert check(cluster, (), [("default/first", "n2"), ("default/second", "n2")]) == []
    (wrong,) = check(cluster, (), [("default/first", "n2"), ("default/second", "n1")])
    assert (wrong.pod, wrong.rule) == ("default/second", "DynamicResources")


def test_pods_of_one_plan_do_not_get_the_same_device() -> None:
    claims = (a_claim(exactly(), name="one"), a_claim(exactly(), name="two"))
    cluster = a_cluster(a_slice(a_device("a")), *claims)
    for name in ("one", "two"):
        cluster.put("Pod", asking_for(name, name=name))

    (wrong,) = check(cluster, (), [("default/one", "n1"), ("default/two", "n1")])

    assert (wrong.pod, wrong.message) == ("default/two", "cannot allocate all claims")


def test_a_search_without_end_is_given_up() -> None:
    devices = [a_device(f"d{number}", attributes={"n": {"int": number}}) for number in range(24)]
    distinct = [{"matchAttribute": f"{DRIVER}/n", "requests": ["last"]}]
    requests = [exactly("many", count=10), exactly("last", count=2)]
    cluster = a_cluster(a_slice(*devices, nodeName="n1"), a_claim(*requests, constraints=distinct))

    assert judge(cluster, asking_for()).rejected["n1"].reasons == (
        "timed out trying to allocate devices",
    )


def test_a_full_claim_takes_no_more_pods() -> None:
    taken = a_held_claim("mine", "a")
    taken["status"]["reservedFor"] = [{"resource": "pods", "name": str(n)} for n in range(256)]

    assert _feasible(a_slice(*PAIR), taken) == ()


def test_a_device_that_failed_to_bind_is_not_available() -> None:
    taken = a_held_claim("mine", "a", bindingConditions=["up"], bindingFailureConditions=["broken"])
    condition = {"type": "broken", "status": "True"}
    status = {"driver": DRIVER, "pool": "pool", "device": "a", "conditions": [condition]}
    taken["status"]["devices"] = [status]

    assert _feasible(a_slice(*PAIR), taken) == ()


def test_binding_writes_the_allocation_and_the_consumer() -> None:
    cluster = a_cluster(
        a_slice(SHARED, nodeName="n1"),
        a_claim(exactly(capacity={"requests": {"memory": "15Gi"}})),
    )

    ((kind, claim),) = bind_devices(cluster, asking_for(), "n1")

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
