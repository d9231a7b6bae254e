"""Who waits, in which order, and who has to give way."""

from datetime import timedelta
from typing import Any

import pytest

from libs.domain.pod import PodPhase, PodRow
from libs.domain.solution import SolveOptions
from libs.domain.workload import CapacityBuffer, Gang, PodDisruptionBudget
from services.solver.core.solve import solve
from tests.support.builders import (
    NOW,
    a_node,
    a_pod,
    a_shape,
    a_snapshot,
    amounts,
    an_owner,
    pods,
    selecting,
)
from tests.unit.services.solver.core.asking import on_new, on_nodes, plan_of

NOW_MS = int(NOW.timestamp() * 1000)
HOUR_MS = 3_600_000


def _leaving(**override: Any) -> PodRow:
    return a_pod("old", node="node-1", phase=PodPhase.RUNNING, started_ms=NOW_MS, **override)


BUDGET = PodDisruptionBudget(
    namespace="default", name="b", uid="b", selector=selecting(app="web"), disruptions_allowed=0
)


@pytest.mark.parametrize(
    ("pod", "budgets", "moves"),
    [
        pytest.param(_leaving(), [], True, id="runs"),
        pytest.param(_leaving(owner=an_owner("DaemonSet")), [], False, id="daemon"),
        pytest.param(_leaving(deleting_ms=NOW_MS), [], False, id="terminating"),
        pytest.param(
            _leaving(deleting_ms=NOW_MS, owner=an_owner("StatefulSet")),
            [],
            True,
            id="terminating pod that comes back under its name",
        ),
        pytest.param(_leaving()._replace(phase=PodPhase.SUCCEEDED), [], False, id="finished"),
        pytest.param(_leaving(do_not_disrupt_ms=-1), [], False, id="protected for ever"),
        pytest.param(_leaving(do_not_disrupt_ms=HOUR_MS), [], False, id="protected for an hour"),
        pytest.param(
            _leaving(do_not_disrupt_ms=HOUR_MS)._replace(started_ms=NOW_MS - HOUR_MS),
            [],
            True,
            id="protection is over",
        ),
        pytest.param(_leaving(), [BUDGET], True, id="budget that is used up for now"),
        pytest.param(
            _leaving(),
            [
                PodDisruptionBudget(
                    namespace="default",
                    name="never",
                    uid="n",
                    selector=selecting(app="web"),
                    never_satisfiable=True,
                )
            ],
            False,
            id="budget that never allows it",
        ),
    ],
)
def test_pods_of_a_leaving_node_get_another_place_if_they_will_go(
    pod: PodRow, budgets: list[PodDisruptionBudget], moves: bool
) -> None:
    solution = solve(
        a_snapshot(pods=[pod], nodes=[a_node(leaving=True)], pod_disruption_budgets=budgets),
        SolveOptions(),
    )

    assert (on_new(solution.plan) == [1]) == moves
    assert solution.pods.waiting == int(moves)


def test_protection_is_measured_at_the_instant_of_the_decision() -> None:
    plan = plan_of(
        SolveOptions(now=NOW + timedelta(minutes=5)),
        pods=[_leaving(do_not_disrupt_ms=60_000)],
        nodes=[a_node(leaving=True)],
    )

    assert on_new(plan) == [1]


def test_pods_that_the_scheduler_has_not_refused_do_not_wait() -> None:
    assert on_new(plan_of(pods=[a_pod(provisionable=False)])) == []


def test_the_most_demanding_pods_choose_first() -> None:
    plan = plan_of(
        shapes=[a_shape(1, cpu="2"), a_shape(2, cpu="3"), a_shape(3, cpu="3", memory="2Gi")],
        pods=[*pods(1, 1), *pods(1, 2), *pods(1, 3)],
        nodes=[a_node()],
        nodepools=[],
    )

    assert plan.nominations[0].pod_uids == ("uid-s3-00001",)


def test_of_equal_pods_the_oldest_choose_first() -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="4")],
        pods=[a_pod("new", created_ms=9), a_pod("old", created_ms=3), a_pod("odd", created_ms=9)],
        nodes=[a_node()],
        nodepools=[],
    )

    assert plan.nominations[0].pod_uids == ("uid-old",)


BUFFER = CapacityBuffer(namespace="default", name="spare", uid="buffer", shape=2, replicas=3)
VIRTUAL = [
    a_pod(f"spare-{number}", 2, uid=f"buffer-{number}", priority=-(2**31)) for number in (1, 2, 3)
]


