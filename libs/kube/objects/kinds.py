"""Which struct the objects of a kind have.

Apart so that files (by apiVersion and kind) and informers (by kind) ask in one place. A kind is
looked up by its API group, whatever the version: the fields that planning reads do not differ.
"""

from collections.abc import Mapping
from types import MappingProxyType

from libs.kube.objects.device import (
    DeviceClass,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from libs.kube.objects.karpenter import (
    CapacityBuffer,
    NodeClaim,
    NodeClass,
    NodeOverlay,
    NodePool,
)
from libs.kube.objects.metadata import KubeStruct
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod, PodTemplate
from libs.kube.objects.policy import (
    Lease,
    Namespace,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    RuntimeClass,
)
from libs.kube.objects.provisioning import ProvisioningRequest
from libs.kube.objects.storage import (
    CsiDriver,
    CsiNode,
    CsiStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from libs.kube.objects.workload import (
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)

KubeObject = (
    CapacityBuffer
    | CsiDriver
    | CsiNode
    | CsiStorageCapacity
    | DaemonSet
    | Deployment
    | DeviceClass
    | Job
    | Lease
    | Namespace
    | Node
    | NodeClaim
    | NodeClass
    | NodeOverlay
    | NodePool
    | PersistentVolume
    | PersistentVolumeClaim
    | Pod
    | PodDisruptionBudget
    | PodGroup
    | PodTemplate
    | PriorityClass
    | ProvisioningRequest
    | ReplicaSet
    | ReplicationController
    | ResourceClaim
    | ResourceClaimTemplate
    | ResourceSlice
    | RuntimeClass
    | Service
    | StatefulSet
    | StorageClass
    | VolumeAttachment
)

_CORE = (
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodTemplate,
    ReplicationController,
    Service,
)
_APPS = (DaemonSet, Deployment, ReplicaSet, StatefulSet)
_STORAGE = (StorageClass, VolumeAttachment)
_DEVICES = (DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice)
_KARPENTER = (NodeClaim, NodeOverlay, NodePool)

STRUCTS: Mapping[tuple[str, str], type[KubeObject]] = MappingProxyType(
    {
        **{("", struct.__name__): struct for struct in _CORE},
        **{("apps", struct.__name__): struct for struct in _APPS},
        **{("storage.k8s.io", struct.__name__): struct for struct in _STORAGE},
        **{("resource.k8s.io", struct.__name__): struct for struct in _DEVICES},
        **{("karpenter.sh", struct.__name__): struct for struct in _KARPENTER},
        ("storage.k8s.io", "CSIDriver"): CsiDriver,
        ("storage.k8s.io", "CSINode"): CsiNode,
        ("storage.k8s.io", "CSIStorageCapacity"): CsiStorageCapacity,
        ("batch", "Job"): Job,
        ("policy", "PodDisruptionBudget"): PodDisruptionBudget,
        ("scheduling.k8s.io", "PriorityClass"): PriorityClass,
        ("scheduling.k8s.io", "PodGroup"): PodGroup,
        ("scheduling.x-k8s.io", "PodGroup"): PodGroup,
        ("node.k8s.io", "RuntimeClass"): RuntimeClass,
        ("coordination.k8s.io", "Lease"): Lease,
        ("autoscaling.x-k8s.io", "CapacityBuffer"): CapacityBuffer,
        ("autoscaling.x-k8s.io", "ProvisioningRequest"): ProvisioningRequest,
    }
)
"""Struct by API group and kind; node classes, whose kinds are the providers', are not in it."""

_CLUSTER_SCOPED = (
    CsiDriver,
    CsiNode,
    DeviceClass,
    Namespace,
    Node,
    NodeClaim,
    NodeClass,
    NodeOverlay,
    NodePool,
    PersistentVolume,
    PriorityClass,
    ResourceSlice,
    RuntimeClass,
    StorageClass,
    VolumeAttachment,
)

KINDS: Mapping[type[KubeStruct], str] = MappingProxyType(
    {struct: kind for (_, kind), struct in STRUCTS.items()}
)
"""Kind by struct."""


def struct_of(api_version: str, kind: str) -> type[KubeObject] | None:
    """Return the struct of a kind, None for one that planning does not read.

    A kind whose name ends in `NodeClass` is a node class, whatever its group.
    """
    group = api_version.rpartition("/")[0]
    found = STRUCTS.get((group, kind))
    if found is None and group and kind.endswith("NodeClass"):
        return NodeClass
    return found


def kind_of(obj: KubeObject) -> str:
    """Return the kind of an object."""
    return obj.kind if isinstance(obj, NodeClass) else KINDS[type(obj)]


def is_namespaced(obj: KubeObject) -> bool:
    """Tell whether objects of this kind live in a namespace."""
    return is_of_namespaces(type(obj))


def is_of_namespaces(struct: type[KubeStruct]) -> bool:
    """Tell the same of a kind by its struct."""
    return not issubclass(struct, _CLUSTER_SCOPED)
