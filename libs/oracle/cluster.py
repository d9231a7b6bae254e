"""The cluster as the filters see it, kept up to date object by object.

Apart from the filters because the simulator's scheduler keeps one for its whole life: each change
costs what the changed object holds, never the size of the cluster. It is the only mutable thing in
this package. What several filters would otherwise search for is indexed: resources, ports and pods
per node, pods per label, pods per anti-affinity term.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from libs.oracle.affinity_terms import AffinityTerm
from libs.oracle.objects import KubeObject, key_of, labels_of, name_of, spec_of, status_of
from libs.oracle.pods import HostPort, Pod, is_finished, read_pod
from libs.oracle.requests import node_resources
from libs.oracle.selectors import LabelSelector
from libs.oracle.tallies import Tallies


class Taint(NamedTuple):
    """A node's taint."""

    key: str
    value: str
    effect: str


@dataclass(slots=True, kw_only=True)
class Node:
    """A node and what its pods take of it; written by `Cluster` alone."""

    obj: KubeObject
    name: str
    labels: Mapping[str, str]
    is_unschedulable: bool
    taints: tuple[Taint, ...]
    allocatable: Mapping[str, int]
    """Cpu in millicores, all else in whole units; `pods` is always there."""
    pods: dict[str, Pod] = field(default_factory=dict)
    requested: Counter[str] = field(default_factory=Counter)
    requested_for_scoring: Counter[str] = field(default_factory=Counter)
    host_ports: Counter[HostPort] = field(default_factory=Counter)


