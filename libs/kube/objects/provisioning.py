"""ProvisioningRequests: room that is asked for before the pods are there.

Apart from buffers because the API is Cluster Autoscaler's, and what is asked for is had once, whole
or not at all.
"""

from libs.kube.objects.karpenter import LocalReference
from libs.kube.objects.metadata import Condition, Int32, KubeStruct, ObjectMeta


class PodSet(KubeStruct, frozen=True):
    """So many pods of one template."""

    pod_template_ref: LocalReference = LocalReference()
    count: Int32 = 0


class ProvisioningRequestSpec(KubeStruct, frozen=True):
    """What is asked for, and of which class."""

    pod_sets: tuple[PodSet, ...] = ()
    provisioning_class_name: str = ""


class ProvisioningRequestStatus(KubeStruct, frozen=True):
    """How far it is."""

    conditions: tuple[Condition, ...] = ()


class ProvisioningRequest(KubeStruct, frozen=True):
    """A ProvisioningRequest."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ProvisioningRequestSpec = ProvisioningRequestSpec()
    status: ProvisioningRequestStatus = ProvisioningRequestStatus()
