from typing import Any

import pytest

from libs.domain.device import CapacityPolicy, DeviceHold, DeviceVersion
from libs.domain.errors import InvalidRequest
from libs.domain.taint import Effect, Taint
from libs.kube.convert.device_pool import device_holds, device_pool
from libs.kube.objects.decoding import from_document
from libs.kube.objects.device import ResourceClaim, ResourceSlice

ZONE = {
    "nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    ]
}
COUNTERS = [{"name": "set", "counters": {"slots": {"value": "7"}}}]


def _slice(name: str, *devices: dict[str, Any], **spec: Any) -> ResourceSlice:
    pool = {
        "name": "p",
        "generation": spec.pop("generation", 1),
        "resourceSliceCount": spec.pop("count", 1),
    }
    where = spec or {"nodeName": "n"}
    document = {"driver": "d", "pool": pool, "devices": list(devices), **where}
    return from_document({"metadata": {"name": name}, "spec": document}, ResourceSlice)


def _uses(counter_set: str, counter: str = "slots") -> dict[str, Any]:
    uses = [{"counterSet": counter_set, "counters": {counter: {"value": "1"}}}]
    return {"name": "x", "consumesCounters": uses}


def test_only_the_newest_generation_of_a_pool_counts() -> None:
    old = _slice("a", {"name": "old"})
    new = _slice("b", {"name": "new"}, generation=2, count=2, nodeName="n")

    found = device_pool("d", "p", [old, new])

    assert [one.name for one in found.devices] == ["new"]
    assert (found.complete, found.node_name) == (False, "n")


def test_devices_keep_their_order_within_slices_and_slices_go_by_name() -> None:
    first = _slice("a", {"name": "gpu-2"}, {"name": "gpu-10"}, count=2, nodeName="n")
    second = _slice("b", {"name": "gpu-1"}, count=2, nodeName="n")

    for slices in ([first, second], [second, first]):
        found = device_pool("d", "p", slices)
        assert [one.name for one in found.devices] == ["gpu-2", "gpu-10", "gpu-1"]
        assert found.complete


def test_attributes_have_types_and_both_versions_are_read() -> None:
    attributes = {
        "v": {"version": "1.2.0"},
        "b": {"bool": True},
        "i": {"int": 3},
        "s": {"string": "x"},
    }
    capacity = {"memory": {"value": "1Gi"}}
    plain = {"name": "plain", "attributes": attributes, "capacity": capacity}
    nested = {"name": "nested", "basic": {"attributes": attributes, "capacity": capacity}}

    first, second = device_pool("d", "p", [_slice("a", plain, nested)]).devices

    assert [one.value for one in first.attributes] == [True, 3, "x", DeviceVersion(text="1.2.0")]
    assert (first.attributes, first.capacity) == (second.attributes, second.capacity)
    assert first.capacity[0].amount == 2**30 * 1000


def test_policies_of_shared_capacity_are_read() -> None:
    capacity = {
        "cores": {
            "value": "8",
            "requestPolicy": {
                "default": "1",
                "validRange": {"min": "500m", "max": "4", "step": "1"},
            },
        },
        "memory": {
            "value": "8",
            "requestPolicy": {"default": "1", "validValues": ["1", "2"]},
        },
    }
    given = {"name": "x", "allowMultipleAllocations": True, "capacity": capacity}

    (found,) = device_pool("d", "p", [_slice("a", given)]).devices

    assert found.shared
    assert [one.policy for one in found.capacity] == [
        CapacityPolicy(default=1000, least=500, most=4000, step=1000),
        CapacityPolicy(default=1000, valid_values=(1000, 2000)),
    ]


def test_taints_that_keep_nobody_away_are_dropped() -> None:
    taints = [
        {"key": "a", "effect": "NoSchedule", "value": "v"},
        {"key": "b", "effect": "None"},
    ]

    (found,) = device_pool("d", "p", [_slice("a", {"name": "x", "taints": taints})]).devices

    assert found.taints == (Taint(key="a", value="v", effect=Effect.NO_SCHEDULE),)


