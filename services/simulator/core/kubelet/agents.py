"""The kubelets' side towards their nodes: registration, boot, lease and status.

A Node that appears is a machine that boots: its kubelet registers at once, not ready, and is ready
once booted. It renews its lease every ten seconds and its status every five minutes, or at the next
renewal after somebody else called it lost. A dead one does nothing until it returns.

Source: Kubernetes documentation, "Nodes: Heartbeats"; defaults of kubelet 1.36.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv4Address

from libs.domain.errors import JoinerError
from services.simulator.core.client import Client
from services.simulator.core.events import Note
from services.simulator.core.feed import Change
from services.simulator.core.kubelet import node_report
from services.simulator.core.kubelet.fate import FateBook
from services.simulator.core.kubelet.policy import KubeletPolicy
from services.simulator.core.objects import Object, condition_of, is_true, micro_stamp
from services.simulator.core.part import Refusal, earliest
from services.simulator.core.timetable import Timetable

LEASES = "leases.coordination.k8s.io"
CSI_NODES = "csinodes.storage.k8s.io"

_RETRY = timedelta(seconds=1)
_HOST_NETWORK = IPv4Address("172.16.0.0")


@dataclass(slots=True)
class _Agent:
    """What is known of one kubelet."""

    since: datetime
    address: str
    is_up: bool = False
    is_dead: bool = False
    reported: datetime | None = None


class Agents:
    """The kubelets of all simulated nodes, as the API server hears of them."""

    def __init__(self, client: Client, policy: KubeletPolicy, fates: FateBook) -> None:
        self.woken: list[str] = []
        """Nodes whose kubelets have begun to work, until somebody takes the list."""
        self._api = client.api
        self._events = client.events
        self._policy = policy
        self._fates = fates
        self._rules = fates.rules
        self._nodes = client.subscribe("nodes")
        self._agents: dict[str, _Agent] = {}
        self._boots: Timetable[str] = Timetable()
        self._beats: Timetable[str] = Timetable()
        self._turns: Timetable[str] = Timetable()
        self._hosts = 0

    def step(self, now: datetime) -> tuple[datetime | None, list[Refusal]]:
        """Do what is due; return when to come again, and what could not be done."""
        for change in self._nodes.changes():
            self._see(change, now)
        if self._rules is not self._fates.rules:
            self._rules = self._fates.rules
            for name in list(self._agents):
                self._turn(name, now)
        refusals = [
            *_act(self._turns, self._turn, now),
            *_act(self._boots, self._boot, now),
            *_act(self._beats, self._beat, now),
        ]
        return earliest(self._turns.next(), self._boots.next(), self._beats.next()), refusals

    def address(self, name: str) -> str | None:
        """Return the address of a node whose kubelet works, None of any other."""
        agent = self._agents.get(name)
        return agent.address if agent is not None and agent.is_up and not agent.is_dead else None

    def _see(self, change: Change, now: datetime) -> None:
        name, node = change.key, change.new
        if node is None or not (self._policy.every_node or node_report.is_simulated(node)):
            self._agents.pop(name, None)
            for table in (self._boots, self._beats, self._turns):
                table.drop(name)
            return
        if name not in self._agents:
            self._hosts += 1
            address = node_report.address_of(node) or str(_HOST_NETWORK + self._hosts)
            self._agents[name] = _Agent(since=now, address=address)
        elif change.old is not None and _fate_is_same(change.old, node):
            return
        self._turn(name, now)

    def _turn(self, name: str, now: datetime) -> None:
        """Look up what befalls a node, and let it die, boot or return."""
        node, agent = self._nodes.objects.get(name), self._agents.get(name)
        if node is None or agent is None:
            return
        fate = node_report.fate_of(node, self._fates.of(node))
        ahead = [at for at in (fate.dead_since, fate.back_at) if at is not None and at > now]
        if ahead:
            self._turns.put(name, min(ahead))
        was_dead, agent.is_dead = agent.is_dead, fate.is_dead(now)
        if agent.is_dead:
            self._beats.drop(name)
            self._boots.drop(name)
            return
        if was_dead or agent.reported is None:
            self._beats.put(name, now)
        if agent.is_up:
            self.woken.append(name)
        elif is_true(node, "Ready"):
            self._boots.put(name, now)
        elif fate.boots:
            delay = self._policy.boot if fate.boot is None else fate.boot
            self._boots.put(name, max(now, agent.since + delay))
        else:
            self._boots.drop(name)

    def _boot(self, name: str, now: datetime) -> None:
        node, agent = self._api.get("nodes", name), self._agents[name]
        self._report(node, agent, now, ready=True)
        if self._api.find(CSI_NODES, name) is None:
            limits = self._policy.volume_limits
            self._api.create(CSI_NODES, node_report.new_csi_node(node, limits))
        agent.is_up = True
        self.woken.append(name)

    def _beat(self, name: str, now: datetime) -> None:
        node, agent = self._api.get("nodes", name), self._agents[name]
        ready = (condition_of(node, "Ready") or {}).get("status")
        told = "True" if agent.is_up else "False"
        late = agent.reported is None or agent.reported + self._policy.report <= now
        boots_now = not agent.is_up and (is_true(node, "Ready") or self._boots.is_due(name, now))
        if (late or ready != told) and not boots_now:
            self._report(node, agent, now, ready=agent.is_up)
        self._renew(node, name, now)
        self._beats.put(name, now + self._policy.heartbeat)

    def _renew(self, node: Object, name: str, now: datetime) -> None:
        lease = self._api.find(LEASES, name, node_report.LEASE_NAMESPACE)
        if lease is None:
            self._api.create(LEASES, node_report.new_lease(node, now))
            return
        spec = {**lease["spec"], "renewTime": micro_stamp(now)}
        self._api.update(LEASES, {**lease, "spec": spec})

    def _report(self, node: Object, agent: _Agent, now: datetime, *, ready: bool) -> None:
        status = node_report.reported_status(node, agent.address, now, ready=ready)
        name = node["metadata"]["name"]
        self._api.patch("nodes", name, {"status": status}, subresource="status")
        first, agent.reported = agent.reported is None, now
        if first:
            self._tell(node, "Starting", "Starting kubelet.")
        was = (condition_of(node, "Ready") or {}).get("status")
        if ready != (was == "True") and was is not None:
            state = "NodeReady" if ready else "NodeNotReady"
            self._tell(node, state, f"Node {name} status is now: {state}")

    def _tell(self, node: Object, reason: str, message: str) -> None:
        host = node["metadata"]["name"]
        note = Note(reason=reason, message=message, component="kubelet", host=host)
        self._events.record(node, note)


def _fate_is_same(old: Object, new: Object) -> bool:
    """Tell whether nothing changed by which fates are looked up."""
    before, after = old["metadata"], new["metadata"]
    return all(before.get(member) == after.get(member) for member in ("labels", "annotations"))


def _act(
    table: Timetable[str], act: Callable[[str, datetime], None], now: datetime
) -> list[Refusal]:
    refusals = []
    for key in table.take(now):
        try:
            act(key, now)
        except JoinerError as error:
            refusals.append(Refusal(key, error))
            table.put(key, now + _RETRY)
    return refusals
