"""How long waiting pods waited until a node was bought for them.

From the first sight of a pod's Unschedulable condition to the first sight of the NodeClaim whose
node it runs on in the end. Pods whose node was there before them, or that found no node, are left
out. `after_batches` counts from the last pod of a plan instead, and takes off the quiet time that
closes a batch: what remains is the work of solver and lifecycle, and the calls in between.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from cli.run.observed import Observed

_PLAN = "joiner.io/plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """One pod, and the claim that was bought for it."""

    plan: str
    waited_since: float
    bought_at: float

    @property
    def wait(self) -> float:
        """Seconds from waiting to bought."""
        return self.bought_at - self.waited_since


def purchases(observed: Observed) -> Mapping[str, Purchase]:
    """Return what was bought, by uid of the pod."""
    by_node = {claim.status.node_name: claim for claim in observed.claims.values()}
    found = {}
    for pod in observed.pods.values():
        claim = by_node.get(pod.spec.node_name) if pod.spec.node_name else None
        since = observed.waiting_since.get(pod.metadata.uid)
        if claim is None or since is None:
            continue
        one = Purchase(
            plan=claim.metadata.annotations.get(_PLAN, "").partition("/")[0],
            waited_since=since,
            bought_at=observed.bought_at[claim.metadata.name],
        )
        if one.wait >= 0:
            found[pod.metadata.uid] = one
    return found


def waits(bought: Iterable[Purchase]) -> list[float]:
    """Return each pod's wait in seconds, shortest first."""
    return sorted(one.wait for one in bought)


def after_batches(bought: Iterable[Purchase], idle: timedelta) -> list[float]:
    """Return each pod's part of the wait that came after its batch had closed, shortest first."""
    plans: defaultdict[str, list[Purchase]] = defaultdict(list)
    for one in bought:
        plans[one.plan].append(one)
    return sorted(part for members in plans.values() for part in _after(members, idle))


def percentile(ordered: list[float], percent: int) -> float:
    """Return the smallest value that `percent` of all do not exceed; 0 of nothing."""
    if not ordered:
        return 0.0
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def _after(plan: list[Purchase], idle: timedelta) -> Iterator[float]:
    closed = max(one.waited_since for one in plan) + idle.total_seconds()
    yield from (max(0.0, one.bought_at - closed) for one in plan)
