"""The real watcher among stand-ins: an API server in memory, the solver's core, a small lifecycle.

Everything runs in one process on simulated time and talks gRPC in memory.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import grpc
from joiner.lifecycle.v1 import lifecycle_pb2 as lifecycle_pb
from joiner.lifecycle.v1 import lifecycle_pb2_grpc
from joiner.snapshot.v1.snapshot_pb2_grpc import add_SnapshotSinkServiceServicer_to_server
from joiner.solver.v1 import solver_pb2 as solver_pb
from joiner.solver.v1 import solver_pb2_grpc

from libs.clients.watcher import WatcherClient
from libs.domain.errors import JoinerError, StaleRevision, Unavailable
from libs.domain.execution import ApplyRequest, ApplyResult, CreatedClaim
from libs.domain.plan import PlannedNodeClaim
from libs.domain.question import SnapshotReference
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution
from libs.kube.api import JSON, KubeApi
from libs.kube.api import NODE_CLAIMS as NODE_CLAIMS_RESOURCE
from libs.runtime.app import App, Runtime
from libs.runtime.virtual import run_virtual
from libs.snapshots.holder import SnapshotHolder
from libs.snapshots.servicer import SnapshotSinkServicer
from libs.wire.execution import decode_apply_request, encode_apply_result
from libs.wire.question import decode_solve_question
from libs.wire.solution import encode_solution
from services.provider_kwok import app as kwok
from services.provider_kwok.config import Settings as KwokSettings
from services.simulator.core.api.server import ApiServer
from services.solver.core.solve import solve
from services.watcher import app as watcher
from services.watcher.config import Settings
from tests.support.memory_api import MemoryKubeApi, new_server
from tests.support.world import Running, World

SOLVER, LIFECYCLE, KWOK = "solver:1", "lifecycle:1", "kwok:1"

NODE_CLAIMS = "nodeclaims.karpenter.sh"
NODE_POOLS = "nodepools.karpenter.sh"
NODE_CLASSES = "kwoknodeclasses.karpenter.kwok.sh"

SETTINGS = Settings(
    solver_address=SOLVER,
    lifecycle_address=LIFECYCLE,
    providers={"karpenter.kwok.sh": KWOK},
)


class StandInSolver(solver_pb2_grpc.SolverServiceServicer):
    """Holds what is pushed and solves it with the real core."""

    def __init__(self, runtime: Runtime) -> None:
        self.holder = SnapshotHolder(clock=runtime.clock)
        self.solutions: list[Solution] = []
        self.failures: list[JoinerError] = []

    async def Solve(  # noqa: N802  # gRPC names the method
        self, request: solver_pb.SolveRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> solver_pb.SolveResponse:
        if self.failures:
            raise self.failures.pop(0)
        question = decode_solve_question(request)
        solution = solve(self.held(question.snapshot), question.options)
        self.solutions.append(solution)
        return encode_solution(solution)

    def held(self, source: Any) -> ClusterSnapshot:
        assert isinstance(source, SnapshotReference)
        if source.id is None:
            return self.holder.latest(source.cluster_id)
        return self.holder.revision(source.id)

    @property
    def newest(self) -> ClusterSnapshot:
        return self.holder.latest("home")


class StandInLifecycle(lifecycle_pb2_grpc.LifecycleServiceServicer):
    """Creates what it is told, and refuses plans that did not know every live claim."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self.requests: list[ApplyRequest] = []
        self.failures: list[JoinerError] = []
        self.lost_answers = 0
        """How many answers are lost from now on, after the plan was carried out."""

    async def ApplyPlan(  # noqa: N802  # gRPC names the method
        self,
        request: lifecycle_pb.ApplyPlanRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> lifecycle_pb.ApplyPlanResponse:
        if self.failures:
            raise self.failures.pop(0)
        decoded = decode_apply_request(request)
        self._check(decoded)
        self.requests.append(decoded)
        created = tuple(
            CreatedClaim(index=one.index, **self._create(decoded.plan_id, one))
            for one in decoded.plan.nodeclaims
        )
        if self.lost_answers:
            self.lost_answers -= 1
            await asyncio.Event().wait()
        return encode_apply_result(ApplyResult(created=created))

    def _check(self, request: ApplyRequest) -> None:
        live = {claim["metadata"]["uid"] for claim in self._server.direct.list(NODE_CLAIMS)}
        unknown = live - set(request.known_nodeclaim_uids)
        if unknown:
            raise StaleRevision(f"{len(unknown)} live claims are not in the plan's premise")

    def _create(self, plan_id: str, planned: PlannedNodeClaim) -> dict[str, str]:
        name = f"{planned.nodepool}-{plan_id[:8].lower()}-{planned.index}"
        made = self._server.direct.create(
            NODE_CLAIMS,
            {
                "apiVersion": "karpenter.sh/v1",
                "kind": "NodeClaim",
                "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": planned.nodepool}},
                "spec": {
                    "nodeClassRef": CLASS_REF,
                    "requirements": [
                        {
                            "key": "node.kubernetes.io/instance-type",
                            "operator": "In",
                            "values": list(planned.instance_types),
                        }
                    ],
                    "resources": {"requests": {"cpu": "1"}},
                },
            },
        )
        return {"name": name, "uid": made["metadata"]["uid"]}


