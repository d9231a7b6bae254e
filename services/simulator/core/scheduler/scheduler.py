"""The scheduler: one pending pod after the other onto the best node that the oracle lets pass.

A pod without a place waits until something changes that could help it; all that wait are tried
again then, at most every 100 ms. Pods that cannot be told apart share a verdict while the cluster
stays as it is.
"""

import contextlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from libs.domain.errors import InvalidRequest, JoinerError
from libs.oracle.score import pick
from libs.oracle.verdict import Verdict, judge
from services.simulator.core import events
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.errors import ApiError
from services.simulator.core.feed import Change
from services.simulator.core.objects import Object, has_ended, is_deleting, key_of, split_key
from services.simulator.core.part import Outcome, Refusal, earliest
from services.simulator.core.scheduler import preemption, report, volumes
from services.simulator.core.scheduler.aftermath import follow_up
from services.simulator.core.scheduler.preemption import Candidate
from services.simulator.core.scheduler.queue import DEFAULT_SCHEDULER, SchedulingQueue
from services.simulator.core.scheduler.report import Refused
from services.simulator.core.scheduler.view import Chance, View
from services.simulator.core.timetable import Timetable

BATCH = 10_000
"""How many times a pod meets a node in one step, so that nothing else waits for long."""

RETRY_EVERY = timedelta(milliseconds=100)
_AFTER_REFUSAL = timedelta(seconds=1)
_VOLUMES_WITHIN = timedelta(minutes=10)


