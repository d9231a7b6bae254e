"""DaemonSets: a pod on every node that its node selector, affinity and tolerations allow.

Which nodes those are, the oracle says. A pod is pinned to its node by a node affinity on the name
and then scheduled like any other. It stays where only a NoSchedule taint, which came later, would
keep it away.

Source: Kubernetes documentation, "DaemonSet".
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from libs.oracle.cluster import Cluster
from libs.oracle.daemons import daemon_pod, daemon_pods
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.frozen import thaw
from services.simulator.core.client import Client, controller_uid
from services.simulator.core.controllers import adoption, daemon_rollout, pods
from services.simulator.core.controllers.controller import Controller, its_controller, itself
from services.simulator.core.controllers.daemon_rollout import Sides
from services.simulator.core.controllers.patience import Patience
from services.simulator.core.controllers.revisions import DAEMON_HASH as REVISION
from services.simulator.core.controllers.revisions import Revisions, hash_of
from services.simulator.core.events import Note
from services.simulator.core.feed import Change
from services.simulator.core.objects import (
    Object,
    has_ended,
    is_deleting,
    key_of,
    labels_of,
    split_key,
)
from services.simulator.core.part import earliest
from services.simulator.core.timetable import AT_ONCE

DAEMON_SETS = "daemonsets.apps"
GENERATION = "pod-template-generation"

_GENERATION_ANNOTATION = "deprecated.daemonset.template.generation"
_MANY_NODES = 500
_PAUSE = timedelta(milliseconds=100)


class Allowed(NamedTuple):
    """What a DaemonSet's pod may do on a node."""

    start: bool
    stay: bool


class Wanted(NamedTuple):
    """What a DaemonSet asks for."""

    daemon_set: Object
    revision: str
    """Of its present template."""
    allowed: Mapping[str, Allowed]
    """By node."""


class Eligibility:
    """Which DaemonSet may run on which node; remembered while neither changes."""

    def __init__(self, client: Client) -> None:
        self.nodes: dict[str, Object] = {}
        """The nodes as they were when something of them changed that matters."""
        self._changes = client.subscribe("nodes")
        self._strict, self._lenient = Cluster(), Cluster()
        self._known: dict[tuple[str, str], tuple[int, Object, Allowed]] = {}

    def follow(self) -> None:
        """Take in what changed of nodes."""
        for change in self._changes.changes():
            if not _may_move_daemons(change):
                continue
            if change.new is None:
                self.nodes.pop(change.key, None)
                self._strict.delete("Node", change.key)
                self._lenient.delete("Node", change.key)
            else:
                self.nodes[change.key] = change.new
                self._strict.put("Node", change.new)
                self._lenient.put("Node", _only_evicting(change.new))

    def of(self, daemon_set: Object, name: str) -> Allowed:
        """Return what a DaemonSet's pod may do on a node."""
        meta, node = daemon_set["metadata"], self.nodes[name]
        known = self._known.get((meta["uid"], name))
        if known is not None and known[0] == meta["generation"] and known[1] is node:
            return known[2]
        start, stay = (
            bool(daemon_pods(cluster, [daemon_set], name))
            for cluster in (self._strict, self._lenient)
        )
        allowed = Allowed(start=start, stay=stay)
        self._known[meta["uid"], name] = (meta["generation"], node, allowed)
        return allowed


def _only_evicting(node: Object) -> Object:
    taints = [t for t in node["spec"].get("taints") or () if t.get("effect") == "NoExecute"]
    return {**node, "spec": {**node["spec"], "taints": taints, "unschedulable": False}}