@pytest.mark.parametrize(
    ("where", "name", "terms"),
    [
        pytest.param({"nodeName": "n"}, "n", [], id="one node"),
        pytest.param({"allNodes": True}, "", [], id="everywhere"),
        pytest.param({"nodeSelector": ZONE}, "", ["zone In [a]"], id="by label"),
        pytest.param({"perDeviceNodeSelection": False}, "", ["metadata.name In []"], id="nowhere"),
    ],
)
def test_where_a_pool_is(where: dict[str, Any], name: str, terms: list[str]) -> None:
    found = device_pool("d", "p", [_slice("a", {"name": "x"}, **where)])

    assert (found.node_name, [str(one) for one in found.node_terms]) == (name, terms)
    assert found.devices[0].node_terms == ()


def test_devices_may_be_elsewhere_than_others_of_their_pool() -> None:
    mixed = _slice(
        "a",
        {"name": "here", "nodeName": "n"},
        {"name": "there", "nodeSelector": ZONE},
        {"name": "lost"},
        perDeviceNodeSelection=True,
    )

    found = device_pool("d", "p", [mixed])

    assert [str(one) for one in found.node_terms] == ["metadata.name In [n]", "zone In [a]"]
    assert [[str(term) for term in one.node_terms] for one in found.devices] == [
        ["metadata.name In [n]"],
        ["zone In [a]"],
        ["metadata.name In []"],
    ]


def test_a_pool_with_counters_is_looked_at_everywhere() -> None:
    counting = _slice("a", count=2, nodeName="n", sharedCounters=COUNTERS)
    devices = _slice("b", _uses("set"), count=2, nodeName="n")

    found = device_pool("d", "p", [counting, devices])

    assert (found.node_name, found.node_terms, found.problem) == ("", (), "")
    assert found.counters[0].amounts.get("slots") == 7000
    assert [str(one) for one in found.devices[0].node_terms] == ["metadata.name In [n]"]


@pytest.mark.parametrize(
    ("slices", "problem"),
    [
        pytest.param(
            [_slice("a", allNodes=True, sharedCounters=COUNTERS * 2)],
            "counter set 'set' is there twice",
            id="set twice",
        ),
        pytest.param([_slice("a", _uses("none"))], "set 'none': there is none", id="no set"),
        pytest.param(
            [
                _slice("a", allNodes=True, sharedCounters=COUNTERS),
                _slice("b", _uses("set", "other")),
            ],
            "counter 'set/other': there is none",
            id="no counter",
        ),
    ],
)
def test_an_unsound_pool_says_why(slices: list[ResourceSlice], problem: str) -> None:
    found = device_pool("d", "p", slices)

    assert problem in found.problem
    assert found.devices == ()


@pytest.mark.parametrize(
    "device",
    [
        pytest.param({"name": "x", "attributes": {"a": {}}}, id="attribute of no kind"),
        pytest.param({"name": "x", "attributes": {"": {"int": 1}}}, id="attribute without name"),
        pytest.param({}, id="device without name"),
        pytest.param({"name": "x", "capacity": {"m": {"value": "-1"}}}, id="negative"),
    ],
)
def test_what_is_not_understood_is_refused(device: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        device_pool("d", "p", [_slice("a", device)])


def _claim(result: dict[str, Any], *uids: str) -> ResourceClaim:
    found = {"driver": "d", "pool": "p", "device": "x", **result}
    status = {
        "allocation": {"devices": {"results": [found]}},
        "reservedFor": [{"resource": "pods", "name": uid, "uid": uid} for uid in uids],
    }
    metadata = {"name": "c", "namespace": "ns"}
    return from_document({"metadata": metadata, "status": status}, ResourceClaim)


def test_a_claim_holds_what_it_was_given() -> None:
    part = {"shareID": "s", "consumedCapacity": {"memory": "1"}}

    assert device_holds(_claim({}, "u")) == [
        (("d", "p"), DeviceHold(device="x", claim="ns/c", reserved_for=("u",)))
    ]
    ((_, shared),) = device_holds(_claim(part))
    assert (shared.shared, [one.amount for one in shared.consumed]) == (True, [1000])


def test_admin_access_holds_nothing() -> None:
    assert device_holds(_claim({"adminAccess": True})) == []


def test_what_is_reserved_for_nobody_is_held_whoever_goes() -> None:
    holds = [hold for _, hold in [*device_holds(_claim({})), *device_holds(_claim({}, "u"))]]

    found = device_pool("d", "p", [_slice("a", {"name": "x"})], holds)

    assert found.allocated == ("x",)
    assert [one.reserved_for for one in found.holds] == [("u",)]
