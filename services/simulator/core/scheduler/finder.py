"""Where a pod may go, and which of these nodes is the best, without asking every node each time.

Apart from the oracle, whose filters and scores it uses, because of what it spares them: as
kube-scheduler does, it looks from node to node, going on where it stopped for the last pod, until
it has found enough; and it remembers what filters and scores that look at one node alone said of a
node to pods that are alike, until something of the node changes. Law: a pod without a place gets
the verdict that `judge` would give.

Source: kube-scheduler's sampling of nodes with its default configuration (1.36).
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import msgspec

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.node_affinity import named_nodes
from libs.oracle.objects import status_of
from libs.oracle.pods import Pod, read_pod
from libs.oracle.score import NodePoints, best, compare, node_points
from libs.oracle.verdict import (
    Rejection,
    Tests,
    Verdict,
    first_refusal,
    nominated_ahead,
    prepare,
    refused_everywhere,
    try_node,
)
from services.simulator.core.objects import Object, controller_of, labels_of

_ALONE = (
    "NodeAffinity",
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodePorts",
    "NodeResourcesFit",
)
"""The first filters: they look at the pod and one node, and at device classes."""

_KINDS_OF_PODS = 64
"""How many kinds of like pods are remembered."""

_REGION, _ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"

_LEAST = 100
_LEAST_PERCENT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What became of the search for a node."""

    node: str
    """Empty if there is none."""
    verdict: Verdict | None
    """Why there is none."""
    effort: int
    """How many answers about nodes had to be found anew."""


@dataclass(slots=True)
class _Likes:
    """What is known of nodes for pods that are alike; each entry with the node's version."""

    refusals: dict[str, tuple[int, Rejection | None]] = field(default_factory=dict)
    points: dict[str, tuple[int, NodePoints]] = field(default_factory=dict)