def daemon_set_controller(client: Client) -> Controller:
    """Return the controller of DaemonSets."""
    api = client.api
    owned, free = client.index("pods", controller_uid), adoption.orphans(client)
    of_owner, who_selects = its_controller("DaemonSet"), adoption.who_selects(client, DAEMON_SETS)
    eligibility, revisions = Eligibility(client), Revisions(client)
    patience = Patience()

    def reconcile(key: str, now: datetime) -> datetime | None:
        eligibility.follow()
        namespace, name = split_key(key)
        daemon_set = api.find(DAEMON_SETS, name, namespace)
        if daemon_set is None:
            return None
        uid = daemon_set["metadata"]["uid"]
        adoption.release(api, daemon_set, owned.of(uid))
        if not is_deleting(daemon_set):
            adoption.adopt(api, daemon_set, free)
        allowed = {node: eligibility.of(daemon_set, node) for node in eligibility.nodes}
        again: datetime | None = None
        wanted = Wanted(daemon_set, hash_of(revisions.present(daemon_set)), allowed)
        if not is_deleting(daemon_set):
            again = _place(client, wanted, _by_node(owned.of(uid)), patience, now)
            if again == now:
                return now
            _renew(client, wanted, _by_node(owned.of(uid)), now)
            used = {labels_of(pod).get(REVISION, "") for pod in owned.of(uid)}
            revisions.forget_old(daemon_set, used)
        return earliest(again, _report(api, wanted, _by_node(owned.of(uid)), now))

    def every_daemon_set(_node: Object) -> Iterable[str]:
        return map(key_of, api.list(DAEMON_SETS))

    sources = {
        DAEMON_SETS: itself,
        "pods": lambda pod: (*of_owner(pod), *who_selects(pod)),
        "nodes": every_daemon_set,
    }

    def pause(_key: str) -> timedelta:
        """A look at a DaemonSet costs as much as there are nodes."""
        return _PAUSE * (len(eligibility.nodes) // _MANY_NODES)

    return Controller(
        "daemonset",
        client,
        sources,
        reconcile,
        matters={"nodes": _may_move_daemons},
        pause=pause,
    )


def _may_move_daemons(change: Change) -> bool:
    """Tell whether a change of a node may decide where daemons run: a heartbeat does not."""
    if change.old is None or change.new is None:
        return True
    return bool(
        change.old["spec"] != change.new["spec"] or labels_of(change.old) != labels_of(change.new)
    )


def node_of(pod: Mapping[str, Any]) -> str:
    """Return the node that a DaemonSet's pod is on or meant for."""
    if name := pod["spec"].get("nodeName"):
        return str(name)
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            return str((field.get("values") or [""])[0])
    return ""


def _by_node(present: Iterable[Object]) -> dict[str, list[Object]]:
    found: dict[str, list[Object]] = {}
    for pod in present:
        found.setdefault(node_of(pod), []).append(pod)
    return found


def _place(
    client: Client,
    wanted: Wanted,
    present: Mapping[str, list[Object]],
    patience: Patience,
    now: datetime,
) -> datetime | None:
    """Make and delete pods; return when there is more to be done."""
    daemon_set, revision, allowed = wanted
    waits: list[datetime] = []
    doubles = bool(daemon_rollout.surge_of(daemon_set["spec"]["updateStrategy"], len(allowed)))
    for node, there in present.items():
        if node not in allowed and any(pod["spec"].get("nodeName") for pod in there):
            continue  # pods of a node that is gone are garbage, and collected as such
        may = allowed.get(node, Allowed(start=False, stay=False))
        for pod in _surplus(revision, there, may, doubles=doubles):
            if pod["status"].get("phase") == "Failed" and may.stay:
                until = patience.until(daemon_set["metadata"]["uid"], node, now)
                if until is not None:
                    waits.append(until)
                    continue
            if has_ended(pod):
                _tell_of_end(client, daemon_set, pod, node)
            pods.remove(client, daemon_set, pod)
    empty = [node for node, may in allowed.items() if may.start and not present.get(node)]
    for node in empty[:AT_ONCE]:
        pods.create(client, daemon_set, new_pod(daemon_set, revision, node))
    return now if len(empty) > AT_ONCE else earliest(*waits)


def _surplus(
    revision: str, there: Iterable[Object], may: Allowed, *, doubles: bool
) -> Iterable[Object]:
    """Return the pods that have to leave a node: one stays, or one of each side of a surge."""
    running = [pod for pod in there if not is_deleting(pod)]
    if not may.stay:
        return running
    sides = _sides(revision, running)
    kept = [*sides.old[:1], *sides.new[:1]] if doubles else pods.active(running)[:1]
    return [pod for pod in running if not any(pod is one for one in kept)]


def _tell_of_end(client: Client, daemon_set: Object, pod: Object, node: str) -> None:
    failed = pod["status"]["phase"] == "Failed"
    word = "Failed" if failed else "Succeeded"
    verb = "kill" if failed else "delete"
    message = f"Found {word.lower()} daemon pod {key_of(pod)} on node {node}, will try to {verb} it"
    note = Note(
        reason=f"{word}DaemonPod",
        message=message,
        component="daemonset-controller",
        is_warning=failed,
    )
    client.events.record(daemon_set, note)


def new_pod(daemon_set: Object, revision: str, node: str) -> Object:
    """Return the pod of a DaemonSet's present revision for a node."""
    template = daemon_set["spec"]["template"]
    pod = pods.pod_from(daemon_set, template)
    annotations = daemon_set["metadata"].get("annotations") or {}
    pod["metadata"]["labels"] = {
        **labels_of(pod),
        GENERATION: annotations.get(_GENERATION_ANNOTATION, "1"),
        REVISION: revision,
    }
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = pod["spec"].setdefault("affinity", {})
    chosen = affinity.setdefault("nodeAffinity", {})
    chosen["requiredDuringSchedulingIgnoredDuringExecution"] = required
    pod["spec"]["tolerations"] = thaw(daemon_pod(daemon_set, node)["spec"]["tolerations"])
    return pod


def _renew(
    client: Client, wanted: Wanted, present: Mapping[str, list[Object]], now: datetime
) -> None:
    """Replace pods of old templates, as fast as the strategy allows."""
    daemon_set, revision, allowed = wanted
    spec = daemon_set["spec"]

    def is_available(pod: Object) -> bool:
        at = pods.available_at(pod, spec.get("minReadySeconds", 0))
        return at is not None and at <= now

    nodes = {
        node: _sides(revision, present.get(node, ())) for node, may in allowed.items() if may.start
    }
    found = daemon_rollout.moves(spec["updateStrategy"], nodes, is_available)
    for pod in found.delete:
        pods.remove(client, daemon_set, pod)
    for node in found.create[:AT_ONCE]:
        pods.create(client, daemon_set, new_pod(daemon_set, revision, node))


def _sides(revision: str, there: Iterable[Object]) -> Sides:
    running = pods.active(there)
    return Sides(
        new=tuple(pod for pod in running if labels_of(pod).get(REVISION) == revision),
        old=tuple(pod for pod in running if labels_of(pod).get(REVISION) != revision),
    )


def _report(
    api: DirectApi, wanted: Wanted, present: Mapping[str, Sequence[Object]], now: datetime
) -> datetime | None:
    daemon_set, revision, allowed = wanted
    spec = daemon_set["spec"]
    there = {node: pods.active(found) for node, found in present.items()}
    desired = [node for node, may in allowed.items() if may.start]
    scheduled = [there[node][0] for node in desired if there.get(node)]
    waits = [pods.available_at(pod, spec.get("minReadySeconds", 0)) for pod in scheduled]
    instants = [instant for instant in waits if instant is not None]
    available = sum(instant <= now for instant in instants)
    status = {
        "observedGeneration": daemon_set["metadata"]["generation"],
        "desiredNumberScheduled": len(desired),
        "currentNumberScheduled": len(scheduled),
        "numberMisscheduled": sum(
            bool(found) for node, found in there.items() if not _may_start(allowed, node)
        ),
        "numberReady": len(instants),
        "numberAvailable": available or None,
        "numberUnavailable": len(desired) - available or None,
        "updatedNumberScheduled": sum(labels_of(pod).get(REVISION) == revision for pod in scheduled)
        or None,
    }
    pods.write_status(api, DAEMON_SETS, daemon_set, status)
    return earliest(*(instant for instant in instants if instant > now))


def _may_start(allowed: Mapping[str, Allowed], node: str) -> bool:
    return node in allowed and allowed[node].start
