"""The scheduler's view of the cluster: the oracle's indexes, fed with what filters can see.

Apart from the scheduler because it decides what a change means: nothing for it (most status
updates), or something that happened, which may help pods that wait. Law: what the filters would
answer differently raises `generation`.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from libs.domain.errors import InvalidRequest
from libs.oracle.cluster import Cluster
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.feed import Change, Feed
from services.simulator.core.objects import Object, has_ended, is_deleting
from services.simulator.core.part import Refusal
from services.simulator.core.scheduler.finder import Finder, zone_of
from services.simulator.core.scheduler.hints import NODE, POD_BOUND, POD_GONE, Happening

_SIMPLE = {
    "namespaces": "Namespace",
    "persistentvolumes": "PersistentVolume",
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "storageclasses.storage.k8s.io": "StorageClass",
    "csinodes.storage.k8s.io": "CSINode",
    "csidrivers.storage.k8s.io": "CSIDriver",
    "csistoragecapacities.storage.k8s.io": "CSIStorageCapacity",
    "volumeattachments.storage.k8s.io": "VolumeAttachment",
    "resourceclaims.resource.k8s.io": "ResourceClaim",
    "resourceslices.resource.k8s.io": "ResourceSlice",
    "deviceclasses.resource.k8s.io": "DeviceClass",
}


class View:
    """Follows everything that filters read."""

    def __init__(self, api: DirectApi) -> None:
        self.cluster = Cluster()
        self.finder = Finder(self.cluster)
        self.generation = 0
        self.assumed: dict[str, str] = {}
        """Node by key of pods that were given one whose binding is still to be written."""
        self._nodes = Feed(api, "nodes")
        self._pods = Feed(api, "pods")
        self._budgets = Feed(api, "poddisruptionbudgets.policy")
        self._others = [(kind, Feed(api, resource)) for resource, kind in _SIMPLE.items()]

    @property
    def pods(self) -> Mapping[str, Object]:
        """All pods by key."""
        return self._pods.objects

    @property
    def budgets(self) -> Collection[Object]:
        """The disruption budgets as of the last look."""
        return self._budgets.objects.values()

    def follow(self) -> tuple[list[Change], list[Happening], list[Refusal]]:
        """Take in what changed; return pods' changes, what may help pods, what is unreadable."""
        happenings, refusals = list[Happening](), list[Refusal]()
        self._budgets.changes()
        for kind, feed in (*self._others, (NODE, self._nodes)):
            for change in feed.changes():
                if kind != NODE or _node_differs(change):
                    refusals += self._take(kind, change)
                    happenings.append(Happening(what=kind, key=change.key))
        pods = self._pods.changes()
        for change in pods:
            if _pod_differs(change) and not self._is_assumed(change):
                if not self._is_as_placed(change):
                    refusals += self._take("Pod", change)
                happenings += _happenings_of(change)
        return pods, happenings, refusals

    def nominated(self, node: str) -> list[Object]:
        """Return the pods for which a node is nominated."""
        return [self.pods[key] for key in self.cluster.nominated.get(node, ())]

    def put(self, kind: str, obj: Object) -> None:
        """Take in an object as it was just written."""
        self.cluster.put(kind, obj)
        self.generation += 1

    def place(self, key: str, node: str) -> None:
        """Put a pod on a node, before its binding is written."""
        self.cluster.bind(self.pods[key], node)
        self.finder.touch(node)
        self.generation += 1

    def assume(self, key: str, node: str) -> None:
        """Put a pod on a node and keep it there whatever the API says until it is released."""
        self.place(key, node)
        self.assumed[key] = node

    def release(self, key: str) -> None:
        """Take a pod back from the node that it was given."""
        self.assumed.pop(key, None)
        seated = self.cluster.pods.get(key)
        if seated is not None:
            self.finder.touch(seated.node_name)
        self.cluster.delete("Pod", key)
        self.generation += 1

    def _is_assumed(self, change: Change) -> bool:
        if change.key not in self.assumed:
            return False
        old, new = change.old, change.new
        same = (
            old is not None and new is not None and old["metadata"]["uid"] == new["metadata"]["uid"]
        )
        if not same or new is None or new["spec"].get("nodeName"):
            del self.assumed[change.key]
            return False
        return True

    def _is_as_placed(self, change: Change) -> bool:
        """Tell whether the change is but the binding of a pod that was put there already."""
        old, new, seated = change.old, change.new, self.cluster.pods.get(change.key)
        if old is None or new is None or seated is None or is_deleting(new) or has_ended(new):
            return False
        same = old["metadata"]["uid"] == new["metadata"]["uid"]
        labels = new["metadata"].get("labels") or {}
        return (
            same
            and not old["spec"].get("nodeName")
            and bool(new["spec"] == seated.spec and labels == seated.labels)
        )

    def _take(self, kind: str, change: Change) -> list[Refusal]:
        self.generation += 1
        for node in _nodes_of(kind, change):
            self.finder.touch(node)
        if kind == "DeviceClass":
            self.finder.forget()
        if kind == NODE and _moves(change):
            self.finder.rearrange()
        try:
            if change.new is None:
                self.cluster.delete(kind, change.key)
            else:
                self.cluster.put(kind, change.new)
        except InvalidRequest as error:
            return [Refusal(change.key, error)]
        return []


def _nodes_of(kind: str, change: Change) -> Iterator[str]:
    """Yield the nodes that a change makes different."""
    if kind == NODE:
        yield change.key
    elif kind == "Pod":
        yield from (one["spec"].get("nodeName") or "" for one in change.sides)


def _moves(change: Change) -> bool:
    """Tell whether a node is new, gone, or in another zone."""
    old, new = change.old, change.new
    return old is None or new is None or zone_of(old) != zone_of(new)


def _node_differs(change: Change) -> bool:
    return bool(_of_node(change.old) != _of_node(change.new))


def _of_node(node: Object | None) -> Any:
    if node is None:
        return None
    status = node.get("status", {})
    seen = node["metadata"].get("labels"), node["spec"], status.get("allocatable")
    return *seen, status.get("declaredFeatures")


def _pod_differs(change: Change) -> bool:
    return bool(_of_pod(change.old) != _of_pod(change.new))


def _of_pod(pod: Object | None) -> Any:
    if pod is None:
        return None
    meta, status = pod["metadata"], pod["status"]
    given = [
        (container["name"], container.get("allocatedResources"), container.get("resources"))
        for member in ("containerStatuses", "initContainerStatuses")
        for container in status.get(member) or ()
        if "allocatedResources" in container or "resources" in container
    ]
    nominated = status.get("nominatedNodeName")
    claims = status.get("resourceClaimStatuses")
    seen = meta["uid"], meta.get("labels"), is_deleting(pod), has_ended(pod), pod["spec"]
    return *seen, nominated, claims, given


def _happenings_of(change: Change) -> Iterator[Happening]:
    """Yield what a pod's change means for others: it came to a node, left one, or takes less."""
    old, new = change.old, change.new
    was_there = old is not None and _takes_room(old)
    is_there = new is not None and _takes_room(new)
    was_bound = bool((old or {}).get("spec", {}).get("nodeName"))
    if was_there and (was_bound or not is_there):
        yield Happening(what=POD_GONE, key=change.key)
    if is_there and (new or {})["spec"].get("nodeName"):
        yield Happening(what=POD_BOUND, key=change.key)


def _takes_room(pod: Object) -> bool:
    promised = pod["spec"].get("nodeName") or pod["status"].get("nominatedNodeName")
    return bool(promised) and not has_ended(pod)
