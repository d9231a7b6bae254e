"""The solver as a service: over gRPC in memory, built by its own `build`."""

from dataclasses import replace
from datetime import timedelta

import pytest
from joiner.snapshot.v1 import snapshot_pb2, snapshot_pb2_grpc

from libs.clients.solver import SolverClient
from libs.domain.errors import InvalidRequest, NotFound, Unavailable
from libs.domain.question import (
    ExplainQuestion,
    SnapshotReference,
    SolveQuestion,
    SubjectKind,
)
from libs.domain.snapshot import ClusterSnapshot, PushResult, full
from libs.domain.solution import SolveOptions
from libs.runtime.virtual import run_virtual
from libs.wire.snapshot import decode_push_response, encode_push_request
from services.solver.app import build
from services.solver.config import Settings
from services.solver.core.consolidating.consolidate import consolidate
from services.solver.core.explaining.explain import explain
from services.solver.core.solve import solve
from tests.support.builders import a_node, a_pod, a_shape, a_snapshot, pods
from tests.support.fleets import a_fleet, a_machine, a_question
from tests.support.world import World

ADDRESS = "solver:1"
WATCHED = Settings(watcher_identity="watcher")
MIXED = [*pods(3), *pods(2, 2)]


async def _client(world: World) -> SolverClient:
    running = await world.start("solver", build, Settings(), ADDRESS)
    return SolverClient(running.runtime.network.channel(ADDRESS))


def test_an_inline_snapshot_gets_the_answer_of_the_pure_function() -> None:
    snapshot = a_snapshot(pods=pods(3))

    async def scenario() -> None:
        async with World() as world:
            client = await _client(world)
            answer = await client.solve(SolveQuestion(snapshot=snapshot))
            assert answer == solve(snapshot, SolveOptions())

    run_virtual(scenario())


def test_a_budget_refines_and_its_iterations_replay_it() -> None:
    snapshot = a_snapshot(pods=pods(30))
    options = SolveOptions(refine_budget=timedelta(milliseconds=200))

    async def scenario() -> None:
        async with World() as world:
            client = await _client(world)
            answer = await client.solve(SolveQuestion(snapshot=snapshot, options=options))
            assert answer.options == options
            assert answer.iterations > 0
            assert (answer.cost.bound_ratio_ppm or 0) >= 1_000_000
            replay = replace(options, refine_iterations=answer.iterations)
            assert replace(solve(snapshot, replay), options=options) == answer

    run_virtual(scenario())


def test_a_cluster_that_nobody_pushed_is_not_found() -> None:
    async def scenario() -> None:
        async with World() as world:
            client = await _client(world)
            with pytest.raises(NotFound):
                await client.solve(SolveQuestion(snapshot=SnapshotReference(cluster_id="home")))

    run_virtual(scenario())


def test_an_inline_snapshot_that_leads_nowhere_is_refused_by_name() -> None:
    snapshot = a_snapshot(pods=[a_pod("lost", shape=9)])

    async def scenario() -> None:
        async with World() as world:
            client = await _client(world)
            with pytest.raises(InvalidRequest, match="lost"):
                await client.solve(SolveQuestion(snapshot=snapshot))

    run_virtual(scenario())


def test_consolidation_is_answered() -> None:
    fleet = a_fleet(a_machine("a", 1), a_machine("b", 1, 1))
    question = a_question(fleet, "a")

    async def scenario() -> None:
        async with World() as world:
            client = await _client(world)

            assert await client.consolidate(question) == consolidate(fleet, question)

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("kind", "subject"),
    [
        pytest.param(SubjectKind.POD, "uid-s2-00001", id="pod by uid"),
        pytest.param(SubjectKind.POD_NAME, "default/s2-00001", id="pod by name"),
        pytest.param(SubjectKind.NODE, "node-1", id="node"),
        pytest.param(SubjectKind.NODEPOOL, "default", id="pool"),
    ],
)
def test_an_explanation_is_that_of_the_pure_function(kind: SubjectKind, subject: str) -> None:
    snapshot = _at_home(
        a_snapshot(shapes=[a_shape(1), a_shape(2, cpu="1k")], pods=MIXED, nodes=[a_node()])
    )
    pushed = SnapshotReference(cluster_id="home")

    async def scenario() -> None:
        async with World() as world:
            running = await world.start("solver", build, WATCHED, ADDRESS)
            await _push(world, snapshot)
            client = SolverClient(running.runtime.network.channel(ADDRESS))
            expected = explain(snapshot, SolveOptions(), kind, subject)
            for source in (snapshot, pushed):
                question = ExplainQuestion(snapshot=source, subject_kind=kind, subject=subject)
                assert await client.explain(question) == expected

    run_virtual(scenario())