def test_virtual_pods_come_last_and_are_no_ones_nomination() -> None:
    solution = solve(
        a_snapshot(
            shapes=[a_shape(1, cpu="1"), a_shape(2, cpu="2")],
            pods=[*pods(2), *VIRTUAL],
            nodes=[a_node()],
            buffers=[BUFFER],
        ),
        SolveOptions(),
    )

    plan = solution.plan
    assert on_nodes(plan) == {"node-1": 2}
    assert [claim.pod_uids for claim in plan.nodeclaims] == [("buffer-2", "buffer-3")]
    (verdict,) = plan.buffers
    assert (verdict.fit_existing, verdict.need_new, verdict.unplaced) == (1, 2, 0)
    assert (solution.pods.waiting, solution.pods.on_new) == (2, 0)


def test_virtual_pods_without_a_place_are_a_verdict_only() -> None:
    plan = plan_of(
        shapes=[a_shape(1), a_shape(2, cpu="3")],
        pods=VIRTUAL,
        nodes=[a_node()],
        buffers=[BUFFER],
        nodepools=[],
    )

    assert plan.unplaced == ()
    assert (plan.buffers[0].fit_existing, plan.buffers[0].unplaced) == (1, 2)


FULL = a_node("node-2", allocatable=amounts(cpu=1, memory="16Gi", pods=1), unschedulable=True)


def _gang(members: int) -> list[Gang]:
    return [Gang(namespace="default", name="train", min_members=members)]


@pytest.mark.parametrize(
    ("least", "running", "placed"),
    [
        pytest.param(3, 0, 3, id="whole"),
        pytest.param(4, 0, 0, id="one too many"),
        pytest.param(4, 1, 3, id="one runs already"),
        pytest.param(2, 0, 3, id="more than it needs"),
    ],
)
def test_a_gang_is_placed_together_or_not_at_all(least: int, running: int, placed: int) -> None:
    members = pods(3, gang="default/train")
    old = [a_pod(f"old-{n}", 2, node="node-2", gang="default/train") for n in range(running)]
    plan = plan_of(
        shapes=[a_shape(cpu="1"), a_shape(2, cpu="1")],
        pods=[*members, *old],
        nodes=[a_node(allocatable=amounts(cpu=3, memory="16Gi", pods=10)), FULL],
        nodepools=[],
        gangs=_gang(least),
    )

    assert sum(on_nodes(plan).values()) == placed


def test_the_room_of_a_gang_that_is_short_goes_to_others() -> None:
    plan = plan_of(
        shapes=[a_shape(1, cpu="2"), a_shape(2, cpu="1")],
        pods=[*pods(3, 1, gang="default/train"), *pods(4, 2)],
        nodes=[a_node()],
        nodepools=[],
        gangs=_gang(3),
    )

    assert on_nodes(plan) == {"node-1": 4}
    (short,) = plan.unplaced
    assert "needs 3 pods placed together; at most 2 have a place" in short.reason.message


def test_of_gangs_that_keep_each_other_out_one_is_placed() -> None:
    plan = plan_of(
        shapes=[a_shape(1, cpu="2"), a_shape(2, cpu="1")],
        pods=[
            *pods(3, 1, gang="default/large"),
            *pods(3, 2, gang="default/small"),
        ],
        nodes=[a_node()],
        nodepools=[],
        gangs=[
            Gang(namespace="default", name="large", min_members=3),
            Gang(namespace="default", name="small", min_members=3),
        ],
    )

    assert on_nodes(plan) == {"node-1": 3}
    (short,) = plan.unplaced
    assert short.reason.message == (
        "gang default/large needs 3 pods placed together; at most 2 have a place"
    )


def test_pods_that_are_going_do_not_count_for_their_gang() -> None:
    going = a_pod("old", 2, node="node-2", gang="default/train", deleting_ms=1)
    plan = plan_of(
        shapes=[a_shape(cpu="1"), a_shape(2, cpu="1")],
        pods=[*pods(3, gang="default/train"), going],
        nodes=[a_node(), FULL],
        nodepools=[],
        gangs=_gang(4),
    )

    assert on_nodes(plan) == {}


def test_a_gang_that_fits_once_another_is_out_comes_before_lesser_pods() -> None:
    plan = plan_of(
        shapes=[a_shape(1, cpu="3"), a_shape(2, cpu="2"), a_shape(3, cpu="1")],
        pods=[
            *pods(2, 1, gang="default/large"),
            *pods(2, 2, gang="default/small"),
            *pods(4, 3),
        ],
        nodes=[a_node()],
        nodepools=[],
        gangs=[
            Gang(namespace="default", name="large", min_members=2),
            Gang(namespace="default", name="small", min_members=2),
        ],
    )

    (nomination,) = plan.nominations
    assert nomination.pod_uids == ("uid-s2-00001", "uid-s2-00002")
