"""What pods take of each node, and whether a kubelet takes one more: its admission.

Apart from the scheduler's view because a kubelet counts only the pods on its node, and judges those
that somebody else put there. Amounts are cpu in millicores, all else in whole units.

Source: kubelet's predicate admission (1.36); Kubernetes documentation, "Pod Lifecycle".
"""

from collections.abc import Iterable, Mapping
from typing import Any

from libs.domain.errors import InvalidRequest
from libs.oracle.node_selectors import read_pod_node_selection
from libs.oracle.requests import node_resources, pod_requests
from services.simulator.core.kubelet.resizing import DEFERRED, Obstacle
from services.simulator.core.objects import Object, labels_of
from services.simulator.core.taints import tolerates

Amounts = Mapping[str, int]

_ANYWHERE = "0.0.0.0"  # compared with, never listened on


class Rooms:
    """The requests of the pods on each node; kept up with by whoever sees the pods."""

    def __init__(self) -> None:
        self._of_pod: dict[str, tuple[str, Amounts]] = {}
        self._on_node: dict[str, dict[str, int]] = {}
        self._known: dict[tuple[tuple[str, int], ...], Amounts] = {}
        self._sizes: dict[str, tuple[Object, Amounts]] = {}

    def put(self, key: str, node: str, pod: Object) -> None:
        """Count a pod on a node, anew if it is counted already."""
        self.drop(key)
        amounts = self._amounts(pod)
        self._of_pod[key] = (node, amounts)
        total = self._on_node.setdefault(node, {})
        for resource, amount in amounts.items():
            total[resource] = total.get(resource, 0) + amount

    def drop(self, key: str) -> None:
        """Count a pod no more."""
        known = self._of_pod.pop(key, None)
        if known is None:
            return
        node, amounts = known
        total = self._on_node[node]
        for resource, amount in amounts.items():
            total[resource] -= amount
        if not total["pods"]:
            del self._on_node[node]

    def shortage(self, key: str, node: Object) -> tuple[str, str] | None:
        """Return the first resource that a node lacks for a pod on it, and a sentence of it."""
        amounts = self._of_pod[key][1]
        taken = self._on_node.get(node["metadata"]["name"], {})
        allocatable = self._allocatable(node)
        for resource in _in_order(amounts):
            if "/" in resource and resource not in allocatable:
                continue  # resources that no node has are somebody else's to give
            used = taken.get(resource, 0) - amounts[resource]
            capacity = allocatable.get(resource, 0)
            if used + amounts[resource] > capacity:
                return resource, (
                    f"Node didn't have enough resource: {resource}, requested: "
                    f"{amounts[resource]}, used: {used}, capacity: {capacity}"
                )
        return None

    def _allocatable(self, node: Object) -> Amounts:
        known = self._sizes.get(node["metadata"]["name"])
        given = node["status"].get("allocatable") or {}
        if known is None or known[0] != given:
            known = self._sizes[node["metadata"]["name"]] = (given, node_resources(given))
        return known[1]

    def _amounts(self, pod: Object) -> Amounts:
        """Return what a pod takes; one shared value for pods that take the same."""
        try:
            found = {**pod_requests(pod, resized=True), "pods": 1}
        except InvalidRequest:
            found = {"pods": 1}
        return self._known.setdefault(tuple(sorted(found.items())), found)


def _in_order(amounts: Amounts) -> Iterable[str]:
    first = [name for name in ("pods", "cpu", "memory", "ephemeral-storage") if name in amounts]
    return [*first, *sorted(set(amounts) - set(first))]


def refusal(
    rooms: Rooms, key: str, node: Object, pod: Object, others: Iterable[Object]
) -> tuple[str, str] | None:
    """Return reason and message of a kubelet that does not take a pod, None if it does."""
    os = (pod["spec"].get("os") or {}).get("name", "linux")
    if os != labels_of(node).get("kubernetes.io/os", "linux"):
        return "PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS"
    short = rooms.shortage(key, node)
    if short is not None:
        return f"OutOf{short[0]}", short[1]
    predicate = _failed_predicate(node, pod, others)
    if predicate is None:
        return None
    name, why = predicate
    return name, f"Predicate {name} failed: {why}"


def _failed_predicate(
    node: Object, pod: Object, others: Iterable[Object]
) -> tuple[str, str] | None:
    selects = read_pod_node_selection(pod)
    if selects is not None and not selects(labels_of(node), node["metadata"]["name"]):
        return "NodeAffinity", "node(s) didn't match Pod's node affinity/selector"
    mine = _host_ports(pod)
    if mine and any(_collide(mine, _host_ports(other)) for other in others):
        return "NodePorts", "node(s) didn't have free ports for the requested pod ports"
    taints = (t for t in node["spec"].get("taints") or () if t.get("effect") == "NoExecute")
    tolerations = pod["spec"].get("tolerations") or ()
    if not all(any(tolerates(one, taint) for one in tolerations) for taint in taints):
        return "TaintToleration", "node(s) had taints that the pod didn't tolerate"
    return None


def _host_ports(pod: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    return [
        (port.get("hostIP") or _ANYWHERE, port.get("protocol", "TCP"), port["hostPort"])
        for container in pod["spec"]["containers"]
        for port in container.get("ports") or ()
        if port.get("hostPort")
    ]


def _collide(mine: list[tuple[str, str, int]], theirs: list[tuple[str, str, int]]) -> bool:
    return any(
        one[1:] == other[1:] and (one[0] == other[0] or _ANYWHERE in (one[0], other[0]))
        for one in mine
        for other in theirs
    )


def resize_obstacle(rooms: Rooms, key: str, node: Object) -> Obstacle | None:
    """Return what keeps a node from giving a pod what it asks now, None if nothing does."""
    short = rooms.shortage(key, node)
    return Obstacle(DEFERRED, short[1]) if short is not None else None
