"""The whole service in a world: pushed to over gRPC, elected on a lease, asked what it decided."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from joiner.lifecycle.v1 import lifecycle_pb2 as pb
from joiner.lifecycle.v1 import lifecycle_pb2_grpc

from libs.clients.disruption import DisruptionClient
from libs.clients.outbox import SnapshotOutbox
from libs.clients.pusher import SnapshotPusher
from libs.domain.blocking import BlockerKind
from libs.domain.errors import NotReady, Unsupported
from libs.runtime.app import App, Runtime
from libs.runtime.virtual import run_virtual
from services.disruption.app import assemble
from services.disruption.config import Settings
from tests.support.memory_api import MemoryKubeApi, new_server
from tests.support.world import World
from tests.unit.services.disruption.clusters import a_cluster, a_machine, a_running_pod

SETTINGS = Settings(
    watcher_identity="watcher", lifecycle_address="lifecycle:1", validation_delay=timedelta(0)
)


class FakeLifecycle(lifecycle_pb2_grpc.LifecycleServiceServicer):
    def __init__(self) -> None:
        self.leads = True
        self.commands: list[tuple[str, tuple[str, ...]]] = []
        self.reports: list[tuple[str, ...]] = []

    async def ExecuteCommand(  # noqa: N802  # gRPC names the method
        self, request: pb.ExecuteCommandRequest, context: Any
    ) -> pb.ExecuteCommandResponse:
        if not self.leads:
            raise NotReady("another replica leads")
        nodes = tuple(one.node for one in request.command.candidates)
        self.commands.append((request.command.id, nodes))
        return pb.ExecuteCommandResponse()

    async def ReportDecisions(  # noqa: N802  # gRPC names the method
        self, request: pb.ReportDecisionsRequest, context: Any
    ) -> pb.ReportDecisionsResponse:
        if not self.leads:
            raise NotReady("another replica leads")
        self.reports.append(tuple(one.node for one in request.decisions))
        return pb.ReportDecisionsResponse()

    async def ApplyPlan(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        raise Unsupported("not asked for here")

    def WatchCommands(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        raise Unsupported("not asked for here")

    async def Evict(self, request: Any, context: Any) -> Any:  # noqa: N802  # as above
        raise Unsupported("not asked for here")

    def build(self, settings: None, runtime: Runtime) -> App:
        add = lifecycle_pb2_grpc.add_LifecycleServiceServicer_to_server
        return App(servicers=(partial(add, self),))


class Stage:
    """A world with one API server, two lifecycles and a watcher that is only a pusher."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.server = new_server(world.clock)
        self.lifecycles = (FakeLifecycle(), FakeLifecycle())
        self.lifecycles[0].leads = False
        self.outboxes: dict[str, SnapshotOutbox] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        for number, lifecycle in enumerate(self.lifecycles):
            name = f"lifecycle-{number}"
            await self.world.start(name, lifecycle.build, None, f"10.0.0.{number}:1")
        self.world.network.name("lifecycle:1", ("10.0.0.0:1", "10.0.0.1:1"))

    async def start(self, name: str) -> None:
        api = MemoryKubeApi(self.server, agent=name)
        build = partial(_assemble, api)
        await self.world.start(name, build, SETTINGS, f"{name}:1", sever=api.cut)
        outbox = self.outboxes[name] = SnapshotOutbox()
        watcher = await self._watcher()
        pusher = SnapshotPusher(
            watcher.network.channel(f"{name}:1"),
            outbox,
            clock=watcher.clock,
            backoff=watcher.backoff(),
        )
        self._tasks.append(asyncio.create_task(pusher.run(), name=f"push to {name}"))

    def put(self, *machines: Any, **override: Any) -> None:
        for outbox in self.outboxes.values():
            outbox.put(a_cluster(*machines, **override))

    def client(self, name: str) -> DisruptionClient:
        return DisruptionClient(self.world.network.seen_by("tool").channel(f"{name}:1"))

    def end(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _watcher(self) -> Runtime:
        if "watcher" not in self.world.services:
            await self.world.start("watcher", lambda _, __: App(), None, "watcher:1")
        return self.world.services["watcher"].runtime


def _assemble(api: MemoryKubeApi, settings: Settings, runtime: Runtime) -> App:
    return assemble(settings, runtime, api)


def run(scenario: Callable[[Stage], Awaitable[None]]) -> None:
    async def main() -> None:
        async with World(seed=7) as world:
            stage = Stage(world)
            await stage.begin()
            try:
                await scenario(stage)
            finally:
                stage.end()

    run_virtual(main())


def test_an_empty_node_is_taken_from_push_to_command() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.start("disruption")
        stage.put(a_machine("a"), a_machine("b"), pods=[a_running_pod(node="node-b")])
        await stage.world.sleep(timedelta(seconds=40))

        ((command_id, nodes),) = stage.lifecycles[1].commands
        assert nodes == ("node-a",)
        assert stage.lifecycles[1].reports[0] == ("node-a", "node-b")
        found = await stage.client("disruption").list_decisions()
        assert [one.command.id for one in found.commands] == [command_id]
        assert found.decisions[0].command_id == command_id
        assert [one.kind for one in found.decisions[1].blockers] == [BlockerKind.NOT_EMPTY]
        health = stage.world.services["disruption"].runtime.health
        assert health.serving("snapshot/home")

    run(scenario)


def test_decisions_of_named_nodes_only() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.start("disruption")
        stage.put(a_machine("a"), a_machine("b"))
        await stage.world.sleep(timedelta(seconds=1))

        found = await stage.client("disruption").list_decisions(["node-b", "node-z"])

        assert [one.node for one in found.decisions] == ["node-b"]

    run(scenario)


def test_without_a_snapshot_it_is_not_ready() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.start("disruption")

        with pytest.raises(NotReady, match="no snapshot of cluster 'home'"):
            await stage.client("disruption").list_decisions()

    run(scenario)


def test_of_two_replicas_one_acts_and_the_other_takes_over() -> None:
    async def scenario(stage: Stage) -> None:
        await stage.start("one")
        await stage.start("two")
        stage.put(a_machine("a"))
        await stage.world.sleep(timedelta(seconds=60))
        assert [nodes for _, nodes in stage.lifecycles[1].commands] == [("node-a",)]

        await stage.world.kill("one")
        stage.put(a_machine("b"), revision=2)
        await stage.world.sleep(timedelta(seconds=90))

        assert [nodes for _, nodes in stage.lifecycles[1].commands] == [("node-a",), ("node-b",)]

    run(scenario)


def test_lifecycle_down_delays_commands_and_loses_none() -> None:
    async def scenario(stage: Stage) -> None:
        stage.lifecycles[1].leads = False
        await stage.start("disruption")
        stage.put(a_machine("a"))
        await stage.world.sleep(timedelta(seconds=60))
        assert stage.lifecycles[1].commands == []

        stage.lifecycles[1].leads = True
        await stage.world.sleep(timedelta(seconds=15))

        assert [nodes for _, nodes in stage.lifecycles[1].commands] == [("node-a",)]
        assert len(stage.lifecycles[1].reports) >= 1

    run(scenario)