class Scheduler:
    """Binds pods whose schedulerName is `default-scheduler`."""

    name = "scheduler"

    def __init__(self, api: DirectApi) -> None:
        self._api = api
        self._view = View(api)
        self._queue = SchedulingQueue()
        self._chance = Chance.NOBODY
        self._retried: datetime | None = None
        self._deadlines: Timetable[str] = Timetable()
        """Until when the volumes of an assumed pod have to be bound."""
        self._delayed: Timetable[str] = Timetable()
        """When a pod is tried again whose binding was refused."""
        self._memo: tuple[int, bytes, Verdict] | None = None

    def step(self, now: datetime) -> Outcome:
        """Take in changes, then schedule a batch of pods."""
        changes, chance, refusals = self._view.follow()
        for change in changes:
            self._see(change)
        self._chance = max(self._chance, chance)
        for key in [*self._delayed.take(now), *self._expired(now)]:
            self._push(key)
        refusals += self._finish_volumes(now)
        again = self._retry(now)
        for _ in range(BATCH // max(len(self._view.cluster.nodes), 100) or 1):
            if (next_key := self._queue.pop()) is None:
                break
            refusals += self._try(next_key, now)
        if len(self._queue):
            again = now
        again = earliest(again, self._delayed.next(), self._deadlines.next())
        return Outcome(again=again, refusals=tuple(refusals))

    # The queue

    def _see(self, change: Change) -> None:
        """Queue a pod that is new or has changed; forget one that is gone or placed."""
        key, pod = change.key, change.new
        if pod is None or not _is_ours(pod):
            self._queue.drop(key)
            self._delayed.drop(key)
            if key not in self._view.assumed:
                self._deadlines.drop(key)
        elif key not in self._view.assumed and _asks_anew(change):
            self._push(key)

    def _push(self, key: str) -> None:
        pod = self._view.pods.get(key)
        if pod is not None and _is_ours(pod):
            self._queue.push(key, pod, self._priority(pod))

    def _priority(self, pod: Object) -> int:
        spec = pod["spec"]
        if "priority" in spec:
            return int(spec["priority"])
        name = spec.get("priorityClassName")
        known = self._api.find("priorityclasses.scheduling.k8s.io", name) if name else None
        return int(known["value"]) if known is not None else 0

    def _retry(self, now: datetime) -> datetime | None:
        """Let parked pods be tried if something may have helped; return when, if not yet."""
        parked = self._queue.parked(only_sociable=self._chance is not Chance.EVERYBODY)
        if self._chance is Chance.NOBODY or not parked:
            self._chance = Chance.NOBODY
            return None
        if self._retried is not None and now < self._retried + RETRY_EVERY:
            return self._retried + RETRY_EVERY
        self._retried, self._chance = now, Chance.NOBODY
        for key in parked:
            self._push(key)
        return None

    # One pod

    def _try(self, key: str, now: datetime) -> list[Refusal]:
        pod = self._view.pods.get(key)
        if pod is None or not _is_ours(pod):
            return []
        try:
            verdict = self._judge(pod)
            if verdict.schedulable:
                self._place(key, pod, pick(self._view.cluster, pod, verdict.feasible), now)
            else:
                self._give_up(pod, verdict, now)
                self._queue.park(key, sociable=_is_sociable(pod))
        except InvalidRequest as error:
            self._refuse(pod, Refused(reason=report.ERROR, message=str(error)), now)
            return [Refusal(key, error)]
        except ApiError as error:
            return [self._fail(key, error, now)]
        return []

    def _judge(self, pod: Object) -> Verdict:
        """Return the verdict on a pod; the one on its like, if nothing has changed since."""
        likeness = _likeness(pod)
        generation = self._view.generation
        if likeness and self._memo is not None and self._memo[:2] == (generation, likeness):
            return self._memo[2]
        verdict = judge(self._view.cluster, pod)
        self._memo = (generation, likeness, verdict)
        return verdict

    def _give_up(self, pod: Object, verdict: Verdict, now: datetime) -> None:
        """Do for a pod without a place what is left to do, and say why it has none."""
        after = follow_up(self._view.cluster, pod, verdict, self._view.budgets, now)
        nominated = None if after.keeps_nomination else ""
        if after.preempts is not None:
            nominated = after.preempts.node
            self._preempt(pod, after.preempts, now)
        refused = Refused(reason=report.UNSCHEDULABLE, message=after.message, nominated=nominated)
        self._refuse(pod, refused, now)

    def _preempt(self, pod: Object, found: Candidate, now: datetime) -> None:
        """Evict the victims, and let others that were nominated there look elsewhere."""
        for victim in found.victims:
            present = self._view.pods[victim.key]
            if not is_deleting(present):
                self._evict(present, now)
                events.record(self._api, present, report.preempted(pod, found.node), now)
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
        if status is not None:
            self._api.update("pods", {**pod, "status": status}, subresource="status")
            events.record(self._api, pod, report.refusal(refused.message), now)

    def _fail(self, key: str, error: JoinerError, now: datetime) -> Refusal:
        """Give a pod back whose placement the API refused."""
        self._view.release(key)
        self._deadlines.drop(key)
        self._delayed.put(key, now + _AFTER_REFUSAL)
        return Refusal(key, error)

    def _place(self, key: str, pod: Object, node: str, now: datetime) -> None:
        claims = volumes.unbound_claims(self._view.cluster, pod)
        if not claims:
            self._view.place(key, node)
            self._bind(key, node, now)
            return
        self._view.assume(key, node)
        self._deadlines.put(key, now + _VOLUMES_WITHIN)
        self._patch_status(pod, {"nominatedNodeName": node})
        volumes.choose(self._api, self._view.cluster, claims, node)
        self._view.generation += 1

    def _bind(self, key: str, node: str, now: datetime) -> None:
        namespace, name = split_key(key)
        self._api.bind(name, namespace, node)
        events.record(self._api, self._view.pods[key], report.success(key, node), now)
        self._chance = max(self._chance, Chance.SOCIABLE)

    # Pods that wait for volumes

    def _finish_volumes(self, now: datetime) -> list[Refusal]:
        """Bind the assumed pods whose claims all have their volumes."""
        refusals = []
        for key, node in list(self._view.assumed.items()):
            cluster = self._view.cluster
            if volumes.unbound_claims(cluster, self._view.pods[key]):
                continue
            try:
                self._bind(key, node, now)
                self._deadlines.drop(key)
            except ApiError as error:
                refusals.append(self._fail(key, error, now))
        return refusals

    def _expired(self, now: datetime) -> list[str]:
        """Give back the pods whose volumes did not come in time, or whose node is gone."""
        nodes, assumed = self._view.cluster.nodes, self._view.assumed
        lost = [key for key, node in assumed.items() if node not in nodes]
        for key in lost:
            self._deadlines.drop(key)
        expired = [*self._deadlines.take(now), *lost]
        for key in expired:
            self._view.release(key)
        return expired


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
    if old is None or new is None or old["metadata"]["uid"] != new["metadata"]["uid"]:
        return True
    return bool(
        old["spec"] != new["spec"] or old["metadata"].get("labels") != new["metadata"].get("labels")
    )


def _is_sociable(pod: Mapping[str, Any]) -> bool:
    spec = pod["spec"]
    return bool(
        spec.get("topologySpreadConstraints") or "podAffinity" in (spec.get("affinity") or {})
    )


def _likeness(pod: Mapping[str, Any]) -> bytes:
    """Return what the filters see of a pod, empty if it mounts claims: those are its own."""
    spec, meta = pod["spec"], pod["metadata"]
    if any("persistentVolumeClaim" in v or "ephemeral" in v for v in spec.get("volumes") or ()):
        return b""
    return msgspec.json.encode((meta["namespace"], meta.get("labels"), spec))
