"""NodePools, NodeClaims, NodeOverlays, CapacityBuffers and node classes.

Apart from the core kinds because these come from CRDs. A pool's template stays as it is in the
object: its hash depends on which fields are there, and validation finds all problems at once.
"""

from typing import Any

import msgspec

from libs.kube.objects.metadata import (
    Condition,
    Instant,
    Int32,
    Int64,
    KubeStruct,
    LabelSelectorRequirement,
    ObjectMeta,
    Quantities,
    Taint,
)


class NodeClassReference(KubeStruct, frozen=True):
    """A reference to a node class; there is no version in it."""

    group: str = ""
    kind: str = ""
    name: str = ""


class Budget(KubeStruct, frozen=True):
    """A disruption budget as written."""

    nodes: str = "10%"
    reasons: tuple[str, ...] = ()
    schedule: str | None = None
    duration: str | None = None


class DisruptionSpec(KubeStruct, frozen=True):
    """How nodes may be disrupted; the defaults are the CRD's."""

    consolidate_after: str = "0s"
    consolidation_policy: str = "WhenEmptyOrUnderutilized"
    budgets: tuple[Budget, ...] = (Budget(),)


class NodeClaimTemplateSpec(KubeStruct, frozen=True):
    """A pool's template, read out of the raw one; the defaults are the CRD's."""

    requirements: tuple[LabelSelectorRequirement, ...] = ()
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    node_class_ref: NodeClassReference = NodeClassReference()
    expire_after: str = "720h"
    termination_grace_period: str | None = None


class NodeClaimTemplate(KubeStruct, frozen=True):
    """Metadata and spec of a pool's claims."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeClaimTemplateSpec = NodeClaimTemplateSpec()


class NodePoolSpec(KubeStruct, frozen=True):
    """A pool; replicas make it static."""

    template: dict[str, Any] = msgspec.field(default_factory=dict)
    disruption: DisruptionSpec = DisruptionSpec()
    limits: Quantities = msgspec.field(default_factory=dict)
    weight: Int32 = 0
    replicas: Int64 | None = None


class NodePoolStatus(KubeStruct, frozen=True):
    """What is known of a pool; an absent count was never written."""

    resources: Quantities = msgspec.field(default_factory=dict)
    nodes: Int64 | None = None
    conditions: tuple[Condition, ...] = ()


class NodePool(KubeStruct, frozen=True):
    """A NodePool."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodePoolSpec = NodePoolSpec()
    status: NodePoolStatus = NodePoolStatus()


class ClaimResources(KubeStruct, frozen=True):
    """What a claim must offer."""

    requests: Quantities = msgspec.field(default_factory=dict)


class NodeClaimSpec(KubeStruct, frozen=True):
    """A claim; the default of `expireAfter` is the CRD's."""

    requirements: tuple[LabelSelectorRequirement, ...] = ()
    resources: ClaimResources = ClaimResources()
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    node_class_ref: NodeClassReference = NodeClassReference()
    expire_after: str = "720h"
    termination_grace_period: str | None = None


class NodeClaimStatus(KubeStruct, frozen=True):
    """What became of a claim."""

    node_name: str = ""
    provider_id: str = msgspec.field(default="", name="providerID")
    image_id: str = msgspec.field(default="", name="imageID")
    capacity: Quantities = msgspec.field(default_factory=dict)
    allocatable: Quantities = msgspec.field(default_factory=dict)
    last_pod_event_time: Instant | None = None
    conditions: tuple[Condition, ...] = ()


class NodeClaim(KubeStruct, frozen=True):
    """A NodeClaim."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeClaimSpec = NodeClaimSpec()
    status: NodeClaimStatus = NodeClaimStatus()


class NodeOverlaySpec(KubeStruct, frozen=True):
    """A change of price or capacity."""

    requirements: tuple[LabelSelectorRequirement, ...] = ()
    price: str | None = None
    price_adjustment: str | None = None
    capacity: Quantities = msgspec.field(default_factory=dict)
    weight: Int32 = 0


class NodeOverlay(KubeStruct, frozen=True):
    """A NodeOverlay."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeOverlaySpec = NodeOverlaySpec()


class LocalReference(KubeStruct, frozen=True):
    """A name in the same namespace."""

    name: str = ""


class ScalableReference(KubeStruct, frozen=True):
    """A workload in the same namespace."""

    api_group: str = ""
    kind: str = ""
    name: str = ""


class CapacityBufferSpec(KubeStruct, frozen=True):
    """Room to keep free, by template or by workload."""

    pod_template_ref: LocalReference | None = None
    scalable_ref: ScalableReference | None = None
    replicas: Int32 | None = None
    percentage: Int32 | None = None
    limits: Quantities = msgspec.field(default_factory=dict)


class CapacityBuffer(KubeStruct, frozen=True):
    """A CapacityBuffer."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CapacityBufferSpec = CapacityBufferSpec()


class NodeClass(KubeStruct, frozen=True):
    """A node class of any provider, free-form: only its provider understands the spec."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    spec: dict[str, Any] = msgspec.field(default_factory=dict)
    status: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def group(self) -> str:
        """Return the API group."""
        return self.api_version.partition("/")[0]
