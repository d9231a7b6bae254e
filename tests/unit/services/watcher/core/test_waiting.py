"""When there is anything to decide, and what is expected of a plan that was applied."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from libs.domain.execution import ApplyResult, CreatedClaim, RefusedClaim
from libs.domain.plan import LaunchOption, Nomination, Plan, PlannedNodeClaim
from libs.domain.pod import PodRow, Target
from libs.domain.reason import TargetKind
from libs.domain.requirements import ANYTHING
from libs.domain.resources import NOTHING
from libs.domain.snapshot import ClusterSnapshot, keyed
from libs.domain.solution import Cost, PodCounts, Solution, SolveOptions
from libs.domain.workload import CapacityBuffer
from services.watcher.core.applying import apply_request, expected_targets, pod_targets
from services.watcher.core.waiting import has_waiting_pods
from tests.support.builders import a_node, a_nodeclaim, a_pod, a_shape, a_snapshot, an_owner

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def holding(*rows: PodRow, leaving: bool = False) -> ClusterSnapshot:
    return a_snapshot(shapes=[a_shape()], pods=list(rows), nodes=[a_node("n", leaving=leaving)])


@pytest.mark.parametrize(
    ("snapshot", "expected"),
    [
        pytest.param(holding(), False, id="no pods"),
        pytest.param(holding(a_pod()), True, id="a provisionable pod"),
        pytest.param(holding(a_pod(provisionable=False)), False, id="not yet seen by a scheduler"),
        pytest.param(holding(a_pod(node="n")), False, id="all on nodes that stay"),
        pytest.param(holding(a_pod(node="n"), leaving=True), True, id="on a leaving node"),
        pytest.param(holding(leaving=True), False, id="an empty node is leaving"),
        pytest.param(
            holding(a_pod(node="n", owner=an_owner("DaemonSet")), leaving=True),
            False,
            id="a daemon on a leaving node",
        ),
        pytest.param(
            holding(a_pod(node="n", deleting_ms=5), leaving=True), False, id="a terminating pod"
        ),
    ],
)
def test_there_is_something_to_decide_if_a_pod_needs_a_place(
    snapshot: ClusterSnapshot, expected: bool
) -> None:
    assert has_waiting_pods(snapshot) is expected


def a_planned_claim(index: int, *pod_uids: str) -> PlannedNodeClaim:
    return PlannedNodeClaim(
        index=index,
        nodepool="default",
        nodepool_uid="u",
        nodepool_hash="h",
        requirements=ANYTHING,
        requests=NOTHING,
        instance_types=("m",),
        cheapest=LaunchOption(
            instance_type="m", zone="z", capacity_type="spot", price_nanos_per_hour=1
        ),
        pod_uids=pod_uids,
    )


def a_buffer() -> CapacityBuffer:
    return CapacityBuffer(namespace="default", name="b", uid="room", shape=1, replicas=2)


def test_real_pods_nominate_and_virtual_ones_do_not() -> None:
    snapshot = replace(holding(), buffers=keyed("buffers", [a_buffer()]))
    plan = Plan(
        nodeclaims=(a_planned_claim(0, "room-1"), a_planned_claim(1, "p", "room-2")),
        nominations=(
            Nomination(target_kind=TargetKind.NODE, target="n", pod_uids=("q",)),
            Nomination(target_kind=TargetKind.NODE, target="m", pod_uids=("room-3",)),
        ),
    )
    result = ApplyResult(
        created=(
            CreatedClaim(index=0, name="first", uid="1"),
            CreatedClaim(index=1, name="second", uid="2"),
        )
    )
    assert list(expected_targets(plan, result, snapshot)) == [
        (TargetKind.NODE, "n"),
        (TargetKind.NODECLAIM, "second"),
    ]
    assert pod_targets(plan, result) == {
        "q": Target(TargetKind.NODE, "n"),
        "room-3": Target(TargetKind.NODE, "m"),
        "room-1": Target(TargetKind.NODECLAIM, "first"),
        "p": Target(TargetKind.NODECLAIM, "second"),
        "room-2": Target(TargetKind.NODECLAIM, "second"),
    }


def test_refused_and_unheard_of_claims_are_not_expected() -> None:
    plan = Plan(nodeclaims=(a_planned_claim(0, "p"),))
    result = ApplyResult(
        created=(CreatedClaim(index=7, name="never planned", uid="7"),),
        refused=(RefusedClaim(index=0, message="limits"),),
    )
    assert list(expected_targets(plan, result, holding())) == []
    assert pod_targets(plan, result) == {}


def test_a_request_names_every_claim_of_its_snapshot() -> None:
    snapshot = a_snapshot(nodeclaims=[a_nodeclaim("b", uid="2"), a_nodeclaim("a", uid="1")])
    solution = Solution(
        snapshot=snapshot.id,
        options=SolveOptions(),
        solver_version="1",
        plan=Plan(),
        cost=Cost(),
        plan_id="id",
        pods=PodCounts(),
    )
    request = apply_request(solution, snapshot, NOW)
    assert request.known_nodeclaim_uids == ("1", "2")
    assert (request.plan_id, request.snapshot, request.decided_at) == ("id", snapshot.id, NOW)
