"""All kubelets as one part of the simulated cluster: nodes by `agents`, pods by what is here.

A pod that has nothing ahead of it is not remembered: its status says enough to go on from, so a
restart, or a cluster loaded from a dump, only delays. Laws: a status is written only if it differs;
a dead kubelet writes nothing; what a kubelet wrote itself makes it do nothing.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from ipaddress import IPv4Address

from libs.domain.errors import JoinerError
from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.client import Client, node_name
from services.simulator.core.events import Note
from services.simulator.core.feed import Change
from services.simulator.core.kubelet import pod_report, pod_run, resizing, rooms
from services.simulator.core.kubelet.agents import Agents
from services.simulator.core.kubelet.container import State
from services.simulator.core.kubelet.fate import FateBook
from services.simulator.core.kubelet.pod_report import Place
from services.simulator.core.kubelet.pod_run import Happening, PodRun
from services.simulator.core.kubelet.policy import KubeletPolicy
from services.simulator.core.objects import (
    Object,
    has_ended,
    is_deleting,
    key_of,
    span_of,
    split_key,
)
from services.simulator.core.part import Outcome, Refusal, earliest
from services.simulator.core.timetable import Timetable

_RETRY = timedelta(seconds=1)
_SHOWN = timedelta(seconds=1)
"""A pod that starts slower than this says first that it is starting."""
_JUDGED = timedelta(milliseconds=100)
"""A rejection takes this long: who makes rejected pods anew shall not do so without end at once."""
_POD_NETWORK = IPv4Address("10.0.0.0")
_INFEASIBLE = "simulator.joiner.io/resize"
"""On a pod: `infeasible` if its node can never resize it."""


class Kubelets:
    """Boots simulated nodes, renews their leases, and starts, ends and stops the pods on them."""

    name = "kubelet"

    def __init__(self, client: Client, policy: KubeletPolicy, fates: FateBook) -> None:
        self._api = client.api
        self._events = client.events
        self._policy = policy
        self._agents = Agents(client, policy, fates)
        self._pods = client.subscribe("pods")
        self._on_node = client.index("pods", node_name)
        self._rooms = rooms.Rooms()
        self._due: Timetable[str] = Timetable()
        self._runs: dict[str, PodRun] = {}
        self._stops: dict[str, datetime] = {}
        self._written: dict[str, str] = {}
        """The resourceVersions of our own writes, until they are told back."""
        self._deferred: dict[str, dict[str, None]] = {}
        """Pods whose resize waits for room, by node."""
        self._addresses = 0
        self._taken: set[str] = set()
        """Addresses that pods came with, from a dump."""

    def step(self, now: datetime) -> Outcome:
        """Boot nodes, renew leases and move pods on, as far as due."""
        again, refusals = self._agents.step(now)
        for change in self._pods.changes():
            self._see(change, now)
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

    # What is seen

    def _see(self, change: Change, now: datetime) -> None:
        key, pod = change.key, change.new
        host = node_name(pod) if pod is not None else None
        if pod is None or host is None or (has_ended(pod) and not is_deleting(pod)):
            self._leave(key, node_name(change.old) if change.old is not None else host, now)
            return
        if self._written.get(key) == pod["metadata"]["resourceVersion"]:
            del self._written[key]
            return
        old = change.old
        if old is None and (address := pod["status"].get("podIP")):
            self._taken.add(address)
        if old is not None and old["metadata"]["uid"] != pod["metadata"]["uid"]:
            self._forget(key)
            old = None
        asks_anew = old is not None and _generation(old) != _generation(pod)
        if old is None or node_name(old) is None or asks_anew:
            self._rooms.put(key, host, pod)
        if old is not None and asks_anew and self._agents.address(host) is not None:
            self._resize(key, pod, resizing.asked_of(old), now)
        self._plan(key, pod, now)

    def _leave(self, key: str, host: str | None, now: datetime) -> None:
        """Forget a pod; others may have been waiting for its room."""
        self._forget(key)
        self._rooms.drop(key)
        self._deferred.get(host or "", {}).pop(key, None)
        for waiting in list(self._deferred.get(host or "", ())):
            pod = self._pods.objects.get(waiting)
            if pod is not None:
                self._resize(waiting, pod, {}, now)
                self._due.hasten(waiting, now)

    def _forget(self, key: str) -> None:
        self._runs.pop(key, None)
        self._stops.pop(key, None)
        self._written.pop(key, None)
        self._due.drop(key)

    def _plan(self, key: str, pod: Object, now: datetime) -> None:
        """Let a pod be due when what comes next for it has had its time."""
        host = pod["spec"]["nodeName"]
        if self._agents.address(host) is None:
            self._due.drop(key)
        elif is_deleting(pod):
            self._plan_stop(key, pod, now)
        elif not has_ended(pod):
            run = self._run(key, pod, now)
            self._due.hasten(key, self._first_look(key, pod, run, now))

    def _first_look(self, key: str, pod: Object, run: PodRun, now: datetime) -> datetime:
        """Return when to look at a pod: at once, unless it only has to start and soon will."""
        if run.started is not None or run.begins - now >= _SHOWN:
            return now
        run.is_taken = self._refusal(key, pod) is None
        return run.begins if run.is_taken else now + _JUDGED

    def _plan_stop(self, key: str, pod: Object, now: datetime) -> None:
        meta = pod["metadata"]
        grace = span_of(meta.get("deletionGracePeriodSeconds") or 0)
        if not grace and has_ended(pod):
            self._due.drop(key)
            return
        since = self._stops.setdefault(key, now)
        takes = pod_run.stop_time(self._run(key, pod, now))
        self._due.put(key, max(now, since + min(grace, takes)))

    def _run(self, key: str, pod: Object, now: datetime) -> PodRun:
        run = self._runs.get(key)
        if run is None or run.uid != pod["metadata"]["uid"]:
            run = self._runs[key] = pod_run.begin(pod, self._policy, now)
        return run

    # What is done

    def _advance(self, key: str, now: datetime) -> None:
        namespace, name = split_key(key)
        pod = self._api.find("pods", name, namespace)
        host = self._agents.address(node_name(pod) or "") if pod is not None else None
        if pod is None or host is None:
            return
        if is_deleting(pod):
            self._stop(key, pod, host, now)
            return
        run = self._run(key, pod, now)
        judged = run.is_taken or run.started is not None
        if not judged and (refused := self._refusal(key, pod)) is not None:
            self._tell(pod, Happening(refused[0], refused[1], True))
            self._write(key, pod, pod_report.rejected_status(pod, *refused, now))
            return
        again = pod_run.advance(run, now)
        again = earliest(again, self._finish_resize(pod, run, now))
        self._report(key, pod, host, now)
        if again is not None:
            self._due.put(key, again)
        elif not run.resizing.obstacle:
            self._runs.pop(key, None)

    def _refusal(self, key: str, pod: Object) -> tuple[str, str] | None:
        host = pod["spec"]["nodeName"]
        node = self._api.find("nodes", host)
        if node is None:
            return None
        ports = any(one.get("ports") for one in pod["spec"]["containers"])
        others = self._others(key, host) if ports else ()
        return rooms.refusal(self._rooms, key, node, pod, others)

    def _others(self, key: str, host: str) -> Iterable[Object]:
        return (pod for pod in self._on_node.of(host) if key_of(pod) != key and not has_ended(pod))

    def _stop(self, key: str, pod: Object, host: str, now: datetime) -> None:
        """End a deleted pod; one that finalizers hold says first how its containers ended."""
        meta, run = pod["metadata"], self._run(key, pod, now)
        if meta.get("finalizers") and not has_ended(pod):
            grace = span_of(meta.get("deletionGracePeriodSeconds") or 0)
            pod_run.stop(run, now, killed=pod_run.stop_time(run) > grace)
            self._report(key, pod, host, now)
        options = DeleteOptions(grace_seconds=0, uid=meta["uid"])
        self._api.delete("pods", meta["name"], meta["namespace"], options)

    def _report(self, key: str, pod: Object, host: str, now: datetime) -> None:
        run = self._runs[key]
        begun = now >= run.begins
        address = pod["status"].get("podIP") or (self._new_address(pod, host) if begun else "")
        status = pod_report.status_of(pod, run, Place(host, address), now)
        self._tell_all(pod, run, status)
        self._write(key, pod, status)

    def _new_address(self, pod: Object, host: str) -> str:
        if pod["spec"].get("hostNetwork"):
            return host
        while True:
            self._addresses += 1
            address = str(_POD_NETWORK + self._addresses)
            if address not in self._taken:
                return address

    def _write(self, key: str, pod: Object, status: Object) -> None:
        if status == pod["status"]:
            return
        written = self._api.update("pods", {**pod, "status": status}, subresource="status")
        self._written[key] = written["metadata"]["resourceVersion"]

    # Resizes

    def _resize(self, key: str, pod: Object, before: resizing.Resources, now: datetime) -> None:
        """Give a pod the resources that it asks for now, or say what is in the way."""
        host = pod["spec"]["nodeName"]
        run, node = self._run(key, pod, now), self._api.find("nodes", host)
        if node is None:
            return

        def judge() -> resizing.Obstacle | None:
            annotations = pod["metadata"].get("annotations") or {}
            if annotations.get(_INFEASIBLE) == "infeasible":
                why = "the node cannot resize this pod"
                return resizing.Obstacle(resizing.INFEASIBLE, why)
            return rooms.resize_obstacle(self._rooms, key, node)

        done = resizing.ask(run.resizing, pod, before, judge, now + self._policy.resize)
        if done:
            words = "started" if done == "Started" else done
            self._tell(pod, Happening(f"Resize{done}", f"Pod resize {words}", done != "Started"))
        if run.resizing.obstacle and run.resizing.obstacle.reason == resizing.DEFERRED:
            self._deferred.setdefault(host, {})[key] = None
        else:
            self._deferred.get(host, {}).pop(key, None)

    def _finish_resize(self, pod: Object, run: PodRun, now: datetime) -> datetime | None:
        ends = run.resizing.ends
        if ends is None or now < ends:
            return ends
        containers = [one.spec for one in run.everyone]
        for name in resizing.finish(run.resizing, containers):
            for container in run.everyone:
                if container.name == name and container.state is State.RUNNING:
                    container.end(pod_run.TERMINATED, now)
                    container.start(now)
        self._tell(pod, Happening("ResizeCompleted", "Pod resize completed"))
        return None

    # Events

    def _tell_all(self, pod: Object, run: PodRun, status: Object) -> None:
        told, run.happenings = run.happenings, []
        before = set(pod_report.unready_names(pod))
        unready = [n for n in pod_report.unready_names({"status": status}) if n not in before]
        if unready and not run.phase and pod["status"].get("phase") == "Running":
            told += [Happening("Unhealthy", "Readiness probe failed: simulated", True)]
        for container in run.everyone:
            waits = container.state is State.ENDED and container.is_restarted(run.restart_policy)
            if waits and not run.phase:
                words = f"Back-off restarting failed container {container.name} in pod {run.title}"
                told.append(Happening("BackOff", words, True))
        for happening in told:
            self._tell(pod, happening)

    def _tell(self, pod: Object, happening: Happening) -> None:
        note = Note(
            reason=happening.reason,
            message=happening.message,
            component="kubelet",
            is_warning=happening.is_warning,
            host=pod["spec"].get("nodeName", ""),
        )
        self._events.record(pod, note)


def _generation(pod: Object) -> int:
    return int(pod["metadata"].get("generation", 0))
