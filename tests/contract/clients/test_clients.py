"""Every client against a servicer that decodes what it gets: nothing is lost on the way."""

import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from joiner.disruption.v1 import disruption_pb2_grpc
from joiner.lifecycle.v1 import lifecycle_pb2, lifecycle_pb2_grpc
from joiner.provider.v1 import provider_pb2, provider_pb2_grpc
from joiner.solver.v1 import solver_pb2_grpc
from joiner.watcher.v1 import watcher_pb2_grpc

from libs.clients.disruption import DisruptionClient
from libs.clients.lifecycle import LifecycleClient
from libs.clients.provider import ProviderClient
from libs.clients.solver import SolverClient
from libs.clients.watcher import WatcherClient
from libs.domain import execution, plan, provider, question, scenario, solution
from libs.domain.capacity import NodeClassRef
from libs.domain.errors import NotFound, RevisionGone, Unsupported
from libs.domain.nodepool import DisruptionReason
from libs.domain.requirements import ANYTHING
from libs.domain.resources import NOTHING
from libs.runtime import server
from libs.wire import disruption as wire_disruption
from libs.wire import execution as wire_execution
from libs.wire import launch, node_class, watcher
from libs.wire import provider as wire_provider
from libs.wire import question as wire_question
from libs.wire import scenario as wire_scenario
from libs.wire import solution as wire_solution
from tests.contract.snapshots.serving import a_guard, a_snapshot, network

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SNAPSHOT = a_snapshot(1)
OPTIONS = solution.SolveOptions(seed=3)
SOLUTION = solution.Solution(
    snapshot=SNAPSHOT.id,
    options=OPTIONS,
    solver_version="1",
    plan=plan.Plan(),
    cost=solution.Cost(),
    plan_id="p",
    pods=solution.PodCounts(),
)
CANDIDATE = plan.Candidate(nodeclaim="c", nodeclaim_uid="u", node="n", nodepool="p")
COMMAND = plan.Command(id="x", reason=DisruptionReason.EMPTY, candidates=(CANDIDATE,))
NODE_CLASS = provider.NodeClass(
    ref=NodeClassRef(group="g", kind="k", name="n"), uid="u", spec={"size": 3, "tags": ["a", None]}
)
INSTANCE = provider.Instance(
    provider_id="kwok://1", capacity=NOTHING, allocatable=NOTHING, launched_at=NOW
)
EVENT = provider.ProviderEvent(
    id="e", provider_id="kwok://1", kind=provider.ProviderEventKind.SPOT_INTERRUPTION
)


@contextlib.asynccontextmanager
async def channel_to(registration: server.Registration) -> AsyncIterator[grpc.aio.Channel]:
    serving = server.new_server(a_guard())
    registration(serving)
    port = server.bind(serving, "127.0.0.1:0", None)
    await serving.start()
    try:
        async with network() as peers:
            yield peers.channel(f"127.0.0.1:{port}")
    finally:
        await serving.stop(None)


class Solver(solver_pb2_grpc.SolverServiceServicer):
    async def Solve(self, request: Any, context: Any) -> Any:  # noqa: N802  # gRPC's name
        asked = wire_question.decode_solve_question(request)
        assert asked == question.SolveQuestion(snapshot=SNAPSHOT, options=OPTIONS)
        return wire_solution.encode_solution(SOLUTION)

    async def Simulate(self, request: Any, context: Any) -> Any:  # noqa: N802  # gRPC's name
        for one in wire_question.decode_simulate_question(request).scenarios:
            answer = scenario.ScenarioAnswer(scenario=one.name, solution=SOLUTION)
            yield wire_scenario.encode_scenario_answer(answer)

    async def Consolidate(self, request: Any, context: Any) -> Any:  # noqa: N802  # gRPC's name
        asked = wire_question.decode_consolidate_question(request)
        assert asked.candidates == (CANDIDATE,)
        raise RevisionGone("not that one")

    async def Explain(self, request: Any, context: Any) -> Any:  # noqa: N802  # gRPC's name
        assert wire_question.decode_explain_question(request).subject == "n"
        raise Unsupported("this solver explains nothing")


