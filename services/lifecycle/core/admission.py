"""The premise table: which predicates on live objects must hold before each kind of mutation.

Apart because laws 3 to 5 of the design are these lines and nothing else. A predicate returns why
the mutation may not be made, in words, or None. Revisions are never compared: a decision is judged
by what it counted on.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from libs.domain.budget import allowed_disruptions
from libs.domain.nodepool import DisruptionReason, NodePool
from libs.domain.plan import Candidate, PlannedNodeClaim
from libs.domain.resources import NODES, NOTHING, Resources
from libs.kube.objects.karpenter import NodeClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatePremise:
    """What creating a claim is judged on."""

    planned: PlannedNodeClaim
    pool: NodePool | None
    usage: Resources = NOTHING
    """Of the pool, claims in flight included, without claims that are leaving."""
    waiting: Collection[str] | None = None
    """Uids of the claim's pods that still want a place; None: nobody waits, it replaces a node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NominatePremise:
    """What nominating a node or claim is judged on."""

    target: str
    command_id: str = ""
    """Command that the target is under."""
    leaving: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolBudget:
    """A pool's nodes as its budgets count them."""

    pool: NodePool | None
    nodes: int
    """Managed and initialized, without those whose instance is ending."""
    disrupting: int
    """Not ready, leaving, or under a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisruptPremise:
    """What disrupting one node is judged on."""

    candidate: Candidate
    claim: NodeClaim | None
    command_id: str = ""
    """Command that the claim is under already."""
    nominated_until: datetime | None = None
    bound: frozenset[str] = frozenset()
    """Uids of the pods on its node that would need another place."""
    protected: tuple[str, ...] = ()
    """Pods on its node that may not be evicted now, as namespace/name."""
    budget: PoolBudget
    taken: int = 1
    """How many nodes of the pool the whole command takes."""
    reason: DisruptionReason
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictPremise:
    """What evicting one pod is judged on."""

    uid: str
    live_uid: str | None
    """Of the pod that has the name now; None: there is none."""


def pool_stands(premise: CreatePremise) -> str | None:
    """Want the pool that was planned with, not one made anew under its name."""
    planned, pool = premise.planned, premise.pool
    if pool is None:
        return f'nodepool "{planned.nodepool}" does not exist'
    if planned.nodepool_uid and pool.uid != planned.nodepool_uid:
        return f'nodepool "{pool.name}" was made anew since the decision'
    return None


def pool_is_ready(premise: CreatePremise) -> str | None:
    """Want a pool that may be used."""
    pool = premise.pool
    if pool is None or pool.ready:
        return None
    return f'nodepool "{pool.name}" is not ready: {"; ".join(pool.problems)}'


def pool_is_unchanged(premise: CreatePremise) -> str | None:
    """Want the template that was planned with."""
    planned, pool = premise.planned, premise.pool
    if pool is None or not planned.nodepool_hash or pool.hash == planned.nodepool_hash:
        return None
    return f'nodepool "{pool.name}" has changed: hash {pool.hash}, not {planned.nodepool_hash}'


def limits_hold(premise: CreatePremise) -> str | None:
    """Want room below the pool's limits for at least what the claim asks for."""
    pool = premise.pool
    if pool is None or not pool.limits:
        return None
    with_it = premise.usage.add(premise.planned.requests).add(Resources({NODES: 1}))
    for name, limit in pool.limits.items():
        if with_it.get(name) > limit:
            return (
                f'nodepool "{pool.name}" would use {with_it.get(name)} of {name}, '
                f"its limit is {limit}"
            )
    return None


def pods_still_wait(premise: CreatePremise) -> str | None:
    """Want at least one of the claim's pods to still need it."""
    if premise.waiting is None or premise.waiting:
        return None
    return f"none of the {len(premise.planned.pod_uids)} pods still waits for a node"


def target_stays(premise: NominatePremise) -> str | None:
    """Want a target that is not going."""
    if premise.command_id:
        return f'"{premise.target}" is under command "{premise.command_id}"'
    return f'"{premise.target}" is leaving' if premise.leaving else None


