"""A cluster for lifecycle's tests: API server, fake cloud, lifecycle itself, simulated time."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

from libs.clients.lifecycle import LifecycleClient
from libs.domain.execution import ApplyRequest, CommandRequest
from libs.domain.nodepool import DisruptionReason
from libs.domain.plan import Candidate, Command, LaunchOption, Plan, PlannedNodeClaim
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.snapshot import Epoch, SnapshotId
from libs.kube.api import KubeApi
from libs.runtime.app import App, Runtime
from services.lifecycle.app import assemble_with
from services.lifecycle.config import Settings
from tests.support.memory_api import CountingKubeApi, MemoryKubeApi, new_server
from tests.support.world import World
from tests.unit.services.lifecycle.fake_cloud import GROUP, FakeCloud

ADDRESS = "lifecycle:1"
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)

CLAIMS = "nodeclaims.karpenter.sh"
POOLS = "nodepools.karpenter.sh"
CLASSES = "kwoknodeclasses.karpenter.kwok.sh"


class LifecycleCluster:
    """One cluster with one lifecycle."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.server = new_server(world.clock)
        self.cloud = FakeCloud(self.server, world.clock.now)
        self.client = LifecycleClient(world.network.seen_by("watcher").channel(ADDRESS))
        self.transitions = 1
        self.mutations = 0
        self.stop_before: int | None = None
        """Number of the mutation before which lifecycle is killed."""

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
        return str(self.create("pods", pod)["metadata"]["uid"])

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
        self, *pods: str, plan_id: str = "plan-1", known: tuple[str, ...] | None = None, **of: Any
    ) -> ApplyRequest:
        """Return a plan with one claim for these pods."""
        return ApplyRequest(
            plan_id=plan_id,
            snapshot=self.snapshot(),
            known_nodeclaim_uids=self.known() if known is None else known,
            plan=Plan(nodeclaims=(self.planned(*pods, **of),)),
            decided_at=self.world.clock.now(),
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
        await self.until(self._admits, within=MINUTE)

    async def kill(self, name: str = "lifecycle") -> None:
        await self.world.kill(name)

    async def until(
        self, condition: Callable[[], bool], within: timedelta = timedelta(minutes=10)
    ) -> None:
        await self.world.until(condition, within=within, every=timedelta(milliseconds=250))

    async def until_admitting(self) -> None:
        await self.until(self._admits, within=MINUTE)

    async def node_ready(self) -> None:
        """Apply a plan for one pod and wait until its node is initialized."""
        await self.client.apply_plan(self.plan(self.add_pod("waiting")))
        await self.until(lambda: self.is_true("Initialized"))

    def _build(self, settings: Settings, runtime: Runtime) -> App:
        api: KubeApi = CountingKubeApi(MemoryKubeApi(self.server), self._before)
        return assemble_with(settings, runtime, api, {GROUP: self.cloud})

    def _before(self, number: int, method: str, path: str) -> None:
        if "leases" in path or "events" in path:
            return
        self.mutations += 1
        if self.mutations == self.stop_before:
            raise Killed

    def _admits(self) -> bool:
        pools = self.all(POOLS)
        return bool(self.server.direct.list("leases.coordination.k8s.io")) and all(
            self.condition(pool, "Ready").get("status") in ("True", "False") for pool in pools
        )


class Killed(BaseException):
    """What a process does at the line where it is killed."""


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