def test_an_unknown_subject_is_not_found_and_names_what_was_perhaps_meant() -> None:
    question = ExplainQuestion(
        snapshot=a_snapshot(nodes=[a_node("node-12")]),
        subject_kind=SubjectKind.NODE,
        subject="noed-12",
    )

    async def scenario() -> None:
        async with World() as world:
            client = await _client(world)
            with pytest.raises(NotFound, match='there is no node "noed-12"; perhaps "node-12"'):
                await client.explain(question)

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("kind", "subject", "field"),
    [
        pytest.param(SubjectKind.POD_NAME, "web", "pod_name", id="a pod without a namespace"),
        pytest.param(SubjectKind.NODE, "", "node", id="a node without a name"),
    ],
)
def test_a_bad_subject_is_refused_by_field(kind: SubjectKind, subject: str, field: str) -> None:
    question = ExplainQuestion(snapshot=a_snapshot(), subject_kind=kind, subject=subject)

    async def scenario() -> None:
        async with World() as world:
            client = await _client(world)
            with pytest.raises(InvalidRequest, match=field):
                await client.explain(question)

    run_virtual(scenario())


def test_a_pushed_snapshot_is_answered_and_measured() -> None:
    snapshot = _at_home(a_snapshot(shapes=[a_shape(1), a_shape(2, cpu="1k")], pods=MIXED))

    async def scenario() -> None:
        async with World() as world:
            running = await world.start("solver", build, WATCHED, ADDRESS)
            await _push(world, snapshot)
            client = SolverClient(running.runtime.network.channel(ADDRESS))
            newest = SnapshotReference(cluster_id=snapshot.id.cluster_id)
            exact = replace(newest, id=snapshot.id)
            answers = [await client.solve(SolveQuestion(snapshot=one)) for one in (newest, exact)]
            unschedulable = running.runtime.metrics.get_sample_value(
                "karpenter_scheduler_unschedulable_pods_count", {"controller": "provisioner"}
            )
            solves = running.runtime.metrics.get_sample_value(
                "karpenter_scheduler_scheduling_duration_seconds_count",
                {"controller": "provisioner"},
            )
            assert answers == [solve(snapshot, SolveOptions())] * 2
            assert (unschedulable, solves) == (2, 2)
            assert running.runtime.health.serving("snapshot/home")

    run_virtual(scenario())


def test_a_caller_who_leaves_stops_the_work() -> None:
    snapshot = a_snapshot(pods=pods(3))
    uid = snapshot.pods.uids[0]

    with pytest.raises(Unavailable):
        solve(snapshot, SolveOptions(), cancelled=lambda: True)
    with pytest.raises(Unavailable):
        explain(snapshot, SolveOptions(), SubjectKind.POD, uid, cancelled=lambda: True)


def _at_home(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    return replace(snapshot, id=replace(snapshot.id, cluster_id="home"))


async def _push(world: World, snapshot: ClusterSnapshot) -> None:
    channel = world.network.seen_by("watcher").channel(ADDRESS)
    stub = snapshot_pb2_grpc.SnapshotSinkServiceStub(channel)
    call = stub.PushSnapshots()
    await call.write(encode_push_request(full(snapshot)))
    answer = await call.read()
    assert isinstance(answer, snapshot_pb2.PushSnapshotsResponse)
    _, result = decode_push_response(answer)
    assert result is PushResult.HELD
    call.cancel()