class Finder:
    """Searches one cluster; told of every change by `touch`, `rearrange` and `forget`."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._versions: dict[str, int] = {}
        self._likes: OrderedDict[bytes, _Likes] = OrderedDict()
        self._order: Sequence[str] | None = None
        self._start = 0

    def touch(self, node_name: str) -> None:
        """Hear that something of a node, or which pods it has, is different."""
        self._versions[node_name] = self._versions.get(node_name, 0) + 1

    def rearrange(self) -> None:
        """Hear that there is a node more or less, or one in another zone."""
        self._order = None

    def forget(self) -> None:
        """Hear that something is different that all nodes are judged by."""
        self._likes.clear()

    def find(self, obj: Object) -> Found:
        """Find the best of the nodes that a search for enough of them meets.

        Raises:
            InvalidRequest: a quantity or a selector of the pod is malformed.
        """
        cluster, pod = self._cluster, read_pod(obj)
        tests = prepare(cluster, pod)
        if isinstance(tests, Rejection):
            return Found(node="", verdict=refused_everywhere(cluster, tests), effort=0)
        likes = self._likes_of(obj)
        trial = _Trial(cluster, obj, tests, likes, self._versions)
        nominated = status_of(obj).get("nominatedNodeName")
        if nominated in cluster.nodes and trial.refusal(nominated) is None:
            return Found(node=nominated, verdict=None, effort=1)
        feasible, rejected = self._search(pod, trial)
        if not feasible:
            verdict = Verdict(feasible=(), rejected=self._complete(trial, rejected))
            return Found(node="", verdict=verdict, effort=trial.effort)
        node = self._best(pod, feasible, likes)
        return Found(node=node, verdict=None, effort=trial.effort)

    def _search(self, pod: Pod, trial: "_Trial") -> tuple[list[str], dict[str, Rejection]]:
        named = named_nodes(pod)
        if named is not None:
            order: Sequence[str] = sorted(named & self._cluster.nodes.keys())
            start = 0
        else:
            order = self._order = self._order or _zone_by_zone(self._cluster.nodes.values())
            start = self._start
        wanted, number = _enough(len(order)), len(order)
        feasible: list[str] = []
        rejected: dict[str, Rejection] = {}
        for index in range(start, start + number):
            name = order[index - number if index >= number else index]
            refusal = trial.refusal(name)
            if refusal is not None:
                rejected[name] = refusal
                continue
            feasible.append(name)
            if len(feasible) == wanted:
                break
        if named is None and number:
            self._start = (start + len(feasible) + len(rejected)) % number
        return feasible, rejected

    def _complete(
        self, trial: "_Trial", rejected: Mapping[str, Rejection]
    ) -> Mapping[str, Rejection]:
        """Return why each node is refused, those that were not looked at included."""
        return {
            name: refusal
            for name in self._cluster.nodes
            if (refusal := rejected.get(name) or trial.refusal(name)) is not None
        }

    def _best(self, pod: Pod, feasible: Sequence[str], likes: _Likes) -> str:
        if len(feasible) == 1:
            return feasible[0]
        nodes = [self._cluster.nodes[name] for name in feasible]
        points_of = node_points(pod)
        points = [self._points(node, points_of, likes) for node in nodes]
        return best(nodes, compare(self._cluster, pod, nodes, points))

    def _points(
        self, node: Node, points_of: Callable[[Node], NodePoints], likes: _Likes
    ) -> NodePoints:
        version, known = self._versions.get(node.name, 0), likes.points.get(node.name)
        if known is not None and known[0] == version:
            return known[1]
        points = points_of(node)
        likes.points[node.name] = (version, points)
        return points

    def _likes_of(self, pod: Object) -> _Likes:
        kind = likeness(pod)
        likes = self._likes.pop(kind, None)
        if likes is None:
            likes = _Likes()
            if len(self._likes) >= _KINDS_OF_PODS:
                self._likes.popitem(last=False)
        self._likes[kind] = likes
        return likes


class _Trial:
    """One pod, tried on nodes."""

    def __init__(
        self,
        cluster: Cluster,
        pod: Object,
        tests: Tests,
        likes: _Likes,
        versions: Mapping[str, int],
    ) -> None:
        self._cluster = cluster
        self._pod = pod
        self._tests = tests
        self._alone = [one for one in tests if one[0] in _ALONE]
        self._others = [one for one in tests if one[0] not in _ALONE]
        self._refusals = likes.refusals
        self._versions = versions
        self.effort = 0
        """How many answers were not remembered."""

    def refusal(self, name: str) -> Rejection | None:
        """Return why the node is refused, None if the pod may go there."""
        self.effort += len(self._others)
        if self._cluster.nominated and nominated_ahead(self._cluster, self._pod, name):
            return try_node(self._cluster, self._pod, self._tests, name)
        version = self._versions.get(name, 0)
        known = self._refusals.get(name)
        if known is None or known[0] != version:
            self.effort += 1
            known = (version, first_refusal(self._alone, self._cluster.nodes[name]))
            self._refusals[name] = known
        if known[1] is not None or not self._others:
            return known[1]
        return first_refusal(self._others, self._cluster.nodes[name])


def likeness(pod: Object) -> bytes:
    """Return what the filters and scores see of a pod, beside its claims."""
    spec, meta = pod["spec"], pod["metadata"]
    owner = controller_of(pod)
    seen = (meta["namespace"], meta.get("labels"), owner and owner["uid"], spec)
    return msgspec.json.encode(seen)


def _enough(number: int) -> int:
    """Return how many feasible nodes are enough to choose among."""
    percent = max(50 - number // 125, _LEAST_PERCENT)
    return min(number, max(_LEAST, number * percent // 100))


def zone_of(node: Mapping[str, Any]) -> tuple[str, str]:
    """Return region and zone of a node, empty where it does not say."""
    labels = labels_of(node)
    return labels.get(_REGION, ""), labels.get(_ZONE, "")


def _zone_by_zone(nodes: Iterable[Node]) -> Sequence[str]:
    """Return the names of the nodes, one of each zone after the other."""
    zones: dict[tuple[str, str], list[str]] = {}
    for node in sorted(nodes, key=lambda one: one.name):
        zones.setdefault(zone_of(node.obj), []).append(node.name)
    rows = zip_longest(*(zones[zone] for zone in sorted(zones)))
    return [name for row in rows for name in row if name is not None]
