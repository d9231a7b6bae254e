"""What the informers see, taken into the cluster state; what it means for provisioning, told on.

Synchronous: when a call returns, the next snapshot has the change.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from libs.cluster.state import ClusterState
from libs.collections.batcher import Batcher
from libs.domain.nodeclaim import ConditionType
from libs.kube.api import Resource
from libs.kube.convert.nodeclaim import node_class_ref
from libs.kube.informer import ObjectKey
from libs.kube.objects.decoding import BrokenObject
from libs.kube.objects.karpenter import CapacityBuffer, NodeClaim, NodePool
from libs.kube.objects.kinds import KubeObject
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod
from libs.runtime.latest import LatestValue

ObjectName = tuple[str, str]
"""Namespace, name."""

DISRUPTED_TAINT = "karpenter.sh/disrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Who is told what, besides the cluster state."""

    batcher: Batcher[str]
    """Uids of objects that make a decision due."""
    changes: LatestValue[None]
    """That anything changed."""
    pools_changed: Callable[[], None]
    """Other node classes may be referred to."""
    launch_failed: Callable[[str], None]
    """A claim of this node class (its key) went away before it was launched: most likely there
    was no capacity, and the catalogue that said otherwise is old."""
    buffers: bool = False
    """Whether capacity buffers count."""


class Feed:
    """The sink of the informers; keeps the laws of `libs.kube.informer.Sink`."""

    def __init__(self, state: ClusterState, effects: Effects) -> None:
        self._state = state
        self._effects = effects
        self._unlaunched: dict[str, str] = {}
        """Key of the node class by name of each claim that has no instance yet."""
        self._booting: set[str] = set()
        """Names of the claims that are not initialized yet."""
        self._waiting: dict[ObjectName, _Waiting] = {}
        """What was last seen of each waiting pod."""

    def upsert(self, resource: Resource, obj: KubeObject) -> None:
        """Take an object in."""
        self._state.upsert(obj)
        match obj:
            case Pod():
                self._note_pod(obj)
            case Node():
                self._note_node(obj)
            case NodeClaim():
                self._note_claim(obj)
            case NodePool():
                self._effects.pools_changed()
            case CapacityBuffer() if self._effects.buffers:
                self._effects.batcher.trigger(obj.metadata.uid)
            case _:
                pass
        self._effects.changes.set(None)

    def remove(self, resource: Resource, key: ObjectKey) -> None:
        """Forget an object."""
        self._state.remove(resource.kind, key.namespace, key.name)
        if resource.kind == "NodeClaim":
            self._forget_claim(key.name)
        if resource.kind == "NodePool":
            self._effects.pools_changed()
        if resource.kind == "Pod":
            self._waiting.pop((key.namespace, key.name), None)
        self._effects.changes.set(None)

    def set_aside(self, resource: Resource, broken: BrokenObject) -> None:
        """Note an object that cannot be read."""
        self._state.refuse(broken)
        self._effects.changes.set(None)

    def _note_pod(self, pod: Pod) -> None:
        """Tell of a pod that began to wait, unless a node for it is booting already.

        kube-scheduler writes the condition anew whenever its message changes, which with every
        node that appears is every waiting pod; that is no news.
        """
        name = pod.metadata.namespace, pod.metadata.name
        waiting = _waiting(pod)
        if waiting is None:
            self._waiting.pop(name, None)
        elif waiting != self._waiting.get(name):
            self._waiting[name] = waiting
            if not self._state.is_on_its_way(pod.metadata.uid):
                self._effects.batcher.trigger(pod.metadata.uid)

    def _note_node(self, node: Node) -> None:
        if any(taint.key == DISRUPTED_TAINT for taint in node.spec.taints):
            self._effects.batcher.trigger(node.metadata.uid)

    def _note_claim(self, claim: NodeClaim) -> None:
        name, deleting = claim.metadata.name, claim.metadata.deletion_timestamp is not None
        if deleting:
            self._effects.batcher.trigger(claim.metadata.uid)
        if not _is(claim, ConditionType.INITIALIZED):
            self._booting.add(name)
        elif name in self._booting:
            # Now it shows who was planned for the node and found it taken by others.
            self._booting.remove(name)
            self._effects.batcher.trigger(claim.metadata.uid)
        if claim.status.provider_id or _is(claim, ConditionType.LAUNCHED):
            self._unlaunched.pop(name, None)
        else:
            self._unlaunched[name] = node_class_ref(claim.spec.node_class_ref).key

    def _forget_claim(self, name: str) -> None:
        self._booting.discard(name)
        node_class = self._unlaunched.pop(name, "")
        if node_class:
            self._effects.launch_failed(node_class)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """What makes a waiting pod another one to decide about."""

    uid: str
    generation: int
    condition_status: str
    since: datetime | None


def _waiting(pod: Pod) -> _Waiting | None:
    """Return what is to be seen of a pod that the scheduler found no node for, else None."""
    if pod.spec.node_name:
        return None
    for one in pod.status.conditions:
        if one.type == "PodScheduled" and one.reason == "Unschedulable":
            metadata = pod.metadata
            return _Waiting(metadata.uid, metadata.generation, one.status, one.last_transition_time)
    return None


def _is(claim: NodeClaim, kind: ConditionType) -> bool:
    return any(one.type == kind and one.status == "True" for one in claim.status.conditions)
