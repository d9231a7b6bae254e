"""Namespaces, budgets of pods, priorities, runtime classes, gangs, leases."""

import msgspec

from libs.kube.objects.metadata import (
    Instant,
    Int32,
    Int64,
    KubeStruct,
    LabelSelector,
    ObjectMeta,
    Quantities,
)
from libs.kube.objects.pod import Toleration


class Namespace(KubeStruct, frozen=True):
    """A namespace."""

    metadata: ObjectMeta = ObjectMeta()


class PodDisruptionBudgetSpec(KubeStruct, frozen=True):
    """At least so many, or at most so many fewer; a number or a percentage."""

    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str = ""


class PodDisruptionBudgetStatus(KubeStruct, frozen=True):
    """What its controller computed last."""

    disruptions_allowed: Int32 = 0
    observed_generation: Int64 = 0


class PodDisruptionBudget(KubeStruct, frozen=True):
    """A PodDisruptionBudget."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class PriorityClass(KubeStruct, frozen=True):
    """A priority by name."""

    metadata: ObjectMeta = ObjectMeta()
    value: Int32 = 0


class Overhead(KubeStruct, frozen=True):
    """What running a pod costs beside its containers."""

    pod_fixed: Quantities = msgspec.field(default_factory=dict)


class RuntimeScheduling(KubeStruct, frozen=True):
    """Nodes that have the runtime."""

    node_selector: dict[str, str] = msgspec.field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()


class RuntimeClass(KubeStruct, frozen=True):
    """A container runtime."""

    metadata: ObjectMeta = ObjectMeta()
    overhead: Overhead = Overhead()
    scheduling: RuntimeScheduling = RuntimeScheduling()


class GangPolicy(KubeStruct, frozen=True):
    """All or nothing, from this many pods on."""

    min_count: Int32 = 0


class SchedulingPolicy(KubeStruct, frozen=True):
    """How a group of pods is scheduled."""

    gang: GangPolicy | None = None


class PodGroupSpec(KubeStruct, frozen=True):
    """A group of pods, in Kubernetes' own form or with the `minMember` of scheduler plug-ins."""

    scheduling_policy: SchedulingPolicy = SchedulingPolicy()
    min_member: Int32 = 0


class PodGroup(KubeStruct, frozen=True):
    """A PodGroup."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodGroupSpec = PodGroupSpec()


class LeaseSpec(KubeStruct, frozen=True):
    """Who holds a lease, since when, for how long."""

    holder_identity: str = ""
    lease_duration_seconds: Int32 = 0
    lease_transitions: Int32 = 0
    acquire_time: Instant | None = None
    renew_time: Instant | None = None


class Lease(KubeStruct, frozen=True):
    """A Lease."""

    metadata: ObjectMeta = ObjectMeta()
    spec: LeaseSpec = LeaseSpec()
