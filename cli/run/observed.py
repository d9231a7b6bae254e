"""`Observed`: the cluster as our own watch shows it, and when it showed what first.

Instants are monotonic seconds of this process: objects carry whole seconds only, and both ends of
what is timed reach us over the same connection.
"""

from dataclasses import dataclass, field
from typing import Protocol

from libs.kube.api import Resource
from libs.kube.informer import ObjectKey
from libs.kube.objects.decoding import BrokenObject
from libs.kube.objects.karpenter import NodeClaim, NodePool
from libs.kube.objects.kinds import KubeObject
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod

UNSCHEDULABLE = "Unschedulable"


class Stopwatch(Protocol):
    """What is needed of a clock."""

    def monotonic(self) -> float:
        """Return seconds since an arbitrary start."""


@dataclass(slots=True)
class Observed:
    """A sink of informers; written by them alone."""

    clock: Stopwatch
    pods: dict[str, Pod] = field(default_factory=dict)
    """By `namespace/name`."""
    nodes: dict[str, Node] = field(default_factory=dict)
    claims: dict[str, NodeClaim] = field(default_factory=dict)
    pools: dict[str, NodePool] = field(default_factory=dict)
    waiting_since: dict[str, float] = field(default_factory=dict)
    """When a pod, by uid, was first seen to be unschedulable; kept when it is gone."""
    bought_at: dict[str, float] = field(default_factory=dict)
    """When a claim, by name, was first seen; kept when it is gone."""

    def upsert(self, resource: Resource, obj: KubeObject) -> None:
        """Take an object that is new, changed or the same as before."""
        match obj:
            case Pod():
                self.pods[_key(obj.metadata.namespace, obj.metadata.name)] = obj
                if is_unschedulable(obj):
                    self.waiting_since.setdefault(obj.metadata.uid, self.clock.monotonic())
            case Node():
                self.nodes[obj.metadata.name] = obj
            case NodeClaim():
                self.claims[obj.metadata.name] = obj
                self.bought_at.setdefault(obj.metadata.name, self.clock.monotonic())
            case NodePool():
                self.pools[obj.metadata.name] = obj

    def remove(self, resource: Resource, key: ObjectKey) -> None:
        """Forget an object."""
        match resource.kind:
            case "Pod":
                self.pods.pop(_key(key.namespace, key.name), None)
            case "Node":
                self.nodes.pop(key.name, None)
            case "NodeClaim":
                self.claims.pop(key.name, None)
            case "NodePool":
                self.pools.pop(key.name, None)

    def set_aside(self, resource: Resource, broken: BrokenObject) -> None:
        """Pass over an object that cannot be read: the services complain about it."""


def is_unschedulable(pod: Pod) -> bool:
    """Tell whether the scheduler found no node for the pod."""
    return any(
        one.type == "PodScheduled" and one.status == "False" and one.reason == UNSCHEDULABLE
        for one in pod.status.conditions
    )


def _key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}"
