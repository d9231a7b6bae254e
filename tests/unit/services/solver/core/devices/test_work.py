"""How much a search tries before it gives up."""

from collections.abc import Callable
from typing import Any

import pytest

from libs.domain.device import DeviceClass, DeviceConstraint
from libs.domain.feature_gates import FeatureGate
from libs.domain.solution import SolveOptions
from services.solver.core.devices.search import Found, search
from services.solver.core.devices.selecting import Broken, Selectors
from services.solver.core.devices.usage import Ledger, OfOthers
from services.solver.core.devices.ways import NotFound
from tests.support.builders import a_node, a_pod, a_shape, amounts, pods
from tests.unit.services.solver.core.asking import plan_of
from tests.unit.services.solver.core.devices.pools import (
    CLASSES,
    DRIVER,
    a_claim,
    a_device,
    a_place,
    a_pool,
    a_request,
    a_way,
    find,
    names,
)

LARGE = amounts(cpu=64, memory="64Gi", pods=110)
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


def test_expressions_that_loop_for_long_on_every_device_are_stopped_within_a_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("services.solver.core.devices.selecting._MOST_STEPS_OF_PLAN", 1_000)
    numbers = list(range(20))
    loops = f"{numbers}.all(a, {numbers}.all(b, a + b >= 0))"
    selectors = Selectors({"gpu": DeviceClass(name="gpu", selectors=(loops,))})
    devices = [a_device(f"d{index}") for index in range(9)]
    verdicts = [selectors.match(a_way(), DRIVER, one) for one in devices]

    assert verdicts.count(True) < 3
    broken = verdicts[-1]
    assert isinstance(broken, Broken)
    assert "cost limit exceeded" in broken.problem


def test_problems_repeat_only_the_beginning_of_a_long_expression() -> None:
    selectors = Selectors({"gpu": DeviceClass(name="gpu", selectors=("x" * 20_000,))})

    problem = selectors.not_compiled(a_way())

    assert len(problem) < 500
    assert "19800 characters more" in problem


def test_shapes_that_claim_the_same_are_refused_together(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counting(*given: Any) -> Found | NotFound:
        calls.append(1)
        return search(*given)

    monkeypatch.setattr("services.solver.core.devices.allocating.search", counting)
    count = 12
    plan = plan_of(
        nodes=[a_node("node-1")],
        nodepools=[],
        shapes=[
            a_shape(number, cpu=f"{100 + number}m", device_claims=(a_claim(a_request(count=9)),))
            for number in range(count)
        ],
        pods=[a_pod(f"pod-{number}", number) for number in range(count)],
        device_classes=CLASSES.values(),
        device_pools=[a_pool(a_device("d0"), node_name="node-1")],
        options=SolveOptions(feature_gates={FeatureGate.DYNAMIC_RESOURCES: True}),
    )

    assert sum(len(one.pod_uids) for one in plan.unplaced) == count
    assert len(calls) < 6


@pytest.mark.parametrize(
    "node",
    [
        pytest.param("node-1", id="devices of one node"),
        pytest.param("", id="devices that all planned nodes see"),
    ],
)
def test_devices_that_are_taken_are_not_asked_about_one_by_one(
    node: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    for owner in (Ledger, OfOthers):
        monkeypatch.setattr(owner, "is_whole", _counting(owner.is_whole, asked))
    count = 60

    plan = plan_of(
        nodes=[a_node("node-1", allocatable=LARGE)] if node else (),
        shapes=[a_shape(1, cpu="100m" if node else "3", device_claims=(a_claim(),))],
        pods=pods(count),
        device_classes=CLASSES.values(),
        device_pools=[a_pool(*(a_device(f"d{number}") for number in range(count)), node_name=node)],
        options=SolveOptions(feature_gates={FeatureGate.DYNAMIC_RESOURCES: True}),
    )

    assert plan.unplaced == ()
    assert len(asked) < 20 * count


def _counting(known: Callable[..., bool], asked: list[int]) -> Callable[..., bool]:
    def counting(*given: Any) -> bool:
        asked.append(1)
        return known(*given)

    return counting
