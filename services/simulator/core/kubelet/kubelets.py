"""All kubelets as one part of the simulated cluster.

A pod is in one stage at a time, seen from its object alone; each stage has a delay from the instant
at which it was first seen, and one thing that happens then. Nothing else is remembered, so a
restart only delays.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import Enum
from ipaddress import IPv4Address
from typing import Any, NamedTuple

from libs.domain.errors import InvalidRequest, JoinerError
from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.client import Client, node_name
from services.simulator.core.feed import Change
from services.simulator.core.kubelet import pod_report
from services.simulator.core.kubelet.agents import Agents
from services.simulator.core.kubelet.fate import FateBook
from services.simulator.core.kubelet.policy import KubeletPolicy
from services.simulator.core.objects import Object, has_ended, is_deleting, key_of, split_key
from services.simulator.core.part import Outcome, Refusal, earliest
from services.simulator.core.timetable import Timetable

_RETRY = timedelta(seconds=1)
_POD_NETWORK = IPv4Address("10.0.0.0")


class Stage(Enum):
    """What the kubelet does next with a pod."""

    START = "start"
    READINESS = "readiness"
    END = "end"
    STOP = "stop"


class Seen(NamedTuple):
    """Since when a pod has been in a stage."""

    uid: str
    stage: Stage
    since: datetime


class Kubelets:
    """Boots simulated nodes, renews their leases, and starts, ends and stops the pods on them."""

    name = "kubelet"

    def __init__(self, client: Client, policy: KubeletPolicy, fates: FateBook) -> None:
        self._api = client.api
        self._policy = policy
        self._agents = Agents(client, policy, fates)
        self._pods = client.subscribe("pods")
        self._on_node = client.index("pods", node_name)
        self._due: Timetable[str] = Timetable()
        self._seen: dict[str, Seen] = {}
        self._addresses = 0

    def step(self, now: datetime) -> Outcome:
        """Boot nodes, renew leases and move pods on, as far as due."""
        again, refusals = self._agents.step(now)
        for change in self._pods.changes():
            self._see_pod(change, now)
        woken, self._agents.woken = self._agents.woken, []
        for pod in (pod for name in woken for pod in self._on_node.of(name)):
            self._plan(key_of(pod), pod, now)
        refusals += self._act(now)
        return Outcome(again=earliest(again, self._due.next()), refusals=tuple(refusals))

    def _act(self, now: datetime) -> list[Refusal]:
        refusals = []
        for key in self._due.take(now):
            try:
                self._advance(key, now)
            except JoinerError as error:
                refusals.append(Refusal(key, error))
                self._due.put(key, now + _RETRY)
        return refusals

    # Pods

    def _see_pod(self, change: Change, now: datetime) -> None:
        if change.new is None or node_name(change.new) is None:
            self._forget(change.key)
        else:
            self._plan(change.key, change.new, now)

    def _plan(self, key: str, pod: Object, now: datetime) -> None:
        """Let a pod be due when what comes next for it has had its time."""
        alive = self._agents.address(pod["spec"]["nodeName"]) is not None
        stage = stage_of(pod) if alive else None
        if stage is None:
            self._forget(key)
            return
        uid = pod["metadata"]["uid"]
        seen = self._seen.get(key)
        if seen is None or (seen.uid, seen.stage) != (uid, stage):
            seen = self._seen[key] = Seen(uid, stage, now)
        delay = self._delay(stage, pod)
        if delay is None:
            self._due.drop(key)
        else:
            self._due.put(key, seen.since + delay)

    def _delay(self, stage: Stage, pod: Object) -> timedelta | None:
        match stage:
            case Stage.START:
                return self._policy.start
            case Stage.READINESS:
                return timedelta()
            case Stage.STOP:
                grace = pod["metadata"].get("deletionGracePeriodSeconds", 0)
                return min(self._policy.stop, timedelta(seconds=grace))
            case Stage.END:
                try:
                    return pod_report.run_time(pod, self._policy.run)
                except InvalidRequest:
                    return None  # who misspells the run time gets a pod that runs for ever

    def _forget(self, key: str) -> None:
        self._seen.pop(key, None)
        self._due.drop(key)

    def _advance(self, key: str, now: datetime) -> None:
        namespace, name = split_key(key)
        pod = self._api.get("pods", name, namespace)
        host = self._agents.address(pod["spec"]["nodeName"])
        if host is None:
            self._forget(key)
            return
        match self._seen[key].stage:
            case Stage.START:
                self._addresses += 1
                own = (
                    host if pod["spec"].get("hostNetwork") else str(_POD_NETWORK + self._addresses)
                )
                self._report(pod, pod_report.running_status(pod, host, own, now))
            case Stage.READINESS:
                self._report(pod, pod_report.with_readiness(pod, now))
            case Stage.END:
                self._report(pod, pod_report.ended_status(pod, "Succeeded", now))
            case Stage.STOP:
                self._stop(pod, now)

    def _stop(self, pod: Object, now: datetime) -> None:
        """End a deleted pod; one that finalizers hold says that its containers were stopped."""
        if pod["metadata"].get("finalizers") and not has_ended(pod):
            self._report(pod, pod_report.ended_status(pod, "Failed", now))
        meta = pod["metadata"]
        options = DeleteOptions(grace_seconds=0, uid=meta["uid"])
        self._api.delete("pods", meta["name"], meta["namespace"], options)

    def _report(self, pod: Object, status: Object) -> None:
        self._api.update("pods", {**pod, "status": status}, subresource="status")


def stage_of(pod: Mapping[str, Any]) -> Stage | None:
    """Return what the kubelet does next with a pod on its node, None if nothing."""
    if is_deleting(pod):
        released = pod["metadata"].get("deletionGracePeriodSeconds", 0) == 0
        return None if released and has_ended(pod) else Stage.STOP
    if has_ended(pod):
        return None
    if pod["status"].get("phase") != "Running":
        return Stage.START
    if pod_report.readiness_is_stale(pod):
        return Stage.READINESS
    return Stage.END
