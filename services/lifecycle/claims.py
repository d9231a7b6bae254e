"""Looks at NodeClaims: view, step, writes, questions to the cloud, until there is nothing to do."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from libs.domain import labels as keys
from libs.domain.errors import NotFound, StaleRevision, Unavailable
from libs.domain.nodepool import NodePool
from libs.domain.provider import Instance, LaunchFailure
from libs.kube.objects.karpenter import NodeClaim
from libs.kube.objects.pod import Pod
from libs.runtime.backoff import BackoffPolicy
from services.lifecycle.access import Access
from services.lifecycle.adapters.pool_reader import PoolReader
from services.lifecycle.adapters.retries import Retries
from services.lifecycle.core import claim_step, orphan_nodes
from services.lifecycle.core.commands import command_of
from services.lifecycle.core.step import Ask
from services.lifecycle.core.view import ClaimView, Policy, Presence
from services.lifecycle.launching import Launcher
from services.lifecycle.loop import Key, TryAgainError

_MOST_ROUNDS = 20
"""A claim needs about a dozen from birth to rest; more means that two steps undo each other."""
_LAUNCH_BACKOFF = BackoffPolicy(first=timedelta(seconds=2), cap=timedelta(minutes=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """What the cloud said during one look."""

    presence: Presence = Presence.NOT_ASKED
    launched: Instance | LaunchFailure | None = None


class ClaimReconciler:
    """Brings one claim after the other to rest."""

    def __init__(self, access: Access, launcher: Launcher) -> None:
        self._cache = access.cache
        self._providers = access.providers
        self._writer = access.writer
        self._clock = access.clock
        self._launcher = launcher
        self._launches = Retries(_LAUNCH_BACKOFF, access.clock)
        self._pools = PoolReader()
        self._policy = Policy()
        self._pod_events: dict[str, datetime] = {}

    def pod_changed(self, node: str) -> None:
        """Note that a pod of a node was bound, ended or began to leave."""
        self._pod_events[node] = self._clock.now()

    def try_launches_again(self, group: str) -> None:
        """Forget how often launches failed at a provider that was away and is back."""
        for claim in self._cache.claims():
            if claim.spec.node_class_ref.group == group:
                self._launches.forget(claim.metadata.name)

    async def look(self, key: Key) -> timedelta | None:
        """Do what is to be done for one claim and return when to look again."""
        answers = _Answers()
        for _ in range(_MOST_ROUNDS):
            claim = self._cache.claim(key.name)
            if claim is None:
                self._launches.forget(key.name)
                return None
            if not self._is_ours(claim):
                return None
            step = claim_step.next_step(self._view(claim, answers), self._policy)
            if step.ask is Ask.LAUNCH and (left := self._launches.left(key.name)):
                return left
            if step.ask is not None:
                answers = await self._answer(step.ask, claim, answers)
                continue
            known = await self._writer.carry_out(step)
            if step.failed:
                return self._launches.failed(key.name)
            if not step.writes or not known:
                return step.check_after
        raise TryAgainError("the claim does not come to rest")

    def _is_ours(self, claim: NodeClaim) -> bool:
        """Tell whether a provider of ours serves the claim; others may have autoscalers too."""
        return claim.spec.node_class_ref.group in self._providers.groups()

    def _view(self, claim: NodeClaim, answers: _Answers) -> ClaimView:
        nodes = self._cache.nodes_of(claim) if claim.status.provider_id else ()
        names = [node.metadata.name for node in nodes]
        pods = tuple(pod for name in names for pod in self._cache.pods_on(name))
        return ClaimView(
            claim=claim,
            nodes=nodes,
            pods=pods,
            attachments=tuple(one for name in names for one in self._cache.attachments_of(name)),
            volume_names=self._volume_names(pods),
            pool=self._pool_of(claim),
            command=command_of(claim),
            presence=answers.presence,
            launched=answers.launched,
            pod_event_at=self._pod_event_at(claim, names),
            now=self._clock.now(),
        )

    def _pod_event_at(self, claim: NodeClaim, nodes: list[str]) -> datetime | None:
        """Return the last pod event that is not written yet; what is written is forgotten."""
        written = claim.status.last_pod_event_time
        for name in nodes:
            seen = self._pod_events.get(name)
            if seen is not None and written is not None and seen <= written:
                del self._pod_events[name]
        return max(
            (self._pod_events[name] for name in nodes if name in self._pod_events), default=None
        )

    def _pool_of(self, claim: NodeClaim) -> NodePool | None:
        pool = self._cache.pool(claim.metadata.labels.get(keys.NODEPOOL, ""))
        if pool is None:
            return None
        return self._pools.read(pool, self._providers.rules(claim.spec.node_class_ref.group))

    def _volume_names(self, pods: tuple[Pod, ...]) -> dict[tuple[str, str], str]:
        wanted = {
            (pod.metadata.namespace, volume.persistent_volume_claim.claim_name)
            for pod in pods
            for volume in pod.spec.volumes
            if volume.persistent_volume_claim is not None
        }
        return {one: self._cache.volume_name(*one) for one in wanted}

    async def _answer(self, ask: Ask, claim: NodeClaim, answers: _Answers) -> _Answers:
        match ask:
            case Ask.LAUNCH:
                return replace(answers, launched=await self._launch(claim))
            case Ask.PRESENCE:
                return replace(answers, presence=await self._presence(claim))
            case Ask.END:
                return replace(answers, presence=await self._end(claim, answers))
        raise ValueError(f"a claim does not ask {ask}")

    async def _launch(self, claim: NodeClaim) -> Instance | LaunchFailure:
        """Launch, and remember whether it went wrong: the cloud is not asked at every change."""
        try:
            launched = await self._launcher.launch(claim)
        except Unavailable:
            self._launches.failed(claim.metadata.name)
            raise
        if isinstance(launched, Instance):
            self._launches.forget(claim.metadata.name)
        return launched

    async def _presence(self, claim: NodeClaim) -> Presence:
        provider = self._providers.served(claim.spec.node_class_ref.group).provider
        try:
            await provider.get(claim.status.provider_id)
        except NotFound:
            return Presence.GONE
        return Presence.THERE

    async def _end(self, claim: NodeClaim, answers: _Answers) -> Presence:
        """Ask for the end of the claim's instance, found by its tag if the claim lost its id."""
        provider = self._providers.served(claim.spec.node_class_ref.group).provider
        provider_id = claim.status.provider_id
        if not provider_id and isinstance(answers.launched, Instance):
            provider_id = answers.launched.provider_id  # lists may not show it yet
        provider_id = provider_id or await self._tagged(claim)
        if not provider_id:
            return Presence.GONE
        try:
            await provider.delete(provider_id, nodeclaim=claim.metadata.name)
        except NotFound:
            return Presence.GONE
        return Presence.ENDING

    async def _tagged(self, claim: NodeClaim) -> str:
        provider = self._providers.served(claim.spec.node_class_ref.group).provider
        return next(
            (
                one.provider_id
                for one in await provider.list()
                if one.nodeclaim_uid == claim.metadata.uid and not one.terminating
            ),
            "",
        )


class OrphanReconciler:
    """Lets nodes go whose claim is no more: nothing else would take our finalizer off."""

    def __init__(self, access: Access) -> None:
        self._cache = access.cache
        self._writer = access.writer
        self._clock = access.clock

    async def look(self, key: Key) -> timedelta | None:
        """Do what is to be done for one node and return when to look again."""
        node = self._cache.node(key.name)
        if node is None or not orphan_nodes.is_orphan(node, self._cache.claim_of(node)):
            return None
        pods = self._cache.pods_on(node.metadata.name)
        step = orphan_nodes.next_step(node, pods, self._clock.now())
        owner = orphan_nodes.owning_claim(node)
        if owner and await self._claim_is_stored(owner):
            raise StaleRevision("the node's claim is not known yet")
        await self._writer.carry_out(step)
        return step.check_after

    async def _claim_is_stored(self, name: str) -> bool:
        try:
            await self._writer.stored_claim(name)
        except NotFound:
            return False
        return True
