"""How much a search tries before it gives up."""

import pytest

from libs.domain.device import DeviceConstraint
from services.solver.core.devices.search import NotFound
from services.solver.core.devices.usage import Ledger
from tests.unit.services.solver.core.devices.pools import (
    DRIVER,
    a_claim,
    a_device,
    a_place,
    a_pool,
    a_request,
    find,
    names,
)

MATCH = DeviceConstraint(match_attribute=f"{DRIVER}/numa")


def test_devices_that_nobody_tells_apart_are_tried_once() -> None:
    devices = [a_device(f"d{index}", attributes={"uuid": str(index)}) for index in range(40)]
    claims = [a_claim(a_request(count=10)), a_claim(a_request(count=31))]

    assert names(find(a_place(a_pool(*devices)), *claims, most_steps=500)) is None


def test_hopeless_searches_end_before_they_begin() -> None:
    devices = [a_device(f"d{index}", attributes={"numa": index}) for index in range(30)]
    claim = a_claim(a_request(count=8), constraints=[MATCH])

    found = find(a_place(a_pool(*devices)), claim)

    assert found == NotFound(steps=0)


def test_work_is_bounded() -> None:
    # Each device has one neighbour of the same x and one of the same y, and none of both.
    ring = [
        a_device(f"d{index}", attributes={"x": index // 2, "y": (index + 1) // 2 % 15})
        for index in range(30)
    ]
    both = [DeviceConstraint(match_attribute=f"{DRIVER}/{name}") for name in "xy"]
    claim = a_claim(a_request(count=2), constraints=both)

    bounded = find(a_place(a_pool(*ring)), claim, most_steps=20)
    whole = find(a_place(a_pool(*ring)), claim)

    assert isinstance(bounded, NotFound)
    assert "steps" in bounded.problem
    assert isinstance(whole, NotFound)
    assert whole.problem == ""


def test_devices_that_others_have_cost_no_work() -> None:
    devices = [a_device(f"d{index}", attributes={"uuid": str(index)}) for index in range(40)]
    taken = Ledger()
    for one in devices[:-1]:
        taken.take((DRIVER, "p", one.name))

    found = find(a_place(a_pool(*devices), taken=taken), a_claim(a_request()), most_steps=1)

    assert names(found) == [["d39"]]


@pytest.mark.parametrize(
    ("stated", "values"),
    [
        pytest.param(DeviceConstraint(match_attribute=f"{DRIVER}/numa"), 8, id="too few alike"),
        pytest.param(DeviceConstraint(distinct_attribute=f"{DRIVER}/numa"), 7, id="too few kinds"),
    ],
)
def test_requests_that_no_constraint_lets_through_together_are_not_searched(
    stated: DeviceConstraint, values: int
) -> None:
    devices = [a_device(f"d{index}", attributes={"numa": index % values}) for index in range(48)]
    requests = [a_request(name=f"r{index}") for index in range(8)]

    found = find(a_place(a_pool(*devices)), a_claim(*requests, constraints=[stated]))

    assert found == NotFound(steps=0)
