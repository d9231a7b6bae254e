"""A cluster for lifecycle's tests: API server, fake cloud, lifecycle itself, simulated time."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

from libs.clients.lifecycle import LifecycleClient
from libs.domain.errors import NotFound, NotReady, Unavailable
from libs.domain.execution import ApplyRequest, CommandRequest, DecisionReport
from libs.domain.nodepool import DisruptionReason
from libs.domain.plan import Candidate, Command, LaunchOption, Plan, PlannedNodeClaim
from libs.domain.provider import (
    Capabilities,
    Instance,
    LaunchBatch,
    LaunchOutcome,
    NodeClass,
    ResolvedNodeClass,
)
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.snapshot import Epoch, SnapshotId
from libs.kube.api import JSON
from libs.runtime.app import App, Runtime
from libs.runtime.virtual import run_virtual
from services.lifecycle.app import assemble_with
from services.lifecycle.config import Settings
from tests.support.memory_api import MUTATIONS, MemoryKubeApi, new_server
from tests.support.world import World
from tests.unit.services.lifecycle.fake_cloud import GROUP, FakeCloud

ADDRESS = "lifecycle:1"
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)

T = TypeVar("T")

CLAIMS = "nodeclaims.karpenter.sh"
POOLS = "nodepools.karpenter.sh"
CLASSES = "kwoknodeclasses.karpenter.kwok.sh"


class LifecycleCluster:
    """One cluster with one lifecycle."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.server = new_server(world.clock)
        self.cloud = FakeCloud(self.server, world.clock.now)
        self.connect(ADDRESS)
        self.transitions = 1
        self.mutations = 0
        self.dead = False
        """Whether the process has come to its end and is to be restarted."""
        self._kill_at = 0
        self._apis: list[MemoryKubeApi] = []

    def connect(self, address: str) -> None:
        """Send plans and commands there from now on."""
        self.client = LifecycleClient(self.world.network.seen_by("watcher").channel(address))

    def cut(self, cut: bool = True) -> None:
        """Take the API server away from every process, or bring it back."""
        for api in self._apis:
            api.cut(cut)

    def create(self, resource: str, document: dict[str, Any]) -> dict[str, Any]:
        return dict(self.server.direct.create(resource, document))

    def get(self, resource: str, name: str, namespace: str = "") -> dict[str, Any]:
        return dict(self.server.direct.get(resource, name, namespace))

    def all(self, resource: str) -> list[dict[str, Any]]:
        return [dict(one) for one in self.server.direct.list(resource)]

    def add_pool(self, name: str = "default", **spec: Any) -> None:
        self.create(POOLS, a_pool(name, **spec))

    def add_class(self, name: str = "default") -> None:
        self.create(
            CLASSES,
            {
                "apiVersion": f"{GROUP}/v1alpha1",
                "kind": "KWOKNodeClass",
                "metadata": {"name": name},
                "spec": {},
            },
        )

    def add_pod(self, name: str, node: str = "", **metadata: Any) -> str:
        pod = {
            "metadata": {"name": name, "namespace": "default", **metadata},
            "spec": {"containers": [{"name": "c", "image": "i"}], "nodeName": node or None},
        }
        created = self.create("pods", pod)
        if node:
            ready = [{"type": "Ready", "status": "True"}]
            status = {"status": {"phase": "Running", "conditions": ready}}
            self.server.direct.patch("pods", name, status, "default", subresource="status")
        return str(created["metadata"]["uid"])

    def claim(self) -> dict[str, Any]:
        """Return the only claim."""
        (claim,) = self.all(CLAIMS)
        return claim

    def condition(self, claim: dict[str, Any], kind: str) -> dict[str, Any]:
        stored = (claim.get("status") or {}).get("conditions") or []
        return next((dict(one) for one in stored if one["type"] == kind), {})

    def is_true(self, kind: str) -> bool:
        claims = self.all(CLAIMS)
        return bool(claims) and all(
            self.condition(claim, kind).get("status") == "True" for claim in claims
        )

    def events(self, reason: str) -> list[dict[str, Any]]:
        return [one for one in self.all("events") if one["reason"] == reason]

    def snapshot(self, revision: int = 1) -> SnapshotId:
        epoch = Epoch(lease_transitions=self.transitions, boot_id="watcher")
        return SnapshotId(cluster_id="home", epoch=epoch, revision=revision)

    def known(self) -> tuple[str, ...]:
        return tuple(sorted(one["metadata"]["uid"] for one in self.all(CLAIMS)))

    def plan(
        self, *pods: str, plan_id: str = "plan-1", known: tuple[str, ...] | None = None
    ) -> ApplyRequest:
        """Return a plan with one claim for these pods; without pods one that does nothing."""
        return ApplyRequest(
            plan_id=plan_id,
            snapshot=self.snapshot(),
            known_nodeclaim_uids=self.known() if known is None else known,
            plan=Plan(nodeclaims=(self.planned(*pods),)) if pods else Plan(),
            decided_at=self.world.clock.now(),
        )

    def with_plan(self, request: ApplyRequest, plan: Plan) -> ApplyRequest:
        return replace(request, plan=plan)

    def set_template(self, **spec: Any) -> None:
        self.server.direct.patch(POOLS, "default", {"spec": {"template": {"spec": spec}}})

    def set_budget(self, nodes: str) -> None:
        budgets = {"disruption": {"budgets": [{"nodes": nodes}]}}
        self.server.direct.patch(POOLS, "default", {"spec": budgets})

    def set_ready(self, node: str, status: str) -> None:
        conditions = [{"type": "Ready", "status": status, "reason": "Test"}]
        change = {"status": {"conditions": conditions}}
        self.server.direct.patch("nodes", node, change, subresource="status")

    def add_pdb(self, name: str, app: str, **spec: Any) -> None:
        """Add a budget that allows nothing: nobody computes its status here."""
        self.create(
            "poddisruptionbudgets.policy",
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": name, "namespace": "default"},
                "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
            },
        )

    def add_karpenter_lease(self) -> None:
        now = self.world.clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        self.create(
            "leases.coordination.k8s.io",
            {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": "karpenter-leader-election", "namespace": "kube-system"},
                "spec": {
                    "holderIdentity": "karpenter-1",
                    "leaseDurationSeconds": 15,
                    "renewTime": now,
                },
            },
        )

    def planned(self, *pods: str, index: int = 0, pool: str = "default") -> PlannedNodeClaim:
        stored = self.get(POOLS, pool)["metadata"]
        types = Requirement.of("node.kubernetes.io/instance-type", Operator.IN, ("m-4x",))
        return PlannedNodeClaim(
            index=index,
            nodepool=pool,
            nodepool_uid=stored["uid"],
            nodepool_hash=stored.get("annotations", {}).get("karpenter.sh/nodepool-hash", ""),
            requirements=Requirements((types,)),
            requests=Resources({"cpu": 1000}),
            instance_types=("m-4x",),
            cheapest=LaunchOption(
                instance_type="m-4x",
                zone="zone-a",
                capacity_type="on-demand",
                price_nanos_per_hour=1,
            ),
            pod_uids=pods,
        )

    def command(
        self, *claims: str, command_id: str = "command-1", replacements: int = 0, **of: Any
    ) -> CommandRequest:
        """Return a command to disrupt the nodes of these claims."""
        candidates = []
        for name in claims:
            claim = self.get(CLAIMS, name)
            candidates.append(
                Candidate(
                    nodeclaim=name,
                    nodeclaim_uid=claim["metadata"]["uid"],
                    node=claim["status"]["nodeName"],
                    nodepool="default",
                    **of,
                )
            )
        return CommandRequest(
            snapshot=self.snapshot(),
            command=Command(
                id=command_id,
                reason=DisruptionReason.EMPTY,
                candidates=tuple(candidates),
                replacements=tuple(self.planned(index=index) for index in range(replacements)),
            ),
            known_nodeclaim_uids=self.known(),
        )

    async def start(self, name: str = "lifecycle", address: str = ADDRESS) -> None:
        """Start lifecycle and wait until it takes plans."""
        await self.world.start(name, self._build, Settings(), address)
        await self.until_admitting()
        await self.until(self._pools_judged, within=MINUTE)

    async def start_second(self, address: str) -> None:
        """Start another process beside the first."""
        await self.world.start("second", self._build, Settings(), address)

    async def restart(self) -> None:
        """Kill lifecycle where it stands and start another process."""
        await self.kill()
        await self.start()

    async def kill(self, name: str = "lifecycle") -> None:
        await self.world.kill(name)

    async def until(
        self, condition: Callable[[], bool], within: timedelta = timedelta(minutes=10)
    ) -> None:
        await self.world.until(condition, within=within, every=timedelta(milliseconds=250))

    async def node_ready(self) -> None:
        """Apply a plan for one pod and wait until its node is initialized."""
        await self.client.apply_plan(self.plan(self.add_pod("waiting")))
        await self.until(lambda: self.is_true("Initialized"))

    def kill_at(self, number: int) -> None:
        """Let the process end at its mutation of that number, 0: never; counted from now.

        Nothing that it does from there on has an effect.
        """
        self.mutations, self._kill_at = 0, number

    def settled(self) -> bool:
        """Tell whether no command is under way and every node is free of marks."""
        claims = self.all(CLAIMS)
        return (
            len(claims) >= 1
            and self.is_true("Initialized")
            and not any("deletionTimestamp" in one["metadata"] for one in claims)
            and not any("joiner.io/command" in one["metadata"]["annotations"] for one in claims)
            and not any(node["spec"].get("taints") for node in self.all("nodes"))
        )

    def _build(self, settings: Settings, runtime: Runtime) -> App:
        self.dead = False
        life = _Life(self)
        self._apis.append(MemoryKubeApi(self.server))
        api = MortalKubeApi(self._apis[-1], life)
        return assemble_with(settings, runtime, api, {GROUP: MortalCloud(self.cloud, life)})

    def begin_mutation(self, life: "_Life") -> None:
        """Count one mutation of a process; at the one that is set the process ends."""
        self.mutations += 1
        if self.mutations == self._kill_at:
            self.dead = life.over = True
        life.require()

    def _pools_judged(self) -> bool:
        return all(self.condition(one, "Ready").get("status") for one in self.all(POOLS))

    async def until_admitting(self) -> None:
        async with asyncio.timeout(MINUTE.total_seconds()):
            while True:
                try:
                    await self.client.report_decisions(DecisionReport(snapshot=self.snapshot()))
                except (NotReady, Unavailable):
                    await self.world.sleep(SECOND / 4)
                else:
                    return