def claim_stands(premise: DisruptPremise) -> str | None:
    """Want the claim that was decided on, live and not under another command."""
    candidate, claim = premise.candidate, premise.claim
    if claim is None or claim.metadata.uid != candidate.nodeclaim_uid:
        return f'nodeclaim "{candidate.nodeclaim}" is not the one that was decided on'
    if claim.metadata.deletion_timestamp is not None:
        return f'nodeclaim "{candidate.nodeclaim}" is being deleted'
    if premise.command_id:
        return f'nodeclaim "{candidate.nodeclaim}" is under command "{premise.command_id}"'
    return None


def not_nominated(premise: DisruptPremise) -> str | None:
    """Want a node that no pods are expected on."""
    until = premise.nominated_until
    if until is None or until <= premise.now:
        return None
    return f'node "{premise.candidate.node}" is nominated until {until.isoformat()}'


def pods_were_counted(premise: DisruptPremise) -> str | None:
    """Want no pod on the node that the decision did not count."""
    new = sorted(premise.bound - frozenset(premise.candidate.pod_uids))
    if not new:
        return None
    return f'node "{premise.candidate.node}" got {len(new)} pods since, such as "{new[0]}"'


def pods_may_be_evicted(premise: DisruptPremise) -> str | None:
    """Want no protected pod on the node."""
    if not premise.protected:
        return None
    return f'pod "{premise.protected[0]}" on "{premise.candidate.node}" may not be disrupted'


def budget_holds(premise: DisruptPremise) -> str | None:
    """Want the pool's budgets to allow all of the command's nodes at this instant."""
    budget = premise.budget
    if budget.pool is None:
        return f'nodepool "{premise.candidate.nodepool}" does not exist'
    budgets = budget.pool.disruption.budgets
    allowed = allowed_disruptions(budgets, premise.reason, nodes=budget.nodes, now=premise.now)
    left = max(0, allowed - budget.disrupting)
    if premise.taken <= left:
        return None
    return (
        f'nodepool "{budget.pool.name}" allows {left} more disruptions for {premise.reason} now, '
        f"{premise.taken} are wanted"
    )


def same_pod(premise: EvictPremise) -> str | None:
    """Want the pod that was decided on."""
    if premise.live_uid is None or premise.live_uid == premise.uid:
        return None
    return f'the name belongs to another pod now, "{premise.live_uid}"'


CREATE: tuple[Callable[[CreatePremise], str | None], ...] = (
    pool_stands,
    pool_is_ready,
    pool_is_unchanged,
    limits_hold,
    pods_still_wait,
)
NOMINATE: tuple[Callable[[NominatePremise], str | None], ...] = (target_stays,)
DISRUPT: tuple[Callable[[DisruptPremise], str | None], ...] = (
    claim_stands,
    not_nominated,
    pods_were_counted,
    pods_may_be_evicted,
    budget_holds,
)
EVICT: tuple[Callable[[EvictPremise], str | None], ...] = (same_pod,)


def refusal_to_create(premise: CreatePremise) -> str | None:
    """Return the first predicate that fails, in words."""
    return next((why for holds in CREATE if (why := holds(premise))), None)


def refusal_to_nominate(premise: NominatePremise) -> str | None:
    """Return the first predicate that fails, in words."""
    return next((why for holds in NOMINATE if (why := holds(premise))), None)


def refusal_to_disrupt(premise: DisruptPremise) -> str | None:
    """Return the first predicate that fails, in words."""
    return next((why for holds in DISRUPT if (why := holds(premise))), None)


def refusal_to_evict(premise: EvictPremise) -> str | None:
    """Return the first predicate that fails, in words."""
    return next((why for holds in EVICT if (why := holds(premise))), None)


def unknown_claims(
    live: Iterable[NodeClaim], known_uids: Iterable[str], own_plan: Collection[str]
) -> tuple[str, ...]:
    """Return the names of live claims that a decision did not know of, sorted.

    Args:
        live: all claims that exist, from the cache or own writes.
        known_uids: what the decision's snapshot held.
        own_plan: names of claims that the decision itself makes; a repetition finds them there.
    """
    known = frozenset(known_uids)
    return tuple(
        sorted(
            claim.metadata.name
            for claim in live
            if claim.metadata.uid not in known and claim.metadata.name not in own_plan
        )
    )
