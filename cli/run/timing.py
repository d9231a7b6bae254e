"""How long waiting pods waited until a node was bought for them.

From the first sight of a pod's Unschedulable condition to the first sight of the NodeClaim whose
node it runs on in the end. Pods whose node was there before them, or that found no node, are left
out. `largest_plan` counts from the last pod of a plan instead, and takes off the quiet time that
closes a batch: what remains is the work of solver and lifecycle, and the calls in between.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
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


def largest_plan(bought: Iterable[Purchase], idle: timedelta) -> tuple[int, float]:
    """Return the pods of the plan that bought for most, and its last claim's time after its batch.

    Pods for which a plan had to be made a second time, because others took their place, belong to a
    later plan and say nothing of how fast one is made.
    """
    plans: defaultdict[str, list[Purchase]] = defaultdict(list)
    for one in bought:
        plans[one.plan].append(one)
    largest = max(plans.values(), key=len, default=[])
    if not largest:
        return 0, 0.0
    closed = max(one.waited_since for one in largest) + idle.total_seconds()
    return len(largest), max(0.0, max(one.bought_at for one in largest) - closed)


def percentile(ordered: list[float], percent: int) -> float:
    """Return the smallest value that `percent` of all do not exceed; 0 of nothing."""
    if not ordered:
        return 0.0
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