class Cluster:
    """Nodes, pods and what they refer to; plain objects in, indexes out.

    Objects of kinds that no filter reads are ignored. Bound pods may come before their node.
    """

    def __init__(self, default_spread: Sequence[KubeObject] = ()) -> None:
        """Make an empty cluster.

        Args:
            default_spread: `defaultConstraints` of the scheduler's configuration, for pods without
                spread constraints of their own; none by default, as the system's are soft.
        """
        self.default_spread = tuple(default_spread)
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        """Pods on a node (even an unknown one) that have not finished, by `namespace/name`."""
        self.pending: dict[str, KubeObject] = {}
        """Pods without a node that have not finished, by `namespace/name`."""
        self.nominated: dict[str, dict[str, KubeObject]] = {}
        """Those of them for which a node is nominated, by its name, then by `namespace/name`."""
        self.namespaces: dict[str, KubeObject] = {}
        self.claims: dict[str, KubeObject] = {}
        """PersistentVolumeClaims by `namespace/name`."""
        self.volumes: dict[str, KubeObject] = {}
        """PersistentVolumes by name."""
        self.storage_classes: dict[str, KubeObject] = {}
        self.csi_nodes: dict[str, KubeObject] = {}
        self.csi_drivers: dict[str, KubeObject] = {}
        self.storage_capacities: dict[str, KubeObject] = {}
        """CSIStorageCapacities by `namespace/name`."""
        self.attachments: dict[str, dict[str, KubeObject]] = {}
        """VolumeAttachments by node and name."""
        self.services: dict[str, KubeObject] = {}
        """By `namespace/name`; they and controllers only matter to default spread constraints."""
        self.controllers: dict[tuple[str, str], KubeObject] = {}
        """ReplicaSets, StatefulSets and ReplicationControllers by kind and `namespace/name`."""
        self.resource_claims: dict[str, KubeObject] = {}
        """ResourceClaims by `namespace/name`."""
        self.resource_claim_templates: dict[str, KubeObject] = {}
        """By `namespace/name`; no filter reads them, who makes claims does."""
        self.resource_slices: dict[str, KubeObject] = {}
        self.device_classes: dict[str, KubeObject] = {}
        self.anti_affinity: dict[AffinityTerm, dict[str, Pod]] = {}
        """Bound pods by each required anti-affinity term that they carry."""
        self.attractions: dict[tuple[int, AffinityTerm], dict[str, Pod]] = {}
        """Bound pods by each weight and term with which they draw or repel newcomers."""
        self.claim_users: Counter[str] = Counter()
        """How many bound pods mount a claim, by `namespace/name`."""
        self.tallies = Tallies()
        """Of like pods by domain."""
        self._pods_by_node: dict[str, dict[str, Pod]] = {}
        self._pods_by_namespace: dict[str, dict[str, Pod]] = {}
        self._pods_by_label: dict[tuple[str, str, str], dict[str, Pod]] = {}
        self._others = {
            "Namespace": self.namespaces,
            "PersistentVolume": self.volumes,
            "StorageClass": self.storage_classes,
            "CSINode": self.csi_nodes,
            "CSIDriver": self.csi_drivers,
            "ResourceSlice": self.resource_slices,
            "DeviceClass": self.device_classes,
        }
        self._namespaced = {
            "PersistentVolumeClaim": self.claims,
            "CSIStorageCapacity": self.storage_capacities,
            "Service": self.services,
            "ResourceClaim": self.resource_claims,
            "ResourceClaimTemplate": self.resource_claim_templates,
        }

    def put(self, kind: str, obj: KubeObject) -> None:
        """Add the object, or replace the one of the same name.

        Raises:
            InvalidRequest: a quantity or a selector in it is malformed; nothing changed then.
        """
        match kind:
            case "Node":
                self._put_node(obj)
            case "Pod":
                self._put_pod(obj)
            case "ReplicaSet" | "StatefulSet" | "ReplicationController":
                self.controllers[kind, key_of(obj)] = obj
            case "VolumeAttachment":
                self.delete(kind, name_of(obj))
                node = spec_of(obj).get("nodeName", "")
                self.attachments.setdefault(node, {})[name_of(obj)] = obj
            case _ if kind in self._namespaced:
                self._namespaced[kind][key_of(obj)] = obj
            case _ if kind in self._others:
                self._others[kind][name_of(obj)] = obj

    def delete(self, kind: str, key: str) -> None:
        """Forget the object of this name (`namespace/name` where namespaced), if it is there."""
        match kind:
            case "Node":
                self.nodes.pop(key, None)
                self.tallies.forget()
            case "Pod":
                self._forget_pending(key)
                self._unbind(key)
            case "ReplicaSet" | "StatefulSet" | "ReplicationController":
                self.controllers.pop((kind, key), None)
            case "VolumeAttachment":
                for there in self.attachments.values():
                    there.pop(key, None)
            case _ if kind in self._namespaced:
                self._namespaced[kind].pop(key, None)
            case _ if kind in self._others:
                self._others[kind].pop(key, None)

    def bind(self, pod: KubeObject, node_name: str) -> None:
        """Put the pod on the node, as if its binding had been written."""
        self.put("Pod", {**pod, "spec": {**spec_of(pod), "nodeName": node_name}})

    @contextmanager
    def supposing(self, pods: Iterable[KubeObject], node_name: str) -> Iterator[None]:
        """Have pending pods on a node meanwhile; they stay among the pending ones, too."""
        read = [read_pod({**pod, "spec": {**spec_of(pod), "nodeName": node_name}}) for pod in pods]
        for pod in read:
            self.seat(pod)
        try:
            yield
        finally:
            for pod in read:
                self._unbind(pod.key)

    def unseat(self, key: str) -> Pod:
        """Take a bound pod off its node and return it."""
        pod = self.pods[key]
        self._unbind(key)
        return pod

    def copy(self) -> "Cluster":
        """Return a cluster of the same objects that changes on its own."""
        twin = Cluster(self.default_spread)
        twin.controllers.update(self.controllers)
        for kind, objects in (
            ("Node", [node.obj for node in self.nodes.values()]),
            ("Pod", [*(pod.obj for pod in self.pods.values()), *self.pending.values()]),
            *(("VolumeAttachment", there.values()) for there in self.attachments.values()),
            *((kind, table.values()) for kind, table in self._namespaced.items()),
            *((kind, table.values()) for kind, table in self._others.items()),
        ):
            for obj in objects:
                twin.put(kind, obj)
        return twin

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        """Return the namespace's labels, empty if it is unknown."""
        known = self.namespaces.get(namespace)
        return {} if known is None else labels_of(known)

    def pods_matching(
        self, selector: LabelSelector | None, namespaces: Iterable[str] | None = None
    ) -> Iterator[Pod]:
        """Yield the bound pods in the namespaces (None: everywhere) that the selector matches."""
        if selector is None:
            return
        for namespace in tuple(self._pods_by_namespace) if namespaces is None else namespaces:
            for pod in self._candidates(namespace, selector).values():
                if selector.matches(pod.labels):
                    yield pod

    def _candidates(self, namespace: str, selector: LabelSelector) -> Mapping[str, Pod]:
        """Return the smallest indexed set that holds every match of the selector."""
        smallest: Mapping[str, Pod] = self._pods_by_namespace.get(namespace, {})
        for requirement in selector.requirements:
            if requirement.operator == "In" and len(requirement.values) == 1:
                (value,) = requirement.values
                found = self._pods_by_label.get((namespace, requirement.key, value), {})
                smallest = min(smallest, found, key=len)
        return smallest

    def _put_node(self, obj: KubeObject) -> None:
        spec = spec_of(obj)
        node = Node(
            obj=obj,
            name=name_of(obj),
            labels=labels_of(obj),
            is_unschedulable=bool(spec.get("unschedulable")),
            taints=tuple(
                Taint(taint.get("key", ""), taint.get("value") or "", taint.get("effect", ""))
                for taint in spec.get("taints") or ()
            ),
            # Where it is missing the API server takes the capacity.
            allocatable=node_resources(
                status_of(obj).get("allocatable") or status_of(obj).get("capacity")
            ),
        )
        known = self.nodes.get(node.name)
        if known is None or known.labels != node.labels:
            self.tallies.forget()
        self.nodes[node.name] = node
        for pod in self._pods_by_node.get(node.name, {}).values():
            occupy(node, pod)

    def _put_pod(self, obj: KubeObject) -> None:
        pod = read_pod(obj)
        self.delete("Pod", pod.key)
        if is_finished(obj):
            return
        if not pod.node_name:
            self.pending[pod.key] = obj
            if (node := status_of(obj).get("nominatedNodeName")) and not _is_gated(obj):
                self.nominated.setdefault(node, {})[pod.key] = obj
            return
        self.seat(pod)

    def _forget_pending(self, key: str) -> None:
        pod = self.pending.pop(key, None)
        node = None if pod is None else status_of(pod).get("nominatedNodeName")
        if node in self.nominated:
            self.nominated[node].pop(key, None)
            if not self.nominated[node]:
                del self.nominated[node]

    def seat(self, pod: Pod) -> None:
        """Put a pod that has been read on the node that it names."""
        self.pods[pod.key] = pod
        for table, entry in self._indexes(pod):
            table.setdefault(entry, {})[pod.key] = pod
        self.claim_users.update(claim.key for claim in pod.claims)
        node = self.nodes.get(pod.node_name)
        if node is not None:
            occupy(node, pod)
            self.tallies.change(pod, node, 1)

    def _unbind(self, key: str) -> None:
        pod = self.pods.pop(key, None)
        if pod is None:
            return
        for table, entry in self._indexes(pod):
            table[entry].pop(key)
            if not table[entry]:
                del table[entry]
        self.claim_users.subtract(claim.key for claim in pod.claims)
        node = self.nodes.get(pod.node_name)
        if node is not None and key in node.pods:
            self.tallies.change(pod, node, -1)
            vacate(node, pod)

    def _indexes(self, pod: Pod) -> Iterator[tuple[dict[Any, dict[str, Pod]], Hashable]]:
        yield self._pods_by_node, pod.node_name
        yield self._pods_by_namespace, pod.namespace
        for label in pod.labels.items():
            yield self._pods_by_label, (pod.namespace, *label)
        for term in set(pod.anti_affinity):
            yield self.anti_affinity, term
        # A required affinity counts for one point when others are scored.
        for attraction in {*pod.preferences, *((1, term) for term in pod.affinity)}:
            yield self.attractions, attraction


