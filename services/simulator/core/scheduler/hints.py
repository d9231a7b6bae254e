"""Which changes of the cluster may help which of the pods that found no place.

A change concerns a pod only if a plugin that refused it looks at what has changed. Law: a change
without which the verdict would have been the same may help nobody; one that could make a node pass
always helps.

Source: the events and queueing hints of kube-scheduler's plugins (1.36); where those look closer
than here, a pod is tried in vain.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.inter_pod_affinity import means
from libs.oracle.filters.taint_toleration import has_untolerated_taint
from libs.oracle.node_selectors import read_pod_node_selection
from libs.oracle.pods import Pod
from services.simulator.core.scheduler.queue import Parked

_MANY = 20
"""Changes of nodes at once from which on no node is looked at on its own."""

POD_BOUND, POD_GONE, NODE = "PodBound", "PodGone", "Node"
_STORAGE = frozenset({"PersistentVolumeClaim", "PersistentVolume", "StorageClass"})
_CSI = frozenset({"CSINode", "CSIDriver", "CSIStorageCapacity"})
_INTERESTS: Mapping[str, frozenset[str]] = {
    "NodeAffinity": frozenset({NODE}),
    "NodeUnschedulable": frozenset({NODE}),
    "NodeName": frozenset({NODE}),
    "TaintToleration": frozenset({NODE}),
    "NodePorts": frozenset({NODE, POD_GONE}),
    "NodeResourcesFit": frozenset({NODE, POD_GONE, "DeviceClass"}),
    "VolumeRestrictions": frozenset({NODE, POD_GONE, "PersistentVolumeClaim"}),
    "NodeVolumeLimits": frozenset({NODE, POD_GONE, *_STORAGE, *_CSI, "VolumeAttachment"}),
    "VolumeBinding": frozenset({NODE, *_STORAGE, *_CSI}),
    "VolumeZone": frozenset({NODE, *_STORAGE}),
    "PodTopologySpread": frozenset({NODE, POD_GONE, POD_BOUND}),
    "InterPodAffinity": frozenset({NODE, POD_GONE, POD_BOUND, "Namespace"}),
    "NodeDeclaredFeatures": frozenset({NODE}),
    "DynamicResources": frozenset(
        {NODE, POD_GONE, "ResourceClaim", "ResourceSlice", "DeviceClass"}
    ),
}
"""What each plugin looks at: kinds of objects, and pods that come to nodes or leave them."""

_COMPARING = frozenset({"PodTopologySpread", "InterPodAffinity"})
"""Plugins for which a node counts although the pod may not go there."""

EVERY_PLUGIN = frozenset(_INTERESTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One change of the cluster."""

    what: str
    """A kind of `_INTERESTS`."""
    key: str


class Hints:
    """The changes since pods were looked through last."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._others: set[str] = set()
        self._nodes: dict[str, None] = {}
        self._bound: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self._others or self._nodes or self._bound)

    def add(self, happenings: Iterable[Happening]) -> None:
        """Take in changes."""
        for one in happenings:
            if one.what == NODE:
                self._nodes[one.key] = None
            elif one.what == POD_BOUND:
                self._bound[one.key] = None
            else:
                self._others.add(one.what)

    def clear(self) -> None:
        """Forget the changes: everybody was looked through."""
        self._others.clear()
        self._nodes.clear()
        self._bound.clear()

    def help(self, parked: Parked) -> bool:
        """Tell whether what has changed may help a pod."""
        interests = frozenset[str]().union(*(_INTERESTS.get(one, ()) for one in parked.plugins))
        if interests & self._others:
            return True
        if POD_BOUND in interests and self._bound and self._draws(parked):
            return True
        return NODE in interests and bool(self._nodes) and self._opens(parked)

    def _draws(self, parked: Parked) -> bool:
        """Tell whether one of the pods that came to a node is of those it looks for."""
        pods = [self._cluster.pods[key] for key in self._bound if key in self._cluster.pods]
        if "PodTopologySpread" in parked.plugins and any(
            one.namespace == parked.pod.namespace for one in pods
        ):
            return True
        return "InterPodAffinity" in parked.plugins and any(
            means(self._cluster, term, one) for term in parked.pod.affinity for one in pods
        )

    def _opens(self, parked: Parked) -> bool:
        """Tell whether one of the nodes that are new or different may be its place."""
        if len(self._nodes) > _MANY:
            return True
        if _COMPARING & parked.plugins:
            return True
        there = [self._cluster.nodes[name] for name in self._nodes if name in self._cluster.nodes]
        return any(_may_take(node, parked.pod) for node in there)


def _may_take(node: Node, pod: Pod) -> bool:
    """Tell whether the node, were it empty, would do for all that is cheap to say of it."""
    lacking = [one for one, n in pod.requests.items() if n > node.allocatable.get(one, 0)]
    # What a device class stands for may be had although the node does not offer it.
    if not all("/" in one for one in lacking) or has_untolerated_taint(pod, node):
        return False
    selects = read_pod_node_selection(pod.obj)
    return selects is None or selects(node.labels, node.name)
