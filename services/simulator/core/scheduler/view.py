"""The scheduler's view of the cluster: the oracle's indexes, fed with what filters can see.

Apart from the scheduler because it decides what a change means: nothing for it (most status
updates), a chance for pods that wait, or only for those that look at other pods. Law: what the
filters would answer differently raises `generation`.
"""

from collections.abc import Collection, Mapping
from enum import IntEnum
from typing import Any

from libs.domain.errors import InvalidRequest
from libs.oracle.cluster import Cluster
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.feed import Change, Feed
from services.simulator.core.objects import Object, has_ended, is_deleting
from services.simulator.core.part import Refusal

_SIMPLE = {
    "namespaces": "Namespace",
    "persistentvolumes": "PersistentVolume",
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "storageclasses.storage.k8s.io": "StorageClass",
    "csinodes.storage.k8s.io": "CSINode",
    "csidrivers.storage.k8s.io": "CSIDriver",
    "csistoragecapacities.storage.k8s.io": "CSIStorageCapacity",
    "resourceclaims.resource.k8s.io": "ResourceClaim",
    "resourceslices.resource.k8s.io": "ResourceSlice",
    "deviceclasses.resource.k8s.io": "DeviceClass",
}


class Chance(IntEnum):
    """Whom a change may have helped."""

    NOBODY = 0
    SOCIABLE = 1
    """Pods with affinity to other pods or with spread constraints."""
    EVERYBODY = 2


class View:
    """Follows everything that filters read."""

    def __init__(self, api: DirectApi) -> None:
        self.cluster = Cluster()
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

    def follow(self) -> tuple[list[Change], Chance, list[Refusal]]:
        """Take in what changed; return pods' changes, whom it may help, what is unreadable."""
        chance, refusals = Chance.NOBODY, list[Refusal]()
        self._budgets.changes()
        for kind, feed in (*self._others, ("Node", self._nodes)):
            for change in feed.changes():
                if kind != "Node" or _node_differs(change):
                    refusals += self._take(kind, change)
                    chance = Chance.EVERYBODY
        pods = self._pods.changes()
        for change in pods:
            if _pod_differs(change) and not self._is_assumed(change):
                refusals += self._take("Pod", change)
                chance = max(chance, _chance_of(change))
        return pods, chance, refusals

    def nominated(self, node: str) -> list[Object]:
        """Return the pods for which a node is nominated."""
        return [self.pods[key] for key in self.cluster.nominated.get(node, ())]

    def place(self, key: str, node: str) -> None:
        """Put a pod on a node, before its binding is written."""
        self.cluster.bind(self.pods[key], node)
        self.generation += 1

    def assume(self, key: str, node: str) -> None:
        """Put a pod on a node and keep it there whatever the API says until it is released."""
        self.place(key, node)
        self.assumed[key] = node

    def release(self, key: str) -> None:
        """Take a pod back from the node that it was given."""
        self.assumed.pop(key, None)
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

    def _take(self, kind: str, change: Change) -> list[Refusal]:
        self.generation += 1
        try:
            if change.new is None:
                self.cluster.delete(kind, change.key)
            else:
                self.cluster.put(kind, change.new)
        except InvalidRequest as error:
            return [Refusal(change.key, error)]
        return []


def _node_differs(change: Change) -> bool:
    return bool(_of_node(change.old) != _of_node(change.new))


def _of_node(node: Object | None) -> Any:
    if node is None:
        return None
    return node["metadata"].get("labels"), node["spec"], node.get("status", {}).get("allocatable")


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
    seen = meta["uid"], meta.get("labels"), is_deleting(pod), has_ended(pod), pod["spec"]
    return *seen, nominated, given


def _chance_of(change: Change) -> Chance:
    old, new = change.old, change.new
    was_bound = old is not None and bool(old["spec"].get("nodeName"))
    if was_bound and (new is None or has_ended(new) or new["spec"] != (old or {})["spec"]):
        return Chance.EVERYBODY
    bound = new is not None and bool(new["spec"].get("nodeName"))
    return Chance.SOCIABLE if bound else Chance.NOBODY
