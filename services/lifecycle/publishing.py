"""`Publisher`: tells people, by events, what plans and decisions say of pods, pools and nodes."""

from collections.abc import Callable, Iterable, Mapping

from libs.domain.blocking import DISRUPTION_BLOCKED, UNCONSOLIDATABLE
from libs.domain.execution import ApplyResult, DecisionReport
from libs.domain.plan import Blocker, Decision, Plan
from libs.domain.reason import Rule, TargetKind, Unplaceable
from services.lifecycle.adapters.cache import Cache
from services.lifecycle.core import events

_ABOUT_TYPES = frozenset({Rule.POOL_REQUIREMENTS, Rule.OFFERINGS, Rule.MIN_VALUES, Rule.CATALOGUE})
_EVENT_OF_KIND: Mapping[str, Callable[[events.Subject, str], events.Event]] = {
    **dict.fromkeys(DISRUPTION_BLOCKED, events.disruption_blocked),
    **dict.fromkeys(UNCONSOLIDATABLE, events.unconsolidatable),
}
"""Kinds that are not here are states of normal work."""
_REJECTIONS_SHOWN = 5


class Publisher:
    """Publishes what changed; a repetition is dropped by the recorder."""

    def __init__(self, cache: Cache, publish: Callable[[events.Event], None]) -> None:
        self._cache = cache
        self._publish = publish
        self._said: set[tuple[str, Blocker]] = set()

    def plan(self, plan: Plan, result: ApplyResult) -> None:
        """Tell pods where they are expected or why they have no place, pools what is wrong."""
        created = {one.index: one.name for one in result.created}
        for planned in plan.nodeclaims:
            if planned.index in created:
                self._nominated(planned.pod_uids, f"nodeclaim/{created[planned.index]}")
        for nomination in plan.nominations:
            kind = "node" if nomination.target_kind is TargetKind.NODE else "nodeclaim"
            self._nominated(nomination.pod_uids, f"{kind}/{nomination.target}")
        for unplaced in plan.unplaced:
            if not unplaced.reason.deferred:
                self._unplaced(unplaced.pod_uids, unplaced.reason)
        for message in plan.pool_messages:
            pool = self._cache.pool(message.nodepool)
            if pool is not None and message.rule in _ABOUT_TYPES:
                subject = events.pool(pool.metadata)
                self._publish(events.no_compatible_instance_types(subject, message.message))

    def decisions(self, report: DecisionReport) -> None:
        """Tell nodes and claims what keeps them from being disrupted, once while it does."""
        for decision in report.decisions:
            for blocker in decision.blockers:
                if (decision.node, blocker) not in self._said:
                    self._blocked(decision, blocker)
        self._said = {(one.node, blocker) for one in report.decisions for blocker in one.blockers}

    def _nominated(self, uids: Iterable[str], target: str) -> None:
        for uid in uids:
            pod = self._cache.pod(uid)
            if pod is not None:
                self._publish(events.nominated(events.pod(pod.metadata), target))

    def _unplaced(self, uids: Iterable[str], reason: Unplaceable) -> None:
        why = explained(reason)
        for uid in uids:
            pod = self._cache.pod(uid)
            if pod is not None:
                self._publish(events.failed_scheduling(events.pod(pod.metadata), why))

    def _blocked(self, decision: Decision, blocker: Blocker) -> None:
        tell = _EVENT_OF_KIND.get(blocker.kind)
        if tell is None:
            return
        why = f"{blocker.message} ({blocker.object})" if blocker.object else blocker.message
        for subject in self._subjects(decision):
            self._publish(tell(subject, why))

    def _subjects(self, decision: Decision) -> Iterable[events.Subject]:
        node = self._cache.node(decision.node)
        claim = self._cache.claim(decision.nodeclaim)
        if claim is None:
            return  # nodes that nobody manages get no events
        yield events.claim(claim.metadata)
        if node is not None:
            yield events.node(node.metadata)


def explained(reason: Unplaceable) -> str:
    """Return a reason in one line: the summary, then what each pool said, with what would help."""
    parts = []
    for rejection in reason.rejections[:_REJECTIONS_SHOWN]:
        helps = f"; {rejection.suggestion}" if rejection.suggestion else ""
        kind, target = rejection.target_kind, rejection.target
        parts.append(f'{kind} "{target}": {rejection.message}{helps}')
    more = len(reason.rejections) + reason.untold_pools - _REJECTIONS_SHOWN
    if more > 0:
        parts.append(f"and {more} more")
    if len(parts) > 1:
        return f"{reason.message}; {', '.join(parts)}"
    return parts[0] if parts else reason.message
