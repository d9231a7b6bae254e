"""`Cache`: the cluster as informers tell it and as our own writes left it.

Laws:
- A read after a write of ours sees it: the answer of every write is taken at once.
- What an informer tells late does not undo what we know better: of one object, the older resource
  version loses.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from libs.domain import labels as keys
from libs.kube import api
from libs.kube.api import Resource
from libs.kube.informer import ObjectKey
from libs.kube.objects.decoding import BrokenObject, from_document
from libs.kube.objects.karpenter import NodeClaim, NodeClass, NodePool
from libs.kube.objects.kinds import KubeObject, struct_of
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod
from libs.kube.objects.storage import PersistentVolumeClaim, VolumeAttachment

T = TypeVar("T")

RESOURCES = (
    api.NODE_CLAIMS,
    api.NODE_POOLS,
    api.NODES,
    api.PODS,
    api.PERSISTENT_VOLUME_CLAIMS,
    api.VOLUME_ATTACHMENTS,
)
"""Kinds that are followed from the start; node classes come with their providers."""

_Name = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An object before and after; None where there is none."""

    resource: Resource
    before: KubeObject | None
    after: KubeObject | None


class Cache:
    """Objects by kind and name, with the indexes that decisions need; an informers' sink."""

    def __init__(self, on_change: Callable[[Change], None]) -> None:
        self._on_change = on_change
        self._objects: dict[Resource, dict[_Name, KubeObject]] = defaultdict(dict)
        self.broken: dict[tuple[Resource, _Name], BrokenObject] = {}
        """Objects that cannot be read."""
        self._nodes_by_provider_id = _Index(_provider_id_of_node)
        self._claims_by_provider_id = _Index(_provider_id_of_claim)
        self._claims_by_pool = _Index(_pool_of_claim)
        self._pods_by_node = _Index(_node_of_pod)
        self._pods_by_uid = _Index(_uid)
        self._attachments_by_node = _Index(_node_of_attachment)
        self._indexes: dict[Resource, tuple[_Index, ...]] = {
            api.NODES: (self._nodes_by_provider_id,),
            api.NODE_CLAIMS: (self._claims_by_provider_id, self._claims_by_pool),
            api.PODS: (self._pods_by_node, self._pods_by_uid),
            api.VOLUME_ATTACHMENTS: (self._attachments_by_node,),
        }

    def upsert(self, resource: Resource, obj: KubeObject) -> None:
        """Take what an informer tells."""
        name = (obj.metadata.namespace, obj.metadata.name)
        self.broken.pop((resource, name), None)
        before = self._objects[resource].get(name)
        if before is not None and not _is_newer(obj, before):
            return
        self._objects[resource][name] = obj
        for index in self._indexes.get(resource, ()):
            index.replace(name, before, obj)
        self._on_change(Change(resource=resource, before=before, after=obj))

    def remove(self, resource: Resource, key: ObjectKey) -> None:
        """Forget what an informer says is gone, unless another has its name by now."""
        self.forget(resource, key.name, key.uid, namespace=key.namespace)

    def set_aside(self, resource: Resource, broken: BrokenObject) -> None:
        """Take note of an object that cannot be read; what was known of it stays."""
        self.broken[resource, (broken.namespace, broken.name)] = broken

    def note(self, resource: Resource, document: dict[str, Any]) -> None:
        """Take the answer of our own write; the last finalizer off means that it is gone."""
        struct = struct_of(resource.api_version, resource.kind)
        assert struct is not None
        obj = from_document(document, struct)
        if obj.metadata.deletion_timestamp is not None and not obj.metadata.finalizers:
            self.forget(resource, obj.metadata.name, obj.metadata.uid)
        else:
            self.upsert(resource, obj)

    def forget(self, resource: Resource, name: str, uid: str, *, namespace: str = "") -> None:
        """Forget an object if it still is the one with that uid; an empty uid means any."""
        known = (namespace, name)
        before = self._objects[resource].get(known)
        self.broken.pop((resource, known), None)
        if before is None or (uid and before.metadata.uid != uid):
            return
        del self._objects[resource][known]
        for index in self._indexes.get(resource, ()):
            index.replace(known, before, None)
        self._on_change(Change(resource=resource, before=before, after=None))

    def claim(self, name: str) -> NodeClaim | None:
        """Return a claim."""
        return self._get(api.NODE_CLAIMS, name, NodeClaim)

    def claims(self) -> tuple[NodeClaim, ...]:
        """Return all claims."""
        return self._all(api.NODE_CLAIMS, NodeClaim)

    def claims_of(self, pool: str) -> tuple[NodeClaim, ...]:
        """Return all claims of a pool."""
        return cast(tuple[NodeClaim, ...], self._claims_by_pool.get(pool))

    def claim_of(self, node: Node) -> NodeClaim | None:
        """Return the claim of a node, None unless there is exactly one."""
        found = self._claims_by_provider_id.get(node.spec.provider_id)
        return cast(NodeClaim, found[0]) if len(found) == 1 else None

    def pool(self, name: str) -> NodePool | None:
        """Return a pool."""
        return self._get(api.NODE_POOLS, name, NodePool)

    def pools(self) -> tuple[NodePool, ...]:
        """Return all pools."""
        return self._all(api.NODE_POOLS, NodePool)

    def node(self, name: str) -> Node | None:
        """Return a node."""
        return self._get(api.NODES, name, Node)

    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes."""
        return self._all(api.NODES, Node)

    def nodes_of(self, claim: NodeClaim) -> tuple[Node, ...]:
        """Return all nodes with the claim's provider id."""
        return cast(tuple[Node, ...], self._nodes_by_provider_id.get(claim.status.provider_id))

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        """Return all pods that are bound to a node."""
        return cast(tuple[Pod, ...], self._pods_by_node.get(node))

    def pod(self, uid: str) -> Pod | None:
        """Return the pod with a uid."""
        found = self._pods_by_uid.get(uid)
        return cast(Pod, found[0]) if found else None

    def pod_named(self, namespace: str, name: str) -> Pod | None:
        """Return the pod of a name."""
        return cast("Pod | None", self._objects[api.PODS].get((namespace, name)))

    def attachments_of(self, node: str) -> tuple[VolumeAttachment, ...]:
        """Return all volume attachments of a node."""
        return cast(tuple[VolumeAttachment, ...], self._attachments_by_node.get(node))

    def volume_name(self, namespace: str, claim: str) -> str:
        """Return the volume that a PersistentVolumeClaim is bound to, empty if none."""
        found = self._objects[api.PERSISTENT_VOLUME_CLAIMS].get((namespace, claim))
        return cast(PersistentVolumeClaim, found).spec.volume_name if found else ""

    def node_class(self, resource: Resource, name: str) -> NodeClass | None:
        """Return a node class."""
        return self._get(resource, name, NodeClass)

    def node_classes(self, resource: Resource) -> tuple[NodeClass, ...]:
        """Return all node classes of a kind."""
        return self._all(resource, NodeClass)

    def _get(self, resource: Resource, name: str, struct: type[T]) -> T | None:
        found = self._objects[resource].get(("", name))
        return found if isinstance(found, struct) else None

    def _all(self, resource: Resource, struct: type[T]) -> tuple[T, ...]:
        return tuple(one for one in self._objects[resource].values() if isinstance(one, struct))