class _Life:
    """Whether a process still has any effect."""

    def __init__(self, cluster: LifecycleCluster) -> None:
        self._cluster = cluster
        self.over = False

    async def mutate(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do a mutation, unless this is where the process ends."""
        self.require()
        self._cluster.begin_mutation(self)
        return await work()

    def require(self) -> None:
        if self.over:
            raise Unavailable("this process is dead")


class MortalKubeApi:
    """The port to Kubernetes of a process that may end at any of its mutations."""

    def __init__(self, api: MemoryKubeApi, life: _Life) -> None:
        self._api = api
        self._life = life

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        async def send() -> bytes:
            return await self._api.request(
                method, path, query=query, body=body, content_type=content_type
            )

        if method in MUTATIONS and "/leases" not in path and "/events" not in path:
            return await self._life.mutate(send)
        self._life.require()
        return await send()

    def watch(self, path: str, *, query: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        return self._api.watch(path, query=query)


class MortalCloud:
    """The cloud as such a process sees it."""

    def __init__(self, cloud: FakeCloud, life: _Life) -> None:
        self._cloud = cloud
        self._life = life

    async def get_capabilities(self) -> Capabilities:
        return await self._cloud.get_capabilities()

    async def resolve_node_class(self, node_class: NodeClass) -> ResolvedNodeClass:
        self._life.require()
        return await self._cloud.resolve_node_class(node_class)

    async def release_node_class(self, node_class: NodeClass) -> None:
        self._life.require()
        await self._cloud.release_node_class(node_class)

    async def create(self, batch: LaunchBatch) -> tuple[LaunchOutcome, ...]:
        return await self._life.mutate(lambda: self._cloud.create(batch))

    async def delete(self, provider_id: str, *, nodeclaim: str = "") -> None:
        if provider_id not in self._cloud.instances:
            raise NotFound(provider_id)
        await self._life.mutate(lambda: self._cloud.delete(provider_id, nodeclaim=nodeclaim))

    async def get(self, provider_id: str) -> Instance:
        return await self._cloud.get(provider_id)

    async def list(self) -> tuple[Instance, ...]:
        return await self._cloud.list()


@contextlib.asynccontextmanager
async def a_cluster() -> AsyncIterator[LifecycleCluster]:
    """Yield a cluster with one pool and its class; lifecycle is not started yet."""
    async with World(seed=1) as world:
        cluster = LifecycleCluster(world)
        cluster.add_class()
        cluster.add_pool()
        kubelet = asyncio.create_task(_let_pods_go(cluster), name="kubelet")
        try:
            yield cluster
        finally:
            kubelet.cancel()


async def _let_pods_go(cluster: LifecycleCluster) -> None:
    """Play the kubelets: a pod that is asked to leave is gone within a second."""
    api = MemoryKubeApi(cluster.server)
    while True:
        await cluster.world.clock.sleep(SECOND)
        for pod in cluster.all("pods"):
            if "deletionTimestamp" in pod["metadata"]:
                path = f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}"
                body = json.dumps({"gracePeriodSeconds": 0}).encode()
                await api.request("DELETE", path, body=body)


def a_pool(name: str = "default", **spec: Any) -> dict[str, Any]:
    template = {
        "spec": {
            "requirements": [],
            "nodeClassRef": {"group": GROUP, "kind": "KWOKNodeClass", "name": "default"},
        }
    }
    disruption = {"budgets": [{"nodes": "100%"}]}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": template, "disruption": disruption, **spec},
    }


def in_a_cluster(scenario: Callable[[LifecycleCluster], Awaitable[None]]) -> None:
    """Run a scenario on a cluster whose lifecycle takes plans, in simulated time."""

    async def run() -> None:
        async with a_cluster() as cluster:
            await cluster.start()
            await scenario(cluster)

    run_virtual(run(), limit=timedelta(hours=5))