async def test_solver() -> None:
    def add(grpc_server: grpc.aio.Server) -> None:
        solver_pb2_grpc.add_SolverServiceServicer_to_server(Solver(), grpc_server)

    reference = question.SnapshotReference(cluster_id="home", id=SNAPSHOT.id)
    async with channel_to(add) as channel:
        client = SolverClient(channel)

        asked = question.SolveQuestion(snapshot=SNAPSHOT, options=OPTIONS)
        assert await client.solve(asked) == SOLUTION
        scenarios = tuple(scenario.Scenario(name=name) for name in "ab")
        what_if = question.SimulateQuestion(snapshot=reference, scenarios=scenarios)
        answers = [answer async for answer in client.simulate(what_if)]
        assert [answer.scenario for answer in answers] == ["a", "b"]
        with pytest.raises(RevisionGone):
            await client.consolidate(
                question.ConsolidateQuestion(snapshot=reference, candidates=(CANDIDATE,))
            )
        with pytest.raises(Unsupported):
            await client.explain(
                question.ExplainQuestion(
                    snapshot=reference, subject_kind=question.SubjectKind.NODE, subject="n"
                )
            )


class Lifecycle(lifecycle_pb2_grpc.LifecycleServiceServicer):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def ApplyPlan(self, request: Any, context: Any) -> Any:  # noqa: N802  # gRPC's name
        self.seen.append(wire_execution.decode_apply_request(request))
        created = execution.CreatedClaim(index=0, name="c", uid="u")
        return wire_execution.encode_apply_result(execution.ApplyResult(created=(created,)))

    async def ExecuteCommand(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        self.seen.append(wire_execution.decode_command_request(request))
        return wire_execution.encode_replacements(("r",))

    async def WatchCommands(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        for state in (execution.CommandState.WAITING, execution.CommandState.DONE):
            yield wire_execution.encode_command_progress(
                execution.CommandProgress(command_id="x", state=state, changed_at=NOW)
            )

    async def ReportDecisions(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        self.seen.append(wire_execution.decode_decision_report(request))
        return lifecycle_pb2.ReportDecisionsResponse()

    async def Evict(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        self.seen.append(wire_execution.decode_eviction(request))
        return lifecycle_pb2.EvictResponse()


async def test_lifecycle() -> None:
    servicer = Lifecycle()

    def add(grpc_server: grpc.aio.Server) -> None:
        lifecycle_pb2_grpc.add_LifecycleServiceServicer_to_server(servicer, grpc_server)

    apply = execution.ApplyRequest(
        plan_id="p", snapshot=SNAPSHOT.id, plan=plan.Plan(), decided_at=NOW
    )
    command = execution.CommandRequest(snapshot=SNAPSHOT.id, command=COMMAND)
    report = execution.DecisionReport(
        snapshot=SNAPSHOT.id, decisions=(plan.Decision(node="n", candidate=True),)
    )
    eviction = execution.Eviction(namespace="n", name="p", uid="u", reason="drain")
    async with channel_to(add) as channel:
        client = LifecycleClient(channel)

        assert (await client.apply_plan(apply)).created[0].name == "c"
        assert await client.execute_command(command) == ("r",)
        states = [progress.state async for progress in client.watch_commands()]
        await client.report_decisions(report)
        await client.evict(eviction)

    assert states == [execution.CommandState.WAITING, execution.CommandState.DONE]
    assert servicer.seen == [apply, command, report, eviction]


class Provider(provider_pb2_grpc.CloudProviderServiceServicer):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def GetCapabilities(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        return wire_provider.encode_capabilities(
            provider.Capabilities(name="kwok", group="g", kind="k")
        )

    async def ResolveNodeClass(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        asked = node_class.decode_node_class(request.node_class)
        return wire_provider.encode_resolved_node_class(
            provider.ResolvedNodeClass(status=dict(asked.spec), hash="h")
        )

    async def ReleaseNodeClass(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        self.seen.append(node_class.decode_node_class(request.node_class))
        return provider_pb2.ReleaseNodeClassResponse()

    async def ListInstanceTypes(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        return wire_provider.encode_instance_type_listing(
            provider.InstanceTypeListing(etag="2", not_modified=request.if_none_match == "2")
        )

    async def Create(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        self.seen.append(launch.decode_launch_batch(request))
        failure = provider.LaunchFailure(kind=provider.LaunchFailureKind.INSUFFICIENT_CAPACITY)
        return launch.encode_launch_outcomes(
            (
                provider.LaunchOutcome(nodeclaim="b", result=failure),
                provider.LaunchOutcome(nodeclaim="a", result=INSTANCE),
            )
        )

    async def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        raise NotFound(f"instance {request.provider_id} of {request.nodeclaim} is gone")

    async def Get(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        return provider_pb2.GetResponse(instance=launch.encode_instance(INSTANCE))

    async def List(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        return launch.encode_instances((INSTANCE,))

    async def IsDrifted(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        return provider_pb2.IsDriftedResponse(reason="Image" if request.hash == "old" else "")

    async def WatchEvents(self, requests: Any, context: Any) -> Any:  # noqa: N802  # as above
        async for request in requests:
            self.seen.append(tuple(request.acknowledged))
            if request.acknowledged:
                return
            yield wire_provider.encode_provider_event(EVENT)


@contextlib.asynccontextmanager
async def a_provider() -> AsyncIterator[tuple[ProviderClient, Provider]]:
    servicer = Provider()

    def add(grpc_server: grpc.aio.Server) -> None:
        provider_pb2_grpc.add_CloudProviderServiceServicer_to_server(servicer, grpc_server)

    async with channel_to(add) as channel:
        yield ProviderClient(channel), servicer


async def test_provider_classes_and_types() -> None:
    async with a_provider() as (client, servicer):
        assert (await client.get_capabilities()).name == "kwok"
        assert (await client.resolve_node_class(NODE_CLASS)).status == NODE_CLASS.spec
        await client.release_node_class(NODE_CLASS)
        assert not (await client.list_instance_types(NODE_CLASS)).not_modified
        assert (await client.list_instance_types(NODE_CLASS, if_none_match="2")).not_modified

    assert servicer.seen == [NODE_CLASS]


async def test_provider_instances() -> None:
    spec = provider.LaunchSpec(node_class=NODE_CLASS, requirements=ANYTHING, requests=NOTHING)
    claims = tuple(provider.ClaimLaunch(name=name, uid=f"uid-{name}") for name in "ab")
    batch = provider.LaunchBatch(batch_id="1", spec=spec, claims=claims)
    async with a_provider() as (client, servicer):
        outcomes = await client.create(batch)

        assert [outcome.nodeclaim for outcome in outcomes] == ["a", "b"]
        assert await client.get("kwok://1") == INSTANCE
        assert await client.list() == (INSTANCE,)
        assert await client.is_drifted("kwok://1", NODE_CLASS, drift_hash="old") == "Image"
        assert await client.is_drifted("kwok://1", NODE_CLASS) == ""
        with pytest.raises(NotFound, match="kwok://1 of a is gone"):
            await client.delete("kwok://1", nodeclaim="a")

    assert servicer.seen == [batch]


async def test_provider_events_are_acknowledged_one_by_one() -> None:
    async with a_provider() as (client, servicer), client.watch_events() as stream:
        received = []
        async for event in stream:
            received.append(event)
            await stream.acknowledge(event.id)

    assert received == [EVENT]
    assert servicer.seen == [(), ("e",)]


class Disruption(disruption_pb2_grpc.DisruptionServiceServicer):
    async def ListDecisions(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        decisions = tuple(plan.Decision(node=node) for node in request.nodes)
        sent = execution.SentCommand(command=COMMAND, sent_at=NOW)
        return wire_disruption.encode_decision_list(
            execution.DecisionList(snapshot=SNAPSHOT.id, decisions=decisions, commands=(sent,))
        )


async def test_disruption() -> None:
    def add(grpc_server: grpc.aio.Server) -> None:
        disruption_pb2_grpc.add_DisruptionServiceServicer_to_server(Disruption(), grpc_server)

    async with channel_to(add) as channel:
        decisions = await DisruptionClient(channel).list_decisions(["n"])

    assert decisions.decisions == (plan.Decision(node="n"),)
    assert decisions.commands[0].command == COMMAND


class Watcher(watcher_pb2_grpc.WatcherServiceServicer):
    async def GetSnapshot(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        return watcher.encode_recorded_question(SNAPSHOT, OPTIONS if request.plan_id else None)


async def test_watcher() -> None:
    def add(grpc_server: grpc.aio.Server) -> None:
        watcher_pb2_grpc.add_WatcherServiceServicer_to_server(Watcher(), grpc_server)

    async with channel_to(add) as channel:
        client = WatcherClient(channel)

        assert await client.get_snapshot() == question.SolveQuestion(snapshot=SNAPSHOT)
        assert (await client.get_snapshot("p")).options == OPTIONS
