"""The provisioning loop, end to end among stand-ins, in simulated time."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from libs.domain.errors import NotReady, RevisionGone, StaleRevision, Unavailable
from libs.domain.execution import ApplyRequest
from libs.kube.leases import KARPENTER_LEASE
from services.watcher.adapters.rivals import HEALTH_NAME
from tests.unit.services.watcher.stage import (
    NODE_CLAIMS,
    SOLVER,
    BlindApi,
    Stage,
    on_stage,
    with_settings,
)


def decisions(stage: Stage, result: str) -> float:
    registry = stage.world.services["watcher"].runtime.metrics
    value = registry.get_sample_value("joiner_provisioning_attempts_total", {"result": result})
    return value or 0.0


def test_waiting_pods_get_claims_once() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        await stage.passed(5)
        for number in range(10):
            stage.add_pod(f"p{number}")
        await stage.passed(3)
        assert len(stage.claims()) == 1
        assert decisions(stage, "applied") == 1
        await stage.passed(60)
        assert len(stage.claims()) == 1

    on_stage(play)


def test_pods_that_come_while_a_claim_boots_find_the_others_where_they_were_put() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        await stage.passed(5)
        for number in range(4):
            stage.add_pod(f"p{number}")
        await stage.passed(3)
        (name,) = stage.claims()
        stage.add_pod("late", cpu="200")
        await stage.passed(5)
        rows = list(stage.solver.newest.pods.rows())
        targets = {row.name: row.target.name for row in rows if row.target is not None}
        others = set(stage.claims()) - {name}
        assert len(others) == 1
        assert targets == dict.fromkeys(("p0", "p1", "p2", "p3"), name) | {"late": others.pop()}

    on_stage(play)


def test_a_batch_closes_one_quiet_second_after_its_last_pod() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        await stage.passed(5)
        stage.add_pod("p0")
        await stage.passed(0.9)
        stage.add_pod("p1")
        await stage.passed(0.9)
        assert stage.claims() == []
        await stage.passed(0.2)
        assert len(stage.claims()) == 1
        assert stage.solver.solutions[-1].pods.waiting == 2

    on_stage(play)


def test_nothing_is_solved_where_nothing_waits() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        await stage.passed(300)
        assert stage.solver.solutions == []
        assert stage.solver.newest.nodepools.keys() == {"default"}

    on_stage(play)


def test_a_pod_that_waits_is_decided_about_again_every_ten_seconds() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        await stage.passed(5)
        stage.add_pod("huge", cpu="100000")
        await stage.passed(60)
        assert 4 <= len(stage.solver.solutions) <= 8
        assert stage.claims() == []

    on_stage(play)


@pytest.mark.parametrize(
    ("failure", "counted"),
    [
        pytest.param(StaleRevision("stale"), "stale", id="stale"),
        pytest.param(NotReady("does not lead"), "not_ready", id="lifecycle does not lead"),
        pytest.param(Unavailable("away"), "unavailable", id="lifecycle is away"),
    ],
)
def test_a_plan_that_was_not_applied_is_decided_again_on_a_newer_snapshot(
    failure: Exception, counted: str
) -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        await stage.passed(5)
        stage.lifecycle.failures = [failure, failure]  # type: ignore[list-item]  # domain errors
        stage.add_pod("p")
        await stage.passed(5)
        assert len(stage.claims()) == 1
        assert decisions(stage, counted) == 2
        revisions = [solution.snapshot.revision for solution in stage.solver.solutions]
        assert revisions == sorted(set(revisions))

    on_stage(play)


def test_a_solver_that_lost_the_revision_is_asked_about_what_it_holds() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        await stage.passed(5)
        stage.solver.failures = [RevisionGone("not held"), RevisionGone("not held")]
        stage.add_pod("p")
        await stage.passed(5)
        assert len(stage.claims()) == 1

    on_stage(play)


def test_a_solver_that_takes_snapshots_in_slowly_answers_about_a_newer_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        await stage.passed(5)
        accept = stage.solver.holder.accept

        async def slowly(*update: Any) -> Any:
            await stage.passed(2.5)
            return await accept(*update)

        monkeypatch.setattr(stage.solver.holder, "accept", slowly)
        stage.add_pod("p")
        for number in range(16):  # each makes a snapshot, more than can be pushed
            stage.server.direct.create("namespaces", {"metadata": {"name": f"n{number}"}})
            await stage.passed(0.5)
        assert len(stage.claims()) == 1
        assert decisions(stage, "applied") == 1
        assert decisions(stage, "stale") == 0

    on_stage(play)


def test_a_lost_answer_buys_nothing_twice() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        await stage.passed(5)
        stage.lifecycle.lost_answers = 1
        stage.add_pod("p")
        await stage.passed(60)
        assert len(stage.claims()) == 1

    on_stage(play)


def test_nothing_is_decided_before_the_watch_has_shown_what_was_created() -> None:
    async def play(stage: Stage) -> None:
        api = BlindApi(stage.api)
        await stage.start_watcher(api=api)
        await stage.passed(5)
        stage.add_pod("p0")
        api.blind = True
        await stage.passed(2)
        assert len(stage.claims()) == 1
        stage.add_pod("p1", cpu="200")
        await stage.passed(60)
        assert len(stage.solver.solutions) == 1
        api.blind = False
        await stage.passed(30)
        assert len(stage.solver.solutions) > 1
        planned = [uid for request in stage.lifecycle.requests for uid in _planned(request)]
        assert len(planned) == len(set(planned)) == 2

    on_stage(play)


def test_a_created_claim_that_vanished_unseen_is_no_longer_counted() -> None:
    async def play(stage: Stage) -> None:
        api = BlindApi(stage.api)
        await stage.start_watcher(api=api)
        await stage.passed(5)
        stage.add_pod("p")
        api.blind = True
        await stage.passed(2)
        (first,) = stage.claims()
        stage.server.direct.delete(NODE_CLAIMS, first)
        stage.server.store.storage.compact()
        stage.server.store.storage.forget()
        api.blind = False
        await stage.passed(60)
        assert stage.claims() not in ([], [first])
        assert len(stage.claims()) == 1

    on_stage(play)


def test_nothing_is_bought_while_karpenter_lives() -> None:
    async def play(stage: Stage) -> None:
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": KARPENTER_LEASE, "namespace": "kube-system"},
            "spec": {
                "holderIdentity": "karpenter-0",
                "leaseDurationSeconds": 600,
                "renewTime": "2026-01-01T00:00:00.000000Z",
            },
        }
        stage.server.direct.create("leases.coordination.k8s.io", lease)
        running = await stage.start_watcher()
        await stage.passed(5)
        stage.add_pod("p")
        await stage.passed(120)
        assert stage.claims() == []
        assert stage.lifecycle.requests == []
        assert decisions(stage, "reported") >= 1
        assert not running.runtime.health.serving(HEALTH_NAME)
        await stage.passed(600)
        assert len(stage.claims()) == 1
        assert running.runtime.health.serving(HEALTH_NAME)

    on_stage(play)


def test_two_watchers_hand_over_under_load_and_buy_nothing_twice() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher("watcher")
        await stage.start_watcher("second")
        await stage.passed(5)
        stage.add_pod("p0")
        await stage.passed(3)
        stage.add_pod("p1", cpu="200")
        await stage.passed(0.5)
        await stage.world.kill("watcher")
        await stage.passed(60)
        assert len(stage.claims()) == 2
        assert stage.solver.newest.id.epoch.lease_transitions == 1
        planned = [uid for request in stage.lifecycle.requests for uid in _planned(request)]
        assert len(planned) == len(set(planned))

    on_stage(play)


def _planned(request: ApplyRequest) -> list[str]:
    return [uid for claim in request.plan.nodeclaims for uid in claim.pod_uids]


def test_pods_of_a_leaving_claim_are_waited_for() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        await stage.passed(5)
        stage.add_pod("p")
        await stage.passed(3)
        (name,) = stage.claims()
        stage.server.direct.delete(NODE_CLAIMS, name)
        await stage.passed(30)
        assert len(stage.claims()) == 1
        assert stage.claims() != [name]

    on_stage(play)


def test_a_provider_that_is_away_keeps_pods_waiting_until_it_answers() -> None:
    async def play(stage: Stage) -> None:
        await stage.world.kill("kwok")
        await stage.start_watcher()
        await stage.passed(5)
        stage.add_pod("p")
        await stage.passed(120)
        assert stage.claims() == []
        await stage.start_provider()
        await stage.passed(30)
        assert len(stage.claims()) == 1

    on_stage(play)


def test_a_catalogue_is_not_sent_again_while_it_does_not_change() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        await stage.passed(5)
        first = next(iter(stage.solver.newest.catalogues.values()))
        await stage.passed(200)
        assert next(iter(stage.solver.newest.catalogues.values())) is first
        await stage.passed(400)
        later = next(iter(stage.solver.newest.catalogues.values()))
        assert later.observed_at > first.observed_at
        assert datetime(2026, 1, 1, tzinfo=UTC) <= first.observed_at

    on_stage(play)


def test_a_decision_can_be_replayed_from_its_plan_id() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        with pytest.raises(NotReady):
            await stage.client().get_snapshot()
        await stage.passed(5)
        stage.add_pod("p")
        await stage.passed(3)
        solution = stage.solver.solutions[0]
        question = await stage.client().get_snapshot(solution.plan_id)
        assert question.options == replace(solution.options, refine_iterations=solution.iterations)
        newest = await stage.client().get_snapshot()
        assert newest.snapshot is not None
        with pytest.raises(RevisionGone):
            await stage.client().get_snapshot("nothing")

    on_stage(play)


def test_a_solver_that_restarts_gets_everything_again() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        await stage.passed(5)
        await stage.world.kill("solver")
        stage.add_pod("p")
        await stage.passed(20)
        assert stage.claims() == []
        await stage.start_solver()
        await stage.passed(20)
        assert len(stage.claims()) == 1

    on_stage(play)


def test_another_replica_of_the_solver_is_asked_when_one_is_gone() -> None:
    async def play(stage: Stage) -> None:
        first, second = stage.solver, await stage.start_solver("second", "solver:2")
        stage.world.network.name("solvers:0", (SOLVER, "solver:2"))
        await stage.start_watcher(settings=with_settings(solver_address="solvers:0"))
        await stage.passed(5)
        assert first.newest.id == second.newest.id
        await stage.world.kill("solver")
        stage.add_pod("p")
        await stage.passed(5)
        assert len(stage.claims()) == 1
        assert (len(first.solutions), len(second.solutions)) == (0, 1)

    on_stage(play)


def test_a_sink_that_appears_later_gets_the_snapshots() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher(settings=with_settings(sinks=("others:0",)))
        await stage.passed(5)
        other = await stage.start_solver("other", "other:1")
        stage.world.network.name("others:0", ("other:1",))
        await stage.passed(15)
        assert other.newest.nodepools.keys() == {"default"}

    on_stage(play)
