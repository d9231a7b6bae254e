"""Chains of gangs that make one another short: how often everything is packed for them."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.plan import Plan
from libs.domain.pod import PodRow, PodShape
from libs.domain.topology import NodeInclusionPolicy
from libs.domain.workload import Gang
from services.solver.core.packing.packing import Packer
from tests.support.builders import (
    ZONES,
    a_daemonset,
    a_node,
    a_pod,
    a_shape,
    a_spread,
    a_term,
    amounts,
    selecting,
)
from tests.unit.services.solver.core.asking import left_over, on_nodes, plan_of

ZONE = label_keys.ZONE
LENGTH = 40


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often everything is packed."""
    found: Counter[str] = Counter()
    known = Packer.run

    def counting(packer: Packer) -> bool:
        found["run"] += 1
        return known(packer)

    monkeypatch.setattr(Packer, "run", counting)
    return found


class _Gangs:
    """Gangs of pods of a shape each."""

    def __init__(self) -> None:
        self.shapes: list[PodShape] = []
        self.pods: list[PodRow] = []
        self.gangs: list[Gang] = []

    def add(self, name: str, *shapes: PodShape) -> None:
        """Add a gang of one pod of each of these shapes, all of which it needs."""
        self.gangs.append(Gang(namespace="default", name=name, min_members=len(shapes)))
        for shape in shapes:
            number = 1 + len(self.shapes)
            self.shapes.append(replace(shape, id=number))
            self.pods.append(a_pod(f"{name}-{number:03}", number, gang=f"default/{name}"))

    def plan(self, **snapshot: Any) -> Plan:
        """Return the plan for them and whatever else there is."""
        shapes = [*self.shapes, *snapshot.pop("shapes", ())]
        pods = [*self.pods, *snapshot.pop("pods", ())]
        return plan_of(shapes=shapes, pods=pods, gangs=self.gangs, **snapshot)


def _chain(first_cpu: str) -> _Gangs:
    """Return gangs each of which has a pod near a pod of the one before."""
    found = _Gangs()
    for number in range(LENGTH):
        near = (a_term(ZONE, selector=selecting(link=str(number - 1))),) if number else ()
        found.add(
            f"gang-{number:02}",
            a_shape(cpu="100m" if number else first_cpu, affinity=near),
            a_shape(cpu="100m", labels={"link": str(number)}),
        )
    return found


def test_a_chain_of_gangs_that_may_all_run_is_packed_once(runs: Counter[str]) -> None:
    assert left_over(_chain("100m").plan()) == 0
    assert runs["run"] == 1


def test_a_chain_of_gangs_falls_with_its_first_one_at_once(runs: Counter[str]) -> None:
    plan = _chain("9000").plan()

    assert left_over(plan) == 2 * LENGTH
    assert runs["run"] <= 2 + 8 + 16 + 8


def test_a_gang_that_falls_with_another_says_how_many_of_its_pods_have_a_place() -> None:
    plan = _chain("9000").plan()

    told = {one.reason.message for one in plan.unplaced}
    assert (
        f"gang default/gang-{LENGTH - 1} needs 2 pods placed together; at most 1 has a place"
        in told
    )


@pytest.mark.parametrize(
    "there",
    [
        pytest.param(
            {
                "nodes": [a_node()],
                "shapes": [a_shape(900, labels={"link": "0"})],
                "pods": [a_pod("runs", 900, node="node-1")],
            },
            id="one that runs",
        ),
        pytest.param(
            {
                "daemonsets": [a_daemonset(shape=900)],
                "shapes": [a_shape(900, cpu="10m", memory="1Mi", labels={"link": "0"})],
            },
            id="a daemon",
        ),
        pytest.param(
            {"shapes": [a_shape(900, labels={"link": "0"})], "pods": [a_pod("other", 900)]},
            id="one of no gang",
        ),
    ],
)
def test_gangs_do_not_fall_that_are_near_somebody_else(there: dict[str, Any]) -> None:
    plan = _chain("9000").plan(**there)

    assert {uid for one in plan.unplaced for uid in one.pod_uids} == {
        "uid-gang-00-001",
        "uid-gang-00-002",
    }


def _uneven(length: int) -> _Gangs:
    """Return gangs that fill the other zones for the next one, whose pods are all in the first."""
    found = _Gangs()
    first, *others = ZONES
    for number in range(length):
        counted = selecting(link=str(number))
        spread = a_spread(ZONE, selector=counted, node_affinity_policy=NodeInclusionPolicy.IGNORE)
        here = a_shape(
            cpu="100m" if number else "9000",
            labels={"link": str(number)},
            selector={ZONE: first},
            topology_spread=(spread,) if number else (),
        )
        there = [
            a_shape(cpu="100m", labels={"link": str(number + 1)}, selector={ZONE: zone})
            for zone in others
        ]
        found.add(f"gang-{number:03}", here, here, *there)
    return found


ROOM = amounts(cpu=64, memory="256Gi", pods=500)
EVERY_ZONE = {
    "nodes": [a_node(f"node-{zone}", labels={ZONE: zone}, allocatable=ROOM) for zone in ZONES],
    "nodepools": [],
}


def test_the_number_of_packings_is_bounded_where_gangs_fall_one_by_one(
    runs: Counter[str],
) -> None:
    plan = _uneven(LENGTH).plan(**EVERY_ZONE)

    assert left_over(plan) == 4 * LENGTH
    assert runs["run"] <= 16 + 6 + 8 + 16 + 8


def test_gangs_that_were_given_up_are_told_to_wait_and_what_is_no_gang_is_placed() -> None:
    other = {"shapes": [a_shape(900)], "pods": [a_pod("other", 900)]}

    plan = _uneven(LENGTH).plan(**EVERY_ZONE, **other)

    told = Counter(one.reason.message.split("; ")[-1] for one in plan.unplaced)
    assert told["it waits for the next plan, since too many gangs here depend on each other"] > 0
    assert sum(on_nodes(plan).values()) == 1


def test_few_gangs_that_fall_one_by_one_are_all_tried() -> None:
    plan = _uneven(5).plan(**EVERY_ZONE)

    assert left_over(plan) == 4 * 5
    assert all("have a place" in one.reason.message for one in plan.unplaced)
