"""The scheduler: one pending pod after the other onto the best node that the oracle lets pass.

A pod without a place may take that of less important pods, and else waits until something happens
that could help it (`hints`). Pods that cannot be told apart share a refusal while the cluster stays
as it is.
"""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from libs.domain.errors import InvalidRequest
from libs.oracle.filters.dynamic_resources import claims_of
from libs.oracle.pods import read_pod
from libs.oracle.verdict import Rejection, Verdict, refused_everywhere
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.errors import ApiError
from services.simulator.core.feed import Change
from services.simulator.core.objects import Object, has_ended, is_deleting, key_of, split_key
from services.simulator.core.part import Outcome, Refusal, earliest
from services.simulator.core.scheduler import devices, preemption, recorder, report
from services.simulator.core.scheduler.aftermath import Aftermath, follow_up
from services.simulator.core.scheduler.finder import Found, likeness
from services.simulator.core.scheduler.gangs import PLUGIN, REJECTED, Gangs
from services.simulator.core.scheduler.hints import EVERY_PLUGIN, Hints
from services.simulator.core.scheduler.placement import Placements
from services.simulator.core.scheduler.preemption import Candidate
from services.simulator.core.scheduler.queue import DEFAULT_SCHEDULER, Parked, SchedulingQueue
from services.simulator.core.scheduler.recorder import Recorder
from services.simulator.core.scheduler.report import Refused
from services.simulator.core.scheduler.view import View

_EFFORT_OF_A_STEP = 700
"""How much is done in one step, so that nothing else waits for long: a unit is a filter run on a
node, about ten microseconds with its score."""

_EFFORT_OF_A_POD = 200
"""What each pod costs whatever is remembered of nodes."""