def occupy(node: Node, pod: Pod) -> None:
    """Let a pod take its part of a node; `Cluster` tells its other indexes, too."""
    node.pods[pod.key] = pod
    node.requested.update(pod.requests)
    node.requested_for_scoring.update(pod.scoring_requests)
    node.host_ports.update(pod.host_ports)


def vacate(node: Node, pod: Pod) -> None:
    """Take back what `occupy` did."""
    del node.pods[pod.key]
    node.requested.subtract(pod.requests)
    node.requested_for_scoring.subtract(pod.scoring_requests)
    node.host_ports.subtract(pod.host_ports)


LISTS = {
    "nodes": "Node",
    "namespaces": "Namespace",
    "pods": "Pod",
    "pvcs": "PersistentVolumeClaim",
    "pvs": "PersistentVolume",
    "storageClasses": "StorageClass",
    "csiNodes": "CSINode",
    "csiDrivers": "CSIDriver",
    "volumeAttachments": "VolumeAttachment",
    "csiStorageCapacities": "CSIStorageCapacity",
    "resourceClaims": "ResourceClaim",
    "resourceSlices": "ResourceSlice",
    "deviceClasses": "DeviceClass",
}
"""Kinds by the name of their list, as in recorded verdicts."""


def cluster_from_lists(lists: Mapping[str, Iterable[KubeObject]]) -> Cluster:
    """Build a cluster from lists named as in `LISTS`; other members are ignored."""
    cluster = Cluster()
    for name, kind in LISTS.items():
        for obj in lists.get(name) or ():
            cluster.put(kind, obj)
    return cluster


def _is_gated(pod: KubeObject) -> bool:
    """Tell whether the pod is not in kube-scheduler's queue yet, which keeps room for none such."""
    return bool(spec_of(pod).get("schedulingGates"))
