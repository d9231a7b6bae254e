import json
from typing import Any

import pytest

from libs.catalogues.devices import device_pools
from libs.catalogues.file import parse
from libs.domain.errors import InvalidRequest

GPUS: dict[str, Any] = {
    "driver": "gpu.example.com",
    "pool": {"name": "gpus"},
    "devices": [{"name": "gpu-0", "attributes": {"numa": {"int": 1}}, "capacity": {}}],
}
COUNTERS: dict[str, Any] = {
    "driver": "gpu.example.com",
    "pool": {"name": "gpus"},
    "sharedCounters": [{"name": "gpu", "counters": {"slices": {"value": "7"}}}],
}


def test_slices_of_one_pool_make_it_up() -> None:
    (found,) = device_pools([COUNTERS, GPUS])

    assert (found.key, found.complete, found.problem) == ("gpu.example.com/gpus", True, "")
    assert [one.name for one in found.devices] == ["gpu-0"]
    assert (found.node_name, found.node_terms) == ("", ())
    assert found.counters[0].amounts.get("slices") == 7000


def test_pools_come_by_driver_and_name() -> None:
    other = {**GPUS, "driver": "a.example.com"}

    assert [one.driver for one in device_pools([GPUS, other])] == [
        "a.example.com",
        "gpu.example.com",
    ]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        pytest.param({}, "a list of specs", id="no list"),
        pytest.param([1], "names no pool", id="no spec"),
        pytest.param([{"driver": "d"}], "names no pool", id="no pool"),
        pytest.param([{**GPUS, "devices": [{}]}], "has no name", id="nameless device"),
        pytest.param(
            [{**GPUS, "devices": [{"name": "x", "consumesCounters": [{"counterSet": "no"}]}]}],
            "there is none",
            id="unsound",
        ),
    ],
)
def test_what_is_no_slice_is_refused(entries: object, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        device_pools(entries)


def test_a_catalogue_file_says_which_devices_a_type_brings() -> None:
    requirements = [
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]},
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
    ]
    kind = {
        "name": "gpus",
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {"cpu": "4", "memory": "8Gi"},
        "offerings": [{"Price": 1.5, "Requirements": requirements}],
        "resourceSlices": [GPUS],
    }

    (found,) = parse(json.dumps([kind]).encode())

    assert found.device_pools == device_pools([GPUS])
    assert found.device_pools[0].devices[0].attributes[0].value == 1