class _Index:
    """Objects by a key of theirs, in the order of their names."""

    def __init__(self, key: Callable[[Any], Hashable]) -> None:
        self._key = key
        self._found: dict[Hashable, dict[_Name, KubeObject]] = defaultdict(dict)

    def get(self, key: Hashable) -> tuple[KubeObject, ...]:
        found = self._found.get(key) if key else None
        return tuple(found[name] for name in sorted(found)) if found else ()

    def replace(self, name: _Name, before: KubeObject | None, after: KubeObject | None) -> None:
        if before is not None:
            key = self._key(before)
            self._found[key].pop(name, None)
            if not self._found[key]:
                del self._found[key]
        if after is not None and (key := self._key(after)):
            self._found[key][name] = after


def _is_newer(new: KubeObject, known: KubeObject) -> bool:
    """Tell whether a state tells anything new; versions of one object are growing numbers."""
    if new.metadata.uid != known.metadata.uid:
        return True
    ours, theirs = known.metadata.resource_version, new.metadata.resource_version
    if not (ours.isdigit() and theirs.isdigit()):
        return ours != theirs
    return int(theirs) > int(ours)


def _provider_id_of_node(node: Node) -> str:
    return node.spec.provider_id


def _provider_id_of_claim(claim: NodeClaim) -> str:
    return claim.status.provider_id


def _pool_of_claim(claim: NodeClaim) -> str:
    return claim.metadata.labels.get(keys.NODEPOOL, "")


def _node_of_pod(pod: Pod) -> str:
    return pod.spec.node_name


def _uid(obj: KubeObject) -> str:
    return obj.metadata.uid


def _node_of_attachment(attachment: VolumeAttachment) -> str:
    return attachment.spec.node_name
