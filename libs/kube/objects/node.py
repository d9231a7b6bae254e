"""Nodes."""

import msgspec

from libs.kube.objects.metadata import Condition, KubeStruct, ObjectMeta, Quantities, Taint


class NodeSpec(KubeStruct, frozen=True):
    """What was asked of a node."""

    provider_id: str = msgspec.field(default="", name="providerID")
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False


class NodeStatus(KubeStruct, frozen=True):
    """What a node reports."""

    capacity: Quantities = msgspec.field(default_factory=dict)
    allocatable: Quantities = msgspec.field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    declared_features: tuple[str, ...] = ()


class Node(KubeStruct, frozen=True):
    """A node."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
