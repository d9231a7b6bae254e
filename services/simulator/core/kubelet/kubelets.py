"""All kubelets as one part of the simulated cluster.

A pod is in one stage at a time, seen from its object alone; each stage has a delay from the instant
at which it was first seen, and one thing that happens then. Nothing else is remembered, so a
restart only delays.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import Enum
from ipaddress import IPv4Address
from typing import Any, NamedTuple

from libs.domain.errors import InvalidRequest, JoinerError
from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.feed import Change, Feed
from services.simulator.core.kubelet import node_report, pod_report
from services.simulator.core.kubelet.policy import KubeletPolicy
from services.simulator.core.objects import (
    Object,
    has_ended,
    is_deleting,
    is_true,
    micro_stamp,
    split_key,
)
from services.simulator.core.part import Outcome, Refusal, earliest
from services.simulator.core.timetable import Timetable

LEASES = "leases.coordination.k8s.io"
CSI_NODES = "csinodes.storage.k8s.io"

_RETRY = timedelta(seconds=1)
_POD_NETWORK = IPv4Address("10.0.0.0")
_HOST_NETWORK = IPv4Address("172.16.0.0")


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

    def __init__(self, api: DirectApi, policy: KubeletPolicy) -> None:
        self._api = api
        self._policy = policy
        self._nodes = Feed(api, "nodes")
        self._pods = Feed(api, "pods")
        self._pods_on: dict[str, dict[str, None]] = {}
        self._up: dict[str, str] = {}
        self._boots: Timetable[str] = Timetable()
        self._beats: Timetable[str] = Timetable()
        self._due: Timetable[str] = Timetable()
        self._seen: dict[str, Seen] = {}
        self._hosts = 0
        self._addresses = 0

    def step(self, now: datetime) -> Outcome:
        """Boot nodes, renew leases and move pods on, as far as due."""
        for node in self._nodes.changes():
            self._see_node(node, now)
        for pod in self._pods.changes():
            self._see_pod(pod, now)
        refusals = [
            *self._act(self._boots, self._boot, now),
            *self._act(self._beats, self._beat, now),
            *self._act(self._due, self._advance, now),
        ]
        again = earliest(self._boots.next(), self._beats.next(), self._due.next())
        return Outcome(again=again, refusals=tuple(refusals))

    def _act(
        self, table: Timetable[str], act: Callable[[str, datetime], None], now: datetime
    ) -> list[Refusal]:
        refusals = []
        for key in table.take(now):
            try:
                act(key, now)
            except JoinerError as error:
                refusals.append(Refusal(key, error))
                table.put(key, now + _RETRY)
        return refusals

    # Nodes

    def _see_node(self, change: Change, now: datetime) -> None:
        name, node = change.key, change.new
        if node is None or not node_report.is_simulated(node):
            self._up.pop(name, None)
            self._boots.drop(name)
            self._beats.drop(name)
            for key in self._pods_on.get(name, ()):
                self._forget(key)
        elif change.old is None or not node_report.is_simulated(change.old):
            self._boots.put(name, now if is_true(node, "Ready") else now + self._policy.boot)

    def _boot(self, name: str, now: datetime) -> None:
        node = self._nodes.objects[name]
        self._hosts += 1
        status = node_report.ready_status(node, str(_HOST_NETWORK + self._hosts), now)
        self._api.patch("nodes", name, {"status": status}, subresource="status")
        if self._api.find(CSI_NODES, name) is None:
            limits = self._policy.volume_limits
            self._api.create(CSI_NODES, node_report.new_csi_node(node, limits))
        self._beat(name, now)
        self._up[name] = status["addresses"][0]["address"]
        for key in self._pods_on.get(name, ()):
            self._plan(key, self._pods.objects[key], now)

    def _beat(self, name: str, now: datetime) -> None:
        self._beats.put(name, now + self._policy.heartbeat)
        if self._api.find(LEASES, name, node_report.LEASE_NAMESPACE) is None:
            lease = node_report.new_lease(self._nodes.objects[name], now)
            self._api.create(LEASES, lease)
            return
        renewal = {"spec": {"renewTime": micro_stamp(now)}}
        self._api.patch(LEASES, name, renewal, node_report.LEASE_NAMESPACE)

    # Pods

    def _see_pod(self, change: Change, now: datetime) -> None:
        key, pod = change.key, change.new
        if change.old is not None and (host := change.old["spec"].get("nodeName")):
            self._pods_on.get(host, {}).pop(key, None)
        host = pod["spec"].get("nodeName") if pod is not None else None
        if pod is None or not host:
            self._forget(key)
            return
        self._pods_on.setdefault(host, {})[key] = None
        self._plan(key, pod, now)

    def _plan(self, key: str, pod: Object, now: datetime) -> None:
        """Let a pod be due when what comes next for it has had its time."""
        stage = stage_of(pod) if pod["spec"]["nodeName"] in self._up else None
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
        match self._seen[key].stage:
            case Stage.START:
                self._addresses += 1
                host = self._up[pod["spec"]["nodeName"]]
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
    if pod["spec"].get("readinessGates") and pod_report.readiness_is_stale(pod):
        return Stage.READINESS
    return Stage.END
