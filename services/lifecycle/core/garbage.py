"""Garbage: instances without a claim, and claims whose instance is gone; found without haste.

Laws: nothing is judged on one list; two complete lists in a row must agree. A list that lost over
half of what the one before had stops everything; what claims do not hold to any more may go. One
pass ends at most one claim in ten of a pool, at least one, and nothing younger than the launch
timeout.

Source: `docs/sources.md` F8.2, with brakes of our own.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from libs.domain import labels as keys
from libs.domain.nodeclaim import ConditionType
from libs.domain.provider import Instance
from libs.kube.objects.karpenter import NodeClaim
from libs.kube.objects.node import Node
from services.lifecycle.core.claim_states import is_true
from services.lifecycle.core.initialization import is_ready

INTERVAL = timedelta(minutes=2)
_SHARE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class GarbageView:
    """Two lists of one provider and what Kubernetes has."""

    before: tuple[Instance, ...] | None
    """The list of the pass before; None: there was none."""
    listed: tuple[Instance, ...]
    claims: tuple[NodeClaim, ...]
    """All whose class is the provider's."""
    nodes: Mapping[str, Node]
    """By provider id."""
    launch_timeout: timedelta
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Garbage:
    """What one pass ends."""

    instances: tuple[Instance, ...] = ()
    claims: tuple[NodeClaim, ...] = ()
    problem: str = ""
    """Why nothing is judged at all."""


def collect(view: GarbageView) -> Garbage:
    """Return what is to be ended now."""
    if view.before is None:
        return Garbage()
    expected = _held(view.claims) & {one.provider_id for one in view.before}
    there = expected & {one.provider_id for one in view.listed}
    if 2 * len(there) < len(expected):
        return Garbage(
            problem=f"the provider listed {len(there)} instances of claims, {len(expected)} before"
        )
    return Garbage(instances=_leaked(view), claims=_orphaned(view))


def _held(claims: Iterable[NodeClaim]) -> set[str]:
    return {claim.status.provider_id for claim in claims if not claim.metadata.deletion_timestamp}


def _leaked(view: GarbageView) -> tuple[Instance, ...]:
    """Return instances that no claim knows; one that bears a live claim's uid is being launched."""
    before = {one.provider_id for one in view.before or ()}
    owned = {claim.status.provider_id for claim in view.claims}
    uids = {claim.metadata.uid for claim in view.claims}
    found = [
        one
        for one in view.listed
        if one.provider_id in before
        and one.provider_id not in owned
        and one.nodeclaim
        and one.nodeclaim_uid not in uids
        and not one.terminating
        and view.now - one.launched_at > view.launch_timeout
    ]
    return tuple(found[: _most(len(view.listed))])


def _orphaned(view: GarbageView) -> tuple[NodeClaim, ...]:
    """Return registered claims whose instance was in neither list and whose node is not ready."""
    there = {one.provider_id for one in (*view.listed, *(view.before or ())) if not one.terminating}
    by_pool: dict[str, list[NodeClaim]] = defaultdict(list)
    for claim in view.claims:
        if _is_orphan(claim, view, there):
            by_pool[_pool(claim)].append(claim)
    sizes = _sizes(view.claims)
    return tuple(
        claim
        for pool in sorted(by_pool)
        for claim in sorted(by_pool[pool], key=lambda one: one.metadata.name)[: _most(sizes[pool])]
    )


def _is_orphan(claim: NodeClaim, view: GarbageView, there: set[str]) -> bool:
    created = claim.metadata.creation_timestamp or view.now
    node = view.nodes.get(claim.status.provider_id)
    return (
        claim.metadata.deletion_timestamp is None
        and is_true(claim, ConditionType.REGISTERED)
        and claim.status.provider_id not in there
        and view.now - created > view.launch_timeout
        and (node is None or not is_ready(node))
    )


def _sizes(claims: Iterable[NodeClaim]) -> dict[str, int]:
    sizes: dict[str, int] = defaultdict(int)
    for claim in claims:
        sizes[_pool(claim)] += 1
    return sizes


def _pool(claim: NodeClaim) -> str:
    return claim.metadata.labels.get(keys.NODEPOOL, "")


def _most(size: int) -> int:
    return max(1, size // _SHARE)
