import pytest

from libs.domain.allocatable import allocatable, full_capacity
from libs.domain.resources import CPU, NOTHING, Resources
from tests.support.builders import a_type, amounts, an_offering


@pytest.mark.parametrize(
    ("capacity", "overhead", "left"),
    [
        pytest.param(amounts(cpu=4, pods=10), NOTHING, amounts(cpu=4, pods=10), id="no overhead"),
        pytest.param(amounts(cpu=4), amounts(cpu="100m"), amounts(cpu="3900m"), id="overhead"),
        pytest.param(amounts(cpu=1), amounts(cpu=2), amounts(cpu=0), id="never below zero"),
        pytest.param(amounts(cpu=4), amounts(memory="1Gi"), amounts(cpu=4), id="unknown overhead"),
        pytest.param(
            amounts(memory="16Gi", hugepages_2Mi="4Gi", hugepages_1Gi="8Gi"),
            amounts(memory="1Gi"),
            amounts(memory="3Gi", hugepages_2Mi="4Gi", hugepages_1Gi="8Gi"),
            id="huge pages of all sizes are memory",
        ),
        pytest.param(
            amounts(memory="4Gi", hugepages_2Mi="8Gi"),
            NOTHING,
            amounts(memory=0, hugepages_2Mi="8Gi"),
            id="more huge pages than memory",
        ),
    ],
)
def test_pods_get_what_system_and_huge_pages_leave(
    capacity: Resources, overhead: Resources, left: Resources
) -> None:
    assert allocatable(a_type(capacity=capacity, overhead=overhead), an_offering()) == left


def test_an_offering_overrides_the_amounts_that_it_names() -> None:
    kind = a_type(capacity=amounts(cpu=4, memory="16Gi"), overhead=amounts(cpu=1, memory="1Gi"))
    offering = an_offering(
        capacity_override=amounts(cpu=8, gpu=1), overhead_override=amounts(memory="2Gi")
    )

    assert full_capacity(kind, offering) == amounts(cpu=8, memory="16Gi", gpu=1)
    assert allocatable(kind, offering) == amounts(cpu=7, memory="14Gi", gpu=1)


def test_a_node_that_lost_devices_does_not_speak_for_its_type() -> None:
    kind = a_type(capacity=Resources({CPU: 4000, "example.com/gpu": 8, "example.com/nic": 1}))
    seen = Resources({CPU: 3000, "example.com/gpu": 7, "example.com/nic": 2})

    assert allocatable(kind, an_offering(), seen) == Resources(
        {CPU: 3000, "example.com/gpu": 8, "example.com/nic": 2}
    )
