"""Which pods a drain waits for, which it may evict, in which order, and when force is due.

Source: `docs/sources.md` B, G3 and G4.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from libs.domain import do_not_disrupt
from libs.domain.errors import InvalidRequest
from libs.domain.taint import DISRUPTED, tolerates
from libs.kube.convert.pod import milliseconds, owner_of, tolerations
from libs.kube.objects.pod import Pod

STUCK_AFTER = timedelta(minutes=1)
"""Past its deletion timestamp, grace included; a pod that long gone holds no node."""

_CRITICAL = frozenset({"system-cluster-critical", "system-node-critical"})
_TERMINAL = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """What a drain does now."""

    waiting: tuple[Pod, ...]
    """All that the node waits for, in order of namespace and name."""
    evict: tuple[Pod, ...]
    """The first tier that has any, without the protected ones."""
    force: tuple[Pod, ...]
    """Those whose time is up."""


def plan_drain(pods: Iterable[Pod], deadline: datetime | None, now: datetime) -> Drain:
    """Return what the drain of a node with these pods does now.

    Args:
        pods: all that are bound to the node.
        deadline: when the node goes whatever holds it; None: never by force.
        now: the instant.
    """
    waiting = tuple(
        sorted(
            (pod for pod in pods if is_waited_for(pod, now)),
            key=lambda pod: (pod.metadata.namespace, pod.metadata.name),
        )
    )
    force = tuple(pod for pod in waiting if is_force_due(pod, deadline, now))
    forced = {pod.metadata.uid for pod in force}
    rest = [pod for pod in waiting if pod.metadata.uid not in forced]
    return Drain(waiting=waiting, evict=_first_tier(rest, now), force=force)


def is_waited_for(pod: Pod, now: datetime) -> bool:
    """Tell whether the node may not go while the pod is there."""
    return not is_terminal(pod) and is_drainable(pod, now)


def is_drainable(pod: Pod, now: datetime) -> bool:
    """Tell whether a drain concerns the pod at all; protected pods it waits for."""
    return not (tolerates_disruption(pod) or is_stuck(pod, now) or is_mirror(pod))


def is_evictable(pod: Pod, now: datetime) -> bool:
    """Tell whether the pod may be evicted now, budgets apart."""
    return (
        not is_terminal(pod)
        and pod.metadata.deletion_timestamp is None
        and is_drainable(pod, now)
        and not is_protected(pod, now)
    )


def is_protected(pod: Pod, now: datetime) -> bool:
    """Tell whether the pod's do-not-disrupt annotation holds now."""
    protection = do_not_disrupt.parse(pod.metadata.annotations)
    return do_not_disrupt.protects(
        protection.span_ms,
        started_ms=milliseconds(pod.status.start_time),
        now_ms=milliseconds(now),
    )


def is_force_due(pod: Pod, deadline: datetime | None, now: datetime) -> bool:
    """Tell whether the pod must be deleted by force to be gone before the deadline."""
    if deadline is None:
        return False
    leaving = pod.metadata.deletion_timestamp
    if leaving is not None:
        return leaving > deadline
    grace = pod.spec.termination_grace_period_seconds
    return grace is not None and now > deadline - timedelta(seconds=grace)


def grace_left(deadline: datetime, now: datetime) -> int:
    """Return the grace in whole seconds that a forced deletion leaves the pod, at least one."""
    return max(1, int((deadline - now).total_seconds()))


def is_reschedulable(pod: Pod) -> bool:
    """Tell whether the pod, or its successor of the same name, needs a place if its node goes."""
    owner = owner_of(pod.metadata)
    if is_daemon(pod) or is_mirror(pod):
        return False
    leaving = pod.metadata.deletion_timestamp is not None
    if leaving:
        return owner is not None and owner.is_statefulset
    return not is_terminal(pod)


def is_terminal(pod: Pod) -> bool:
    """Tell whether all containers of the pod have ended."""
    return pod.status.phase in _TERMINAL


def is_daemon(pod: Pod) -> bool:
    """Tell whether every node gets such a pod by itself."""
    owner = owner_of(pod.metadata)
    return owner is not None and owner.is_daemonset


def is_mirror(pod: Pod) -> bool:
    """Tell whether the pod stands for a static manifest of its node."""
    owner = owner_of(pod.metadata)
    return owner is not None and owner.is_node


def is_stuck(pod: Pod, now: datetime) -> bool:
    """Tell whether the pod should have been gone for a while."""
    leaving = pod.metadata.deletion_timestamp
    return leaving is not None and now - leaving > STUCK_AFTER


def tolerates_disruption(pod: Pod) -> bool:
    """Tell whether the pod bears the disruption taint; one that is illegible does not."""
    try:
        borne = tolerations(pod.spec.tolerations, "spec.tolerations")
    except InvalidRequest:
        return False
    return tolerates(borne, (DISRUPTED,))


def _first_tier(pods: Iterable[Pod], now: datetime) -> tuple[Pod, ...]:
    tiers: dict[tuple[bool, bool], list[Pod]] = {}
    for pod in pods:
        critical = pod.spec.priority_class_name in _CRITICAL
        tiers.setdefault((critical, is_daemon(pod)), []).append(pod)
    if not tiers:
        return ()
    return tuple(pod for pod in tiers[min(tiers)] if is_evictable(pod, now))