CLAIMS_PATH = NODE_CLAIMS_RESOURCE.path()
CLASS_REF = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}


class BlindApi:
    """A port that shows no NodeClaims while `blind` is set, as a watch that lags does."""

    def __init__(self, api: KubeApi) -> None:
        self._api = api
        self.blind = False

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        if self.blind and path == CLAIMS_PATH:
            raise Unavailable("NodeClaims cannot be listed now")
        return await self._api.request(
            method, path, query=query, body=body, content_type=content_type
        )

    async def watch(self, path: str, *, query: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        async with contextlib.aclosing(self._api.watch(path, query=query)) as events:
            async for event in events:
                if self.blind and path == CLAIMS_PATH:
                    raise Unavailable("the watch of NodeClaims broke off")
                yield event


class Stage:
    """One scenario."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.server = new_server(world.clock)
        self.api = MemoryKubeApi(self.server)
        self.solver: StandInSolver
        self.lifecycle = StandInLifecycle(self.server)  # type: ignore[abstract]  # asked one thing

    async def start_peers(self) -> None:
        await self.start_solver()
        await self.world.start("lifecycle", self._lifecycle_app, None, LIFECYCLE)
        await self.start_provider()

    async def start_solver(self, name: str = "solver", address: str = SOLVER) -> StandInSolver:
        await self.world.start(name, self._solver_app, None, address)
        return self.solver

    async def start_provider(self) -> None:
        build = partial(_with_api, kwok.assemble, self.api)
        await self.world.start("kwok", build, KwokSettings(), KWOK)

    async def start_watcher(
        self, name: str = "watcher", settings: Settings = SETTINGS, api: KubeApi | None = None
    ) -> Running:
        build = partial(_with_api, watcher.assemble, api or self.api)
        return await self.world.start(name, build, settings, f"{name}:1", identity="watcher")

    def client(self, name: str = "watcher") -> WatcherClient:
        return WatcherClient(self.world.network.seen_by("test").channel(f"{name}:1"))

    def apply_pool(self, name: str = "default") -> None:
        if self.server.direct.find(NODE_CLASSES, "default") is None:
            self.server.direct.create(
                NODE_CLASSES,
                {
                    "apiVersion": "karpenter.kwok.sh/v1alpha1",
                    "kind": "KWOKNodeClass",
                    "metadata": {"name": "default"},
                },
            )
        self.server.direct.create(
            NODE_POOLS,
            {
                "apiVersion": "karpenter.sh/v1",
                "kind": "NodePool",
                "metadata": {"name": name},
                "spec": {"template": {"spec": {"nodeClassRef": CLASS_REF, "requirements": []}}},
            },
        )
        self.set_ready(NODE_CLASSES, "default")
        self.set_ready(NODE_POOLS, name)

    def set_ready(self, kind: str, name: str) -> None:
        condition = {
            "type": "Ready",
            "status": "True",
            "reason": "Ready",
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        status = {"status": {"conditions": [condition]}}
        self.server.direct.patch(kind, name, status, subresource="status")

    def add_pod(self, name: str, cpu: str = "1", labels: Mapping[str, str] | None = None) -> None:
        """Create a pod that the scheduler has found no node for."""
        resources = {"requests": {"cpu": cpu, "memory": "1Gi"}}
        containers = [{"name": "c", "image": "i", "resources": resources}]
        self.server.direct.create(
            "pods",
            {
                "metadata": {"name": name, "namespace": "default", "labels": dict(labels or {})},
                "spec": {"containers": containers},
            },
        )
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        self.server.direct.patch(
            "pods",
            name,
            {"status": {"conditions": [condition]}},
            namespace="default",
            subresource="status",
        )

    def claims(self) -> list[str]:
        return [claim["metadata"]["name"] for claim in self.server.direct.list(NODE_CLAIMS)]

    async def passed(self, seconds: float) -> None:
        await self.world.sleep(timedelta(seconds=seconds))

    def _solver_app(self, settings: None, runtime: Runtime) -> App:
        self.solver = StandInSolver(runtime)  # type: ignore[abstract]  # asked one thing
        sink = SnapshotSinkServicer(self.solver.holder)
        return App(
            servicers=(
                partial(solver_pb2_grpc.add_SolverServiceServicer_to_server, self.solver),
                partial(add_SnapshotSinkServiceServicer_to_server, sink),
            )
        )

    def _lifecycle_app(self, settings: None, runtime: Runtime) -> App:
        add = lifecycle_pb2_grpc.add_LifecycleServiceServicer_to_server
        return App(servicers=(partial(add, self.lifecycle),))


def _with_api(assemble: Any, api: KubeApi, settings: Any, runtime: Runtime) -> App:
    app: App = assemble(settings, runtime, api)
    return app


def on_stage(play: Callable[[Stage], Awaitable[None]], *, seed: int = 0) -> None:
    """Run a scenario with solver, lifecycle and provider up, and a pool applied."""

    async def main() -> None:
        async with World(seed=seed) as world:
            stage = Stage(world)
            stage.apply_pool()
            await stage.start_peers()
            await play(stage)

    run_virtual(main(), limit=timedelta(hours=12))


def with_settings(**changes: Any) -> Settings:
    """Return the settings of the stage with some changed."""
    return replace(SETTINGS, **changes)
