"""Controllers of pods, and services."""

import msgspec

from libs.kube.objects.metadata import (
    Condition,
    Int32,
    KubeStruct,
    LabelSelector,
    ObjectMeta,
)
from libs.kube.objects.pod import PodTemplateSpec
from libs.kube.objects.storage import PersistentVolumeClaimTemplate


class ScalableSpec(KubeStruct, frozen=True):
    """Replicas of a template; absent replicas are one."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()


class Deployment(KubeStruct, frozen=True):
    """A Deployment."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ScalableSpec = ScalableSpec()


class ReplicaSet(KubeStruct, frozen=True):
    """A ReplicaSet."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ScalableSpec = ScalableSpec()


class ReplicationControllerSpec(KubeStruct, frozen=True):
    """Replicas of a template; absent replicas are one."""

    replicas: Int32 | None = None
    selector: dict[str, str] = msgspec.field(default_factory=dict)
    template: PodTemplateSpec = PodTemplateSpec()


class ReplicationController(KubeStruct, frozen=True):
    """A ReplicationController, which has labels for a selector."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class ServiceSpec(KubeStruct, frozen=True):
    """Which pods a service stands for; no selector stands for none."""

    selector: dict[str, str] | None = None


class Service(KubeStruct, frozen=True):
    """A Service."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()


class OrdinalSpec(KubeStruct, frozen=True):
    """Number of the first replica."""

    start: Int32 = 0


class StatefulSetSpec(KubeStruct, frozen=True):
    """Numbered replicas of a template, each with claims of its own."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    ordinals: OrdinalSpec = OrdinalSpec()
    volume_claim_templates: tuple[PersistentVolumeClaimTemplate, ...] = ()


class StatefulSet(KubeStruct, frozen=True):
    """A StatefulSet."""

    metadata: ObjectMeta = ObjectMeta()
    spec: StatefulSetSpec = StatefulSetSpec()


class DaemonSetSpec(KubeStruct, frozen=True):
    """A pod for each node."""

    template: PodTemplateSpec = PodTemplateSpec()


class DaemonSet(KubeStruct, frozen=True):
    """A DaemonSet."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DaemonSetSpec = DaemonSetSpec()


class JobSpec(KubeStruct, frozen=True):
    """Pods that run to their end."""

    parallelism: Int32 | None = None
    completions: Int32 | None = None
    suspend: bool = False
    template: PodTemplateSpec = PodTemplateSpec()


class JobStatus(KubeStruct, frozen=True):
    """How far a job is."""

    succeeded: Int32 = 0
    conditions: tuple[Condition, ...] = ()


class Job(KubeStruct, frozen=True):
    """A Job."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()
