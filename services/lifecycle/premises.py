"""`Premises`: what the predicates of admission read, gathered from the cache at one instant."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from libs.domain.errors import Unavailable
from libs.domain.nodeclaim import ConditionType
from libs.domain.nodepool import DisruptionReason, NodePool
from libs.domain.plan import Candidate, Command, Nomination, PlannedNodeClaim
from libs.domain.reason import TargetKind
from libs.domain.resources import Resources
from libs.kube.convert.nodepool import nodepool_class
from libs.kube.objects.karpenter import NodeClaim
from libs.kube.objects.pod import Pod
from libs.runtime.clock import Clock
from services.lifecycle.access import Access
from services.lifecycle.adapters.pool_reader import PoolReader
from services.lifecycle.core import evictable
from services.lifecycle.core.admission import (
    CreatePremise,
    DisruptPremise,
    NominatePremise,
    PoolBudget,
)
from services.lifecycle.core.claim_states import is_true
from services.lifecycle.core.commands import command_of
from services.lifecycle.core.initialization import is_ready
from services.lifecycle.core.pools import class_refusal, usage
from services.lifecycle.core.virtual_pods import is_virtual
from services.lifecycle.pools import class_of_pool


class Nominations:
    """Until when nodes and claims are expected to get pods; in memory, for one window."""

    def __init__(self, clock: Clock, window: timedelta) -> None:
        self.window = window
        self._clock = clock
        self._until: dict[str, datetime] = {}

    def nominate(self, target: str) -> None:
        """Begin or prolong the window of a node or claim."""
        now = self._clock.now()
        self._until = {name: until for name, until in self._until.items() if until > now}
        self._until[target] = now + self.window

    def until(self, *targets: str) -> datetime | None:
        """Return the latest end of a window of one thing that has several names."""
        return max((self._until[name] for name in targets if name in self._until), default=None)


class Premises:
    """Gathers premises; each is true at the instant of the call."""

    def __init__(self, access: Access, nominations: Nominations) -> None:
        self.nominations = nominations
        self._cache = access.cache
        self._providers = access.providers
        self._clock = access.clock
        self._pools = PoolReader()

    def to_create(self, planned: PlannedNodeClaim, taken: Resources) -> CreatePremise:
        """Return the premise of a plan's claim; `taken`: what the plan's claims before it use."""
        used = usage(self._cache.claims_of(planned.nodepool)).add(taken)
        return CreatePremise(
            planned=planned,
            pool=self.pool(planned.nodepool),
            usage=used,
            waiting=tuple(uid for uid in planned.pod_uids if self._waits(uid)),
        )

    def to_replace(self, planned: PlannedNodeClaim, command: Command) -> CreatePremise:
        """Return the premise of a replacement: its candidates' room counts as free."""
        leaving = {candidate.nodeclaim for candidate in command.candidates}
        staying = (
            claim
            for claim in self._cache.claims_of(planned.nodepool)
            if claim.metadata.name not in leaving
        )
        return CreatePremise(
            planned=planned, pool=self.pool(planned.nodepool), usage=usage(staying), waiting=None
        )

    def to_nominate(self, nomination: Nomination) -> NominatePremise:
        """Return the premise of a nomination."""
        claim = self._target(nomination)
        command = command_of(claim) if claim is not None else None
        return NominatePremise(
            target=nomination.target,
            command_id=command.id if command else "",
            leaving=claim is not None and claim.metadata.deletion_timestamp is not None,
        )

    def to_disrupt(self, command: Command) -> tuple[DisruptPremise, ...]:
        """Return the premises of all candidates of a command."""
        taken = Counter(candidate.nodepool for candidate in command.candidates)
        return tuple(
            self._disrupt(candidate, command.reason, taken[candidate.nodepool])
            for candidate in command.candidates
        )

    def pool(self, name: str) -> NodePool | None:
        """Return a pool as it may be used now, None if there is none that can be read."""
        found = self._cache.pool(name)
        if found is None:
            return None
        try:
            refusal = class_refusal(class_of_pool(found, self._cache, self._providers))
        except Unavailable as error:
            refusal = ("NodeClassReadinessUnknown", str(error))
        rules = self._providers.rules(nodepool_class(found).group)
        problems = () if refusal is None else (": ".join(part for part in refusal if part),)
        return self._pools.read(found, rules, problems)

    def _waits(self, uid: str) -> bool:
        """Tell whether a pod still wants a place: unbound, or on a node that is leaving."""
        if is_virtual(uid):
            return True
        pod = self._cache.pod(uid)
        if pod is None or evictable.is_terminal(pod):
            return False
        if not pod.spec.node_name:
            return pod.metadata.deletion_timestamp is None
        node = self._cache.node(pod.spec.node_name)
        claim = self._cache.claim_of(node) if node is not None else None
        return node is None or node.metadata.deletion_timestamp is not None or _is_leaving(claim)

    def _target(self, nomination: Nomination) -> NodeClaim | None:
        if nomination.target_kind is TargetKind.NODECLAIM:
            return self._cache.claim(nomination.target)
        node = self._cache.node(nomination.target)
        return None if node is None else self._cache.claim_of(node)

    def _disrupt(
        self, candidate: Candidate, reason: DisruptionReason, taken: int
    ) -> DisruptPremise:
        claim = self._cache.claim(candidate.nodeclaim)
        command = command_of(claim) if claim is not None else None
        pods = self._cache.pods_on(candidate.node)
        now = self._clock.now()
        return DisruptPremise(
            candidate=candidate,
            claim=claim,
            command_id=command.id if command else "",
            nominated_until=self.nominations.until(candidate.node, candidate.nodeclaim),
            bound=frozenset(pod.metadata.uid for pod in pods if evictable.is_reschedulable(pod)),
            protected=self._protected(claim, pods, reason, now),
            budget=self._budget(candidate.nodepool),
            taken=taken,
            reason=reason,
            now=now,
        )

    def _protected(
        self,
        claim: NodeClaim | None,
        pods: Iterable[Pod],
        reason: DisruptionReason,
        now: datetime,
    ) -> tuple[str, ...]:
        """Return pods that may not be disrupted; drift waits for them if its end has a deadline."""
        bounded = claim is not None and claim.spec.termination_grace_period is not None
        if bounded and reason is DisruptionReason.DRIFTED:
            return ()
        return tuple(
            f"{pod.metadata.namespace}/{pod.metadata.name}"
            for pod in pods
            if not evictable.is_terminal(pod)
            and pod.metadata.deletion_timestamp is None
            and evictable.is_protected(pod, now)
        )

    def _budget(self, pool: str) -> PoolBudget:
        counted = [
            claim
            for claim in self._cache.claims_of(pool)
            if is_true(claim, ConditionType.INITIALIZED)
            and not is_true(claim, ConditionType.INSTANCE_TERMINATING)
        ]
        return PoolBudget(
            pool=self.pool(pool),
            nodes=len(counted),
            disrupting=sum(
                _is_leaving(claim) or not self._has_ready_node(claim) for claim in counted
            ),
        )

    def _has_ready_node(self, claim: NodeClaim) -> bool:
        return any(map(is_ready, self._cache.nodes_of(claim)))


def _is_leaving(claim: NodeClaim | None) -> bool:
    return claim is not None and (
        claim.metadata.deletion_timestamp is not None or command_of(claim) is not None
    )
