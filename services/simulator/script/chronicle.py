"""`Chronicle`: tells what becomes of nodes, claims and pods, as one more part of the cluster.

It is apart from the player, which tells what a script does: this is what came of it, whoever did
it. Each object is in one state at a time; a change of the state is an entry. Laws: it writes
nothing; entries are in the order of the writes that they are about.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from services.simulator.core.api.storage import WatchEvent
from services.simulator.core.api.store import Store
from services.simulator.core.api.watching import Watch
from services.simulator.core.objects import (
    condition_of,
    has_ended,
    is_deleting,
    is_true,
    key_of,
    labels_of,
)
from services.simulator.core.part import Outcome
from services.simulator.script.journal import Entry

CLAIMS = "nodeclaims.karpenter.sh"
_TYPE = "node.kubernetes.io/instance-type"
_ZONE = "topology.kubernetes.io/zone"
_CAPACITY_TYPE = "karpenter.sh/capacity-type"


@dataclass(frozen=True, slots=True)
class _Kind:
    """How the objects of a kind are told of."""

    name: str
    state: Callable[[Mapping[str, Any]], str]
    detail: Callable[[Mapping[str, Any]], str]


class Chronicle:
    """What becomes of the objects of one cluster; its time begins with its first step."""

    name = "chronicle"

    def __init__(self, store: Store, tell: Callable[[Entry], None]) -> None:
        self._tell = tell
        self._store = store
        self._watches: dict[str, Watch] = {}
        self._states: dict[str, dict[str, str]] = {resource: {} for resource in _KINDS}
        self._start: datetime | None = None

    def step(self, now: datetime) -> Outcome:
        """Tell what has changed since the last step."""
        if self._start is None:
            self._start = now
        told = [
            (int(event.object["metadata"]["resourceVersion"]), resource, event)
            for resource in _KINDS
            for event in self._events(resource)
        ]
        for _, resource, event in sorted(told, key=lambda one: one[0]):
            self._see(resource, event, now)
        return Outcome()

    def states(self, resource: str) -> Mapping[str, str]:
        """Return the state of each object of a resource, by key."""
        return MappingProxyType(self._states[resource])

    def counts(self, resource: str) -> Counter[str]:
        """Return how many objects of a resource are in which state."""
        return Counter(self._states[resource].values())

    def _events(self, resource: str) -> Iterable[WatchEvent]:
        """Return what is new of a resource, nothing while it is not served."""
        if resource not in self._watches:
            if self._store.resources.named(resource) is None:
                return ()
            self._watches[resource] = self._store.watch(resource)
        return [event for event in self._watches[resource].poll() if event.version is not None]

    def _see(self, resource: str, event: WatchEvent, now: datetime) -> None:
        kind, states, obj = _KINDS[resource], self._states[resource], event.object
        key = key_of(obj)
        before = states.get(key)
        if event.type == "DELETED":
            states.pop(key, None)
            state = "gone"
        else:
            state = states[key] = kind.state(obj)
        if state != before:
            assert self._start is not None
            subject = f"{obj['kind']} {key}"
            what = f"{kind.name} {state}"
            detail = kind.detail(obj) if state != "gone" else ""
            self._tell(Entry(after=now - self._start, what=what, subject=subject, detail=detail))


def _node_state(node: Mapping[str, Any]) -> str:
    if is_deleting(node):
        return "leaves"
    ready = condition_of(node, "Ready")
    if ready is None:
        return "appears"
    return {"True": "ready", "False": "not ready"}.get(ready["status"], "unknown")


def _claim_state(claim: Mapping[str, Any]) -> str:
    if is_deleting(claim):
        return "leaves"
    for type_, state in (
        ("Initialized", "initialized"),
        ("Registered", "registered"),
        ("Launched", "launched"),
    ):
        if is_true(claim, type_):
            return state
    return "made"


def _pod_state(pod: Mapping[str, Any]) -> str:
    if has_ended(pod):
        return "ended"
    if is_deleting(pod):
        return "leaves"
    if not pod["spec"].get("nodeName"):
        return "waits"
    if is_true(pod, "Ready"):
        return "runs"
    return "not ready" if pod["status"].get("phase") == "Running" else "bound"


def _machine(obj: Mapping[str, Any]) -> str:
    labels = labels_of(obj)
    found = (labels.get(key, "") for key in (_TYPE, _CAPACITY_TYPE, _ZONE))
    return " ".join(part for part in found if part)


def _place(pod: Mapping[str, Any]) -> str:
    return str(pod["spec"].get("nodeName") or "")


_KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        CLAIMS: _Kind("claim", _claim_state, _machine),
        "nodes": _Kind("node", _node_state, _machine),
        "pods": _Kind("pod", _pod_state, _place),
    }
)
