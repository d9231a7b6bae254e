from typing import Any

import pytest

from libs.domain.device import DeviceVersion
from libs.domain.errors import InvalidRequest
from libs.kube.convert.device import device_claim, device_pool
from libs.kube.objects.decoding import from_document
from libs.kube.objects.device import AllocationResult, ResourceClaimSpec, ResourceSlice

CEL = [{"cel": {"expression": "device.driver == 'd'"}}]


def _claim(*requests: dict[str, Any]) -> ResourceClaimSpec:
    return from_document({"devices": {"requests": list(requests)}}, ResourceClaimSpec)


@pytest.mark.parametrize(
    ("request_", "classes", "counts"),
    [
        pytest.param(
            {"name": "r", "exactly": {"deviceClassName": "c", "count": 2}}, ["c"], [2], id="exactly"
        ),
        pytest.param(
            {
                "name": "r",
                "firstAvailable": [
                    {"name": "a", "deviceClassName": "c"},
                    {"name": "b", "deviceClassName": "d"},
                ],
            },
            ["c", "d"],
            [1, 1],
            id="first available",
        ),
        pytest.param({"name": "r", "deviceClassName": "c"}, ["c"], [1], id="version v1beta1"),
    ],
)
def test_alternatives_of_a_request(
    request_: dict[str, Any], classes: list[str], counts: list[int]
) -> None:
    (found,) = device_claim(_claim(request_)).requests

    assert [one.device_class for one in found.alternatives] == classes
    assert [one.count for one in found.alternatives] == counts


def test_all_mode_and_selectors_are_kept() -> None:
    exactly = {"deviceClassName": "c", "allocationMode": "All", "selectors": CEL}

    (found,) = device_claim(_claim({"name": "r", "exactly": exactly})).requests

    assert found.alternatives[0].all
    assert found.alternatives[0].selectors == ("device.driver == 'd'",)


def test_an_allocated_claim_says_where_it_can_be_used() -> None:
    expression = {"key": "zone", "operator": "In", "values": ["a"]}
    selector = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}

    somewhere = from_document({"nodeSelector": selector}, AllocationResult)

    assert [str(one) for one in device_claim(_claim(), allocation=somewhere).allocated_terms] == [
        "zone In [a]"
    ]
    assert len(device_claim(_claim(), allocation=AllocationResult()).allocated_terms) == 1
    assert device_claim(_claim()).allocated_terms == ()


def test_a_request_without_a_class_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="no device class"):
        device_claim(_claim({"name": "r", "exactly": {}}))


def _slice(name: str, generation: int, count: int, *devices: dict[str, Any]) -> ResourceSlice:
    pool = {"name": "p", "generation": generation, "resourceSliceCount": count}
    spec = {"driver": "d", "pool": pool, "nodeName": "n", "devices": list(devices)}
    return from_document({"metadata": {"name": name}, "spec": spec}, ResourceSlice)


def test_only_the_newest_generation_of_a_pool_counts() -> None:
    old = _slice("a", 1, 1, {"name": "old"})
    new = _slice("b", 2, 2, {"name": "new"})

    found = device_pool("d", "p", [old, new])

    assert [one.name for one in found.devices] == ["new"]
    assert (found.complete, found.node_name) == (False, "n")


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

    first, second = device_pool("d", "p", [_slice("a", 1, 1, plain, nested)]).devices

    assert [one.value for one in first.attributes] == [True, 3, "x", DeviceVersion(text="1.2.0")]
    assert (first.attributes, first.capacity) == (second.attributes, second.capacity)
    assert first.capacity[0].amount == 2**30