_WITHOUT_CLAIMS = frozenset({"DynamicResources"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refusal:
    """What became of the last pod without a place, for its likes."""

    generation: int
    likeness: bytes
    verdict: Verdict
    after: Aftermath


class Scheduler:
    """Binds pods whose schedulerName is `default-scheduler`."""

    name = "scheduler"

    def __init__(self, api: DirectApi) -> None:
        self._api = api
        self._view = View(api)
        self._queue = SchedulingQueue()
        self._recorder = Recorder(api)
        self._gangs = Gangs(api, self._view)
        self._placements = Placements(api, self._view, self._gangs, self._recorder)
        self._hints = Hints(self._view.cluster)
        self._memo: _Refusal | None = None

    def step(self, now: datetime) -> Outcome:
        """Take in changes, then schedule as many pods as one step may."""
        changes, happenings, refusals = self._view.follow()
        self._hints.add(happenings)
        for change in changes:
            self._gangs.see(change)
        for change in changes:
            self._see(change, now)
        for expired in self._placements.expired(now):
            self._push(expired, now)
        refusals += self._finish(now)
        self._wake()
        self._recorder.sweep(now)
        effort = 0
        while effort < _EFFORT_OF_A_STEP and (key := self._queue.pop(now)) is not None:
            effort += _EFFORT_OF_A_POD + self._try(key, now, refusals)
        refusals += self._finish(now)  # a gang may be whole now
        again = earliest(self._queue.next(now), self._placements.next(), self._recorder.next())
        return Outcome(again=again, refusals=tuple(refusals))

    def _finish(self, now: datetime) -> list[Refusal]:
        """Bind the pods for which all is there now; try those again that the API refuses."""
        failed = self._placements.finish(now)
        for one in failed:
            self._push(one.subject, now)
        return failed

    # The queue

    def _see(self, change: Change, now: datetime) -> None:
        """Queue a pod that is new or has changed; forget one that is gone or placed."""
        key, pod = change.key, change.new
        if pod is None or not _is_ours(pod):
            self._queue.drop(key)
            if key not in self._view.assumed:
                self._placements.forget(key)
        elif key not in self._view.assumed and _asks_anew(change):
            self._push(key, now)
            for sibling in self._gangs.siblings(pod):
                if sibling in self._queue:
                    self._queue.wake(sibling)

    def _push(self, key: str, now: datetime) -> None:
        pod = self._view.pods.get(key)
        if pod is not None and _is_ours(pod):
            self._queue.push(key, pod, self._priority(pod), now)

    def _priority(self, pod: Object) -> int:
        spec = pod["spec"]
        if "priority" in spec:
            return int(spec["priority"])
        name = spec.get("priorityClassName")
        known = self._api.find("priorityclasses.scheduling.k8s.io", name) if name else None
        return int(known["value"]) if known is not None else 0

    def _wake(self) -> None:
        """Let those parked pods be tried that what happened may help."""
        if not self._hints:
            return
        for key, parked in self._queue.parked():
            if self._hints.help(parked):
                self._queue.wake(key)
                for sibling in self._gangs.siblings(parked.pod.obj):
                    self._queue.wake(sibling)
        self._hints.clear()

    # One pod

    def _try(self, key: str, now: datetime, refusals: list[Refusal]) -> int:
        """Try to place a pod; return the effort that it took."""
        pod = self._view.pods.get(key)
        if pod is None or not _is_ours(pod):
            self._queue.drop(key)
            return 0
        try:
            return self._schedule(key, pod, now)
        except InvalidRequest as error:
            self._refuse(pod, Refused(reason=report.ERROR, message=str(error)), now)
            refusals.append(Refusal(key, error))
        except ApiError as error:
            refusals.append(Refusal(key, error))
        self._queue.back_off(key, now)
        return 0

    def _schedule(self, key: str, pod: Object, now: datetime) -> int:
        if isinstance(claims_of(self._view.cluster, pod), str):
            # It does not come to be tried, and nothing is said of it, until its claims exist.
            self._queue.park(key, Parked(pod=read_pod(pod), plugins=_WITHOUT_CLAIMS), now)
            return 0
        gang = self._gangs.of(pod)
        if gang is not None and (lacking := self._gangs.lacking(gang, pod)):
            self._hold_back(key, pod, lacking, now)
            return 0
        memo = self._remembered(pod)
        found = Found(node="", verdict=memo.verdict, effort=0) if memo else None
        found = found or self._view.finder.find(pod)
        if found.verdict is None:
            self._placements.place(key, pod, found.node, now)
            self._queue.drop(key)
            return found.effort
        after = memo.after if memo else self._follow_up(pod, found.verdict, now)
        self._give_up(pod, after, now)
        plugins = frozenset(one.plugin for one in found.verdict.rejected.values()) or EVERY_PLUGIN
        self._queue.park(key, Parked(pod=read_pod(pod), plugins=plugins), now)
        if gang is not None:
            self._reject_siblings(pod, plugins, now)
        return found.effort if memo else found.effort + len(found.verdict.rejected)

    def _hold_back(self, key: str, pod: Object, lacking: str, now: datetime) -> None:
        """Refuse a pod whose gang is not there yet; others of it bring it back."""
        rejection = Rejection(plugin=PLUGIN, reasons=(lacking,))
        message = refused_everywhere(self._view.cluster, rejection).message
        self._refuse(pod, Refused(reason=report.UNSCHEDULABLE, message=message), now)
        parked = Parked(pod=read_pod(pod), plugins=frozenset({PLUGIN}))
        self._queue.park(key, parked, now)

    def _reject_siblings(self, pod: Object, plugins: frozenset[str], now: datetime) -> None:
        """Take the nodes back from pods that would have waited for one without a place."""
        for key in self._gangs.siblings(pod):
            sibling = self._view.pods[key]
            if key not in self._view.assumed or not self._gangs.waits(sibling):
                continue
            self._placements.release(key)
            namespace, name = split_key(key)
            sibling = self._api.get("pods", name, namespace)  # its node was nominated just now
            self._refuse(sibling, Refused(reason=report.UNSCHEDULABLE, message=REJECTED), now)
            self._queue.push(key, sibling, self._priority(sibling), now)
            self._queue.park(key, Parked(pod=read_pod(sibling), plugins=plugins), now)

    def _remembered(self, pod: Object) -> _Refusal | None:
        """Return what became of a pod just like this one, if nothing has changed since."""
        memo = self._memo
        if memo is None or memo.generation != self._view.generation or not _is_plain(pod):
            return None
        return memo if memo.likeness == likeness(pod) else None

    def _follow_up(self, pod: Object, verdict: Verdict, now: datetime) -> Aftermath:
        after = follow_up(self._view.cluster, pod, verdict, self._view.budgets, now)
        if _is_plain(pod) and after.preempts is None:
            self._memo = _Refusal(
                generation=self._view.generation,
                likeness=likeness(pod),
                verdict=verdict,
                after=after,
            )
        return after

    # Pods without a place

    def _give_up(self, pod: Object, after: Aftermath, now: datetime) -> None:
        """Do for a pod without a place what is left to do, and say why it has none."""
        nominated = None if after.keeps_nomination else ""
        if after.frees is not None:
            self._view.put("ResourceClaim", devices.free(self._api, after.frees))
        if after.preempts is not None:
            nominated = after.preempts.node
            self._preempt(pod, after.preempts, now)
        refused = Refused(reason=report.UNSCHEDULABLE, message=after.message, nominated=nominated)
        self._refuse(pod, refused, now)

    def _preempt(self, pod: Object, found: Candidate, now: datetime) -> None:
        """Evict the victims, and let others that were nominated there look elsewhere."""
        for victim in found.victims:
            present = self._view.pods[victim.key]
            if victim.key in self._view.assumed:
                self._placements.release(victim.key)
                self._push(victim.key, now)
            elif not is_deleting(present):
                self._evict(present, now)
                self._recorder.record(present, recorder.preempted(pod, found.node), now)
        priority = preemption.priority_of(pod)
        for other in self._view.nominated(found.node):
            if preemption.priority_of(other) < priority:
                self._patch_status(other, {"nominatedNodeName": None})

    def _evict(self, pod: Object, now: datetime) -> None:
        namespace, name = split_key(key_of(pod))
        with contextlib.suppress(ApiError):  # gone already, which is as well
            self._patch_status(pod, report.victim_status(pod, now))
            self._api.delete("pods", name, namespace)

    def _patch_status(self, pod: Object, status: Object) -> None:
        namespace, name = split_key(key_of(pod))
        change = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        self._api.patch("pods", name, change, namespace, subresource="status")

    def _refuse(self, pod: Object, refused: Refused, now: datetime) -> None:
        status = report.refused_status(pod, refused, now)
        self._recorder.record(pod, recorder.refusal(refused.message), now)
        if status is not None:
            self._api.update("pods", {**pod, "status": status}, subresource="status")


def _is_ours(pod: Mapping[str, Any]) -> bool:
    spec = pod["spec"]
    return (
        not spec.get("nodeName")
        and not spec.get("schedulingGates")
        and spec.get("schedulerName", DEFAULT_SCHEDULER) == DEFAULT_SCHEDULER
        and not is_deleting(pod)
        and not has_ended(pod)
    )


def _asks_anew(change: Change) -> bool:
    """Tell whether a pod is new or changed in what the filters read."""
    old, new = change.old, change.new
    if old is None or new is None:
        return True
    return any(before != after for before, after in zip(_asked(old), _asked(new), strict=True))


def _asked(pod: Mapping[str, Any]) -> Iterator[Any]:
    meta = pod["metadata"]
    yield meta["uid"]
    yield meta.get("labels")
    yield pod["spec"]
    yield pod["status"].get("resourceClaimStatuses")


def _is_plain(pod: Mapping[str, Any]) -> bool:
    """Tell whether the filters see no more of a pod than they see of its likes."""
    spec = pod["spec"]
    return not (
        spec.get("resourceClaims")
        or pod["status"].get("nominatedNodeName")
        or any("persistentVolumeClaim" in v or "ephemeral" in v for v in spec.get("volumes") or ())
    )
