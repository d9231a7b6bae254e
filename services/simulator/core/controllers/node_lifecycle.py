"""Node lifecycle: nodes that fall silent, their taints, and the readiness of the pods on them.

A node that renews neither lease nor status for its grace period is Unknown. NoSchedule taints
follow a node's conditions at once, NoExecute ones at the pace that its zone allows.

Source: Kubernetes documentation, "Nodes", "Taint based Evictions"; defaults of
kube-controller-manager 1.36.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from libs.domain.errors import JoinerError
from services.simulator.core.client import Client, node_name
from services.simulator.core.controllers import node_states, zones
from services.simulator.core.controllers.zones import ZoneState
from services.simulator.core.events import Note
from services.simulator.core.feed import Change
from services.simulator.core.objects import (
    Object,
    condition_of,
    is_true,
    labels_of,
    read_stamp,
    with_condition,
)
from services.simulator.core.part import Outcome, Refusal, earliest
from services.simulator.core.timetable import Timetable

MONITOR_GRACE = timedelta(seconds=50)
STARTUP_GRACE = timedelta(seconds=60)

_LEASES = "leases.coordination.k8s.io"
_LEASE_NAMESPACE = "kube-node-lease/"
_EXCLUDED = "node.kubernetes.io/exclude-disruption"
_COMPONENT = "node-controller"
_RETRY = timedelta(seconds=1)


@dataclass(slots=True)
class _Zone:
    """What is known of a zone, and its nodes that shall be given up."""

    ready: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    waiting: dict[str, None] = field(default_factory=dict)
    limiter: zones.Limiter = field(default_factory=zones.Limiter)

    @property
    def state(self) -> ZoneState:
        return zones.state_of(len(self.ready), len(self.lost))


@dataclass(slots=True)
class _Health:
    """When a node was last heard of, by its status or its lease."""

    heard: datetime
    beat: str | None
    zone: str


class NodeLifecycle:
    """Watches over all nodes."""

    name = "nodelifecycle"

    def __init__(self, client: Client) -> None:
        self._client = client
        self._api = client.api
        self._leases = client.subscribe(_LEASES)
        self._nodes = client.subscribe("nodes")
        self._pods = client.subscribe("pods")
        self._on_node = client.index("pods", node_name)
        self._health: dict[str, _Health] = {}
        self._renewals: dict[str, datetime] = {}
        self._zones: dict[str, _Zone] = {}
        self._news: dict[str, None] = {}
        self._silences: Timetable[str] = Timetable()
        self._all_lost = False
        self._ttl_step = 0

    def step(self, now: datetime) -> Outcome:
        """Take in what nodes say, and do what follows from what they do not say."""
        for lease in self._leases.changes():
            self._hear_lease(lease, now)
        for node in self._nodes.changes():
            self._see(node, now)
        for pod in self._pods.changes():
            self._see_pod(pod, now)
        for name in self._silences.take(now):
            self._judge_silence(name, now)
        for node in self._nodes.changes():  # what was written just now
            self._see(node, now)
        self._follow_size()
        news, self._news = list(self._news), {}
        refusals = []
        for name in news:
            try:
                self._follow(name, now)
            except JoinerError as error:
                refusals.append(Refusal(name, error))
                self._news[name] = None
        self._look_at_the_whole(now)
        pace = self._give_up(now)
        retry = now + _RETRY if self._news else None
        return Outcome(again=earliest(self._silences.next(), pace, retry), refusals=tuple(refusals))

    # What is said

    def _hear_lease(self, change: Change, now: datetime) -> None:
        if not change.key.startswith(_LEASE_NAMESPACE):
            return
        name = change.key[len(_LEASE_NAMESPACE) :]
        if change.new is None:
            self._renewals.pop(name, None)
            return
        renewed = change.new["spec"].get("renewTime")
        if change.old is None or change.old["spec"].get("renewTime") != renewed:
            self._renewals[name] = now

    def _see(self, change: Change, now: datetime) -> None:
        name, node = change.key, change.new
        if node is None:
            self._lose(change, now)
            return
        beat = (condition_of(node, "Ready") or {}).get("lastHeartbeatTime")
        health, zone = self._health.get(name), node_states.zone_of(node)
        if health is None:
            created = read_stamp(node["metadata"]["creationTimestamp"])
            heard = now if node_states.readiness(node) else created
            health = self._health[name] = _Health(heard=heard, beat=beat, zone=zone)
            self._tell(node, "RegisteredNode", f"Registered Node {name} in Controller")
        elif health.beat != beat:
            health.heard, health.beat = now, beat
        if health.zone != zone:
            self._leave_zone(name, health.zone)
            health.zone = zone
        self._enter_zone(node, name, zone)
        self._news[name] = None
        self._silences.hasten(name, health.heard + _grace(node))

    def _lose(self, change: Change, now: datetime) -> None:
        health = self._health.pop(change.key, None)
        if health is not None:
            self._leave_zone(change.key, health.zone)
        self._silences.drop(change.key)
        self._news.pop(change.key, None)
        if change.old is not None:
            self._tell(change.old, "RemovingNode", f"Removing Node {change.key} from Controller")

    def _tell(self, node: Object, reason: str, what: str) -> None:
        message = f"Node {node['metadata']['name']} event: {what}"
        self._client.events.record(node, Note(reason=reason, message=message, component=_COMPONENT))

    def _enter_zone(self, node: Object, name: str, key: str) -> None:
        zone = self._zones.setdefault(key, _Zone())
        zone.ready.discard(name)
        zone.lost.discard(name)
        if _EXCLUDED not in labels_of(node):
            (zone.ready if is_true(node, "Ready") else zone.lost).add(name)

    def _leave_zone(self, name: str, key: str) -> None:
        zone = self._zones[key]
        zone.ready.discard(name)
        zone.lost.discard(name)
        zone.waiting.pop(name, None)
        if not zone.ready and not zone.lost and not zone.waiting:
            del self._zones[key]

    def _see_pod(self, change: Change, now: datetime) -> None:
        """A pod that comes to a node that is not ready is not ready."""
        pod = change.new
        if pod is None or (host := node_name(pod)) is None:
            return
        if change.old is not None and node_name(change.old) == host:
            return
        node = self._nodes.objects.get(host)
        if node is not None and node_states.readiness(node) in ("False", "Unknown"):
            self._unready(pod, now)

    # What is not said

    def _judge_silence(self, name: str, now: datetime) -> None:
        node, health = self._api.find("nodes", name), self._health.get(name)
        if node is None or health is None:
            return
        heard = max(health.heard, self._renewals.get(name, health.heard))
        end = heard + _grace(node)
        if now < end:
            self._silences.put(name, end)
            return
        conditions = node_states.unknown_conditions(node, now)
        if conditions == list(node["status"].get("conditions") or ()):
            return  # until it speaks, which is a change
        was_ready = is_true(node, "Ready")
        status = {"conditions": conditions}
        self._api.patch("nodes", name, {"status": status}, subresource="status")
        if was_ready:
            message = f"Node {name} status is now: NodeNotReady"
            note = Note(reason="NodeNotReady", message=message, component=_COMPONENT)
            self._client.events.record(node, note)
            for pod in self._on_node.of(name):
                self._unready(pod, now)

    def _unready(self, pod: Object, now: datetime) -> None:
        ready = condition_of(pod, "Ready")
        if ready is None:
            return
        if ready["status"] != "False":
            before = list(pod["status"]["conditions"])
            conditions = with_condition(before, _without_time(ready) | {"status": "False"}, now)
            meta = pod["metadata"]
            change = {"metadata": {"uid": meta["uid"]}, "status": {"conditions": conditions}}
            self._api.patch("pods", meta["name"], change, meta["namespace"], subresource="status")
        note = Note(
            reason="NodeNotReady",
            message="Node is not ready",
            component=_COMPONENT,
            is_warning=True,
        )
        self._client.events.record(pod, note)

    # What follows for a node

    def _follow(self, name: str, now: datetime) -> None:
        node = self._api.find("nodes", name)
        if node is None:
            return
        taints = node_states.with_state_taints(node, now)
        zone, wanted = self._zones[self._health[name].zone], node_states.evicting_taint_of(node)
        if wanted is None or node_states.has_evicting_taint(node):
            # Readiness takes the taint away, and another state replaces it, without waiting.
            taints = node_states.with_evicting_taint(
                {**node, "spec": {**node["spec"], "taints": taints}}, wanted, now
            )
            zone.waiting.pop(name, None)
        else:
            zone.waiting[name] = None
        change: Object = {}
        if taints != list(node["spec"].get("taints") or ()):
            change["spec"] = {"taints": taints}
        if labels := node_states.missing_labels(node):
            change.setdefault("metadata", {})["labels"] = labels
        ttl = str(node_states.TTL_SECONDS[self._ttl_step])
        if (node["metadata"].get("annotations") or {}).get(node_states.TTL_ANNOTATION) != ttl:
            notes = {node_states.TTL_ANNOTATION: ttl}
            change.setdefault("metadata", {})["annotations"] = notes
        if change:
            self._api.patch("nodes", name, change)

    # What follows for all

    def _follow_size(self) -> None:
        """Tell all kubelets when there are many more or fewer nodes than before."""
        step = node_states.ttl_of(len(self._health), self._ttl_step)
        if step != self._ttl_step:
            self._ttl_step = step
            self._news.update(dict.fromkeys(self._health))

    def _look_at_the_whole(self, now: datetime) -> None:
        """Where no node is ready any more, the fault is elsewhere: nobody is evicted."""
        states = [zone.state for zone in self._zones.values() if zone.ready or zone.lost]
        before, self._all_lost = self._all_lost, zones.everything_is_lost(states)
        if self._all_lost and not before:
            for name, node in list(self._nodes.objects.items()):
                if node_states.has_evicting_taint(node):
                    self._taint(name, None, now)
        elif before and not self._all_lost:
            for health in self._health.values():
                health.heard = now

    def _give_up(self, now: datetime) -> datetime | None:
        """Taint waiting nodes as fast as their zones allow; return when the next may be."""
        if self._all_lost:
            return None
        return earliest(*(self._give_up_in(zone, now) for zone in self._zones.values()))

    def _give_up_in(self, zone: _Zone, now: datetime) -> datetime | None:
        every = zones.pace(zone.state, len(zone.ready) + len(zone.lost))
        while zone.waiting and every is not None:
            due = zone.limiter.next(every, now)
            if due > now:
                return due
            name = next(iter(zone.waiting))
            del zone.waiting[name]
            node = self._nodes.objects.get(name)
            wanted = node_states.evicting_taint_of(node) if node is not None else None
            if wanted is not None:
                zone.limiter.used = now
                self._taint(name, wanted, now)
        return None

    def _taint(self, name: str, wanted: str | None, now: datetime) -> None:
        node = self._api.find("nodes", name)
        if node is not None:
            taints = node_states.with_evicting_taint(node, wanted, now)
            self._api.patch("nodes", name, {"spec": {"taints": taints}})


def _grace(node: Object) -> timedelta:
    return MONITOR_GRACE if node_states.readiness(node) else STARTUP_GRACE


def _without_time(condition: Object) -> Object:
    return {key: value for key, value in condition.items() if key != "lastTransitionTime"}
