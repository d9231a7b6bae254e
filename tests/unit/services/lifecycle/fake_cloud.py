"""A cloud in memory whose instances become nodes of an API server; fails when it is told to."""

from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Any

from libs.domain.errors import JoinerError, NotFound, Unavailable
from libs.domain.nodeclaim import ConditionStatus
from libs.domain.provider import (
    Capabilities,
    Instance,
    LaunchBatch,
    LaunchFailure,
    LaunchOutcome,
    NodeClass,
    NodeClassCondition,
    ResolvedNodeClass,
)
from libs.domain.resources import Resources
from services.simulator.core.api.server import ApiServer

GROUP = "karpenter.kwok.sh"
CAPACITY = {"cpu": "4", "memory": "8Gi", "pods": "110"}


class FakeCloud:
    """Keeps the laws of the provider port; one instance per claim uid."""

    def __init__(self, server: ApiServer, now: Callable[[], datetime]) -> None:
        self._server = server
        self._now = now
        self.instances: dict[str, Instance] = {}
        self.launches: list[LaunchBatch] = []
        self.ended: list[str] = []
        self.next_failures: deque[LaunchFailure | JoinerError] = deque()
        """One-shot: each is the outcome of one call of create."""
        self.joins = True
        """Whether an instance gets a Node object."""
        self.away = False
        """Whether nobody answers."""

    async def get_capabilities(self) -> Capabilities:
        self._answer()
        return Capabilities(name="fake", group=GROUP, kind="KWOKNodeClass", versions=("v1alpha1",))

    async def resolve_node_class(self, node_class: NodeClass) -> ResolvedNodeClass:
        self._answer()
        ready = NodeClassCondition(type="Ready", status=ConditionStatus.TRUE, reason="Ready")
        return ResolvedNodeClass(conditions=(ready,), hash="1", hash_version="v1")

    async def release_node_class(self, node_class: NodeClass) -> None:
        """Nothing to free."""

    async def create(self, batch: LaunchBatch) -> tuple[LaunchOutcome, ...]:
        self._answer()
        self.launches.append(batch)
        if self.next_failures:
            failure = self.next_failures.popleft()
            if isinstance(failure, JoinerError):
                raise failure
            return tuple(LaunchOutcome(nodeclaim=one.name, result=failure) for one in batch.claims)
        return tuple(
            LaunchOutcome(nodeclaim=one.name, result=self._launch(batch, one.name, one.uid))
            for one in batch.claims
        )

    async def delete(self, provider_id: str, *, nodeclaim: str = "") -> None:
        if provider_id not in self.instances:
            raise NotFound(provider_id)
        del self.instances[provider_id]
        self.ended.append(provider_id)

    async def get(self, provider_id: str) -> Instance:
        if provider_id not in self.instances:
            raise NotFound(provider_id)
        return self.instances[provider_id]

    async def list(self) -> tuple[Instance, ...]:
        return tuple(self.instances[name] for name in sorted(self.instances))

    def leak(self) -> str:
        """Have an instance that nobody asked for; return its id."""
        instance = Instance(
            provider_id="fake://leaked",
            nodeclaim="gone",
            nodeclaim_uid="gone",
            capacity=Resources.from_allocatable(CAPACITY),
            allocatable=Resources.from_allocatable(CAPACITY),
            launched_at=self._now(),
        )
        self.instances[instance.provider_id] = instance
        return instance.provider_id

    def join_all(self) -> None:
        """Let the nodes of all instances join that have not."""
        joined = {node["spec"].get("providerID") for node in self._server.direct.list("nodes")}
        for instance in tuple(self.instances.values()):
            if instance.provider_id not in joined:
                self._join(f"node-{instance.nodeclaim}", instance)

    def _answer(self) -> None:
        if self.away:
            raise Unavailable("nobody answers")

    def _launch(self, batch: LaunchBatch, name: str, uid: str) -> Instance:
        provider_id = f"fake://{uid}"
        known = self.instances.get(provider_id)
        if known is not None:
            return known
        labels = {
            **dict(batch.spec.labels),
            "topology.kubernetes.io/zone": "zone-a",
            "karpenter.sh/capacity-type": "on-demand",
            "node.kubernetes.io/instance-type": "m-4x",
        }
        instance = Instance(
            provider_id=provider_id,
            nodeclaim=name,
            nodeclaim_uid=uid,
            image_id="image-1",
            labels=tuple(sorted(labels.items())),
            capacity=Resources.from_allocatable(CAPACITY),
            allocatable=Resources.from_allocatable(CAPACITY),
            launched_at=self._now(),
        )
        self.instances[provider_id] = instance
        if self.joins:
            self._join(f"node-{name}", instance)
        return instance

    def _join(self, name: str, instance: Instance) -> None:
        node: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": dict(instance.labels)},
            "spec": {
                "providerID": instance.provider_id,
                "taints": [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}],
            },
            "status": {
                "capacity": CAPACITY,
                "allocatable": CAPACITY,
                "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            },
        }
        direct = self._server.direct
        direct.create("nodes", node)
        stored = direct.get("nodes", name)
        direct.update("nodes", {**stored, "status": node["status"]}, subresource="status")
