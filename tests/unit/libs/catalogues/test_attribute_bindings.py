from typing import Any

import pytest

from libs.catalogues.attribute_bindings import bound
from libs.catalogues.devices import device_pools
from libs.domain.device import CommonValue, DevicePool
from libs.domain.errors import InvalidRequest

ROOT = "example.com/root"
GPUS = {
    "driver": "gpu.example.com",
    "pool": {"name": "gpus"},
    "devices": [
        {"name": "gpu-0"},
        {"name": "gpu-1"},
        {"name": "gpu-2"},
        {"name": "gpu-3", "attributes": {ROOT: {"string": "known"}}},
    ],
}
POOLS = device_pools([GPUS])


def binding(*names: str, attribute: str = ROOT) -> dict[str, Any]:
    devices = [{"driver": "gpu.example.com", "pool": "gpus", "device": name} for name in names]
    return {"attribute": attribute, "devices": devices}


def values(pools: tuple[DevicePool, ...]) -> dict[str, list[object]]:
    return {one.name: [a.value for a in one.attributes] for pool in pools for one in pool.devices}


def test_bound_devices_have_a_value_in_common_and_others_none() -> None:
    found = values(bound(POOLS, [binding("gpu-0", "gpu-1")]))

    common = [CommonValue(group=f"{ROOT}#0")]
    assert found == {"gpu-0": common, "gpu-1": common, "gpu-2": [], "gpu-3": ["known"]}


def test_bindings_that_share_a_device_are_one() -> None:
    found = values(bound(POOLS, [binding("gpu-0", "gpu-1"), binding("gpu-1", "gpu-2")]))

    assert found["gpu-0"] == found["gpu-1"] == found["gpu-2"] != []


def test_bindings_of_two_attributes_are_apart() -> None:
    other = binding("gpu-1", "gpu-2", attribute="example.com/numa")

    found = values(bound(POOLS, [binding("gpu-0", "gpu-1"), other]))

    assert [len(found[f"gpu-{one}"]) for one in range(3)] == [1, 2, 1]


def test_a_value_that_a_slice_states_stays() -> None:
    found = values(bound(POOLS, [binding("gpu-0", "gpu-3")]))

    assert found["gpu-3"] == ["known"]
    assert found["gpu-0"] == [CommonValue(group=f"{ROOT}#0")]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        pytest.param({}, "attributeBindings: a list", id="no list"),
        pytest.param([1], r"attributeBindings\[0\]: an object", id="no object"),
        pytest.param([binding("gpu-0")], "two devices", id="one device"),
        pytest.param([binding("gpu-0", "gpu-0")], "two devices", id="the same one twice"),
        pytest.param([binding("gpu-0", "gpu-9")], "gpu-9", id="unknown device"),
        pytest.param([binding("gpu-0", "gpu-1", attribute="root")], "domain", id="no domain"),
        pytest.param([{"attribute": ROOT, "devices": 1}], "a list of driver", id="no devices"),
    ],
)
def test_what_is_no_binding_is_refused(entries: object, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        bound(POOLS, entries)
