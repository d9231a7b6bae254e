"""What a cloud is asked and answers: node classes, launches, instances, events.

Apart because everything else in the domain is the same for every cloud; here is the one thing that
is not, a node class, whose spec and status only its provider understands.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from libs.domain.capacity import InstanceType, NodeClassRef
from libs.domain.nodeclaim import ConditionStatus
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.taint import Taint


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClass:
    """A node class as its object stands in Kubernetes; spec and status are plain JSON."""

    ref: NodeClassRef
    uid: str
    generation: int = 1
    spec: Mapping[str, Any] = field(default_factory=dict)
    status: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairPolicy:
    """A condition of a node that makes it worth replacing once it lasted longer than tolerated."""

    condition_type: str
    condition_status: ConditionStatus
    toleration: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a provider is; the same as long as its process lives."""

    name: str
    """For metrics and messages."""
    group: str
    """Of the node classes that it understands."""
    kind: str
    versions: tuple[str, ...] = ()
    """Of the kind, preferred first."""
    well_known_keys: tuple[str, ...] = ()
    """Label keys that its nodes define, sorted, as the next three."""
    restricted_domains: tuple[str, ...] = ()
    unsupported_topology_keys: tuple[str, ...] = ()
    unsupported_provisioners: tuple[str, ...] = ()
    repair_policies: tuple[RepairPolicy, ...] = ()
    registration_hooks: tuple[str, ...] = ()
    """What must pass before a node counts as registered."""
    reservation_id_key: str = ""
    """Label key of a reservation's id; empty without reservations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClassCondition:
    """A condition for a node class; whoever writes it knows when it changed."""

    type: str
    status: ConditionStatus
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedNodeClass:
    """A node class, resolved in the cloud: what is to be written on its object."""

    status: Mapping[str, Any] = field(default_factory=dict)
    """Without conditions."""
    conditions: tuple[NodeClassCondition, ...] = ()
    """Sorted by type."""
    hash: str = ""
    """Drift hash; the same class gives the same one."""
    hash_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceTypeListing:
    """All types of a class; none where the caller's etag is still the right one."""

    etag: str
    not_modified: bool = False
    instance_types: tuple[InstanceType, ...] = ()
    """Sorted by name; types that are unavailable now included."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ClaimLaunch:
    """A claim that an instance is launched for."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSpec:
    """What all claims of a batch have in common."""

    node_class: NodeClass
    requirements: Requirements
    """The launch list under node.kubernetes.io/instance-type included."""
    requests: Resources
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    nodepool: str = ""
    """For tags; empty for standalone claims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchBatch:
    """One instance per claim, idempotent by `batch_id`."""

    batch_id: str
    """Stored on every claim before the launch; the cloud's token and tag derive from it."""
    spec: LaunchSpec
    claims: tuple[ClaimLaunch, ...]
    """Sorted by name: the n-th instance of the batch belongs to the n-th claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """An instance as the cloud knows it."""

    provider_id: str
    """As in spec.providerID of its node."""
    nodeclaim: str = ""
    """Name of the claim that it was launched for; empty if its tag is lost, as the next."""
    nodeclaim_uid: str = ""
    image_id: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    """Those that its node has."""
    annotations: tuple[tuple[str, str], ...] = ()
    """For the claim."""
    capacity: Resources
    allocatable: Resources
    launched_at: datetime
    terminating: bool = False


class LaunchFailureKind(StrEnum):
    """Decides what becomes of the claim: the first two give it up, the others retry."""

    INSUFFICIENT_CAPACITY = "InsufficientCapacity"
    NODE_CLASS_NOT_READY = "NodeClassNotReady"
    CREATE_ERROR = "CreateError"
    OTHER = "Other"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFailure:
    """Why an instance was not launched."""

    kind: LaunchFailureKind
    reason: str = ""
    """CamelCase, for the claim's condition; only of a `CREATE_ERROR`."""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOutcome:
    """What became of one claim of a batch, by this call or an earlier one."""

    nodeclaim: str
    result: Instance | LaunchFailure


class ProviderEventKind(StrEnum):
    """What is about to happen; `UNKNOWN` is recorded and otherwise ignored."""

    UNKNOWN = "Unknown"
    SPOT_INTERRUPTION = "SpotInterruption"
    REBALANCE_RECOMMENDATION = "RebalanceRecommendation"
    SCHEDULED_MAINTENANCE = "ScheduledMaintenance"
    INSTANCE_TERMINATING = "InstanceTerminating"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEvent:
    """What a cloud is about to do to an instance; repeated until it is acknowledged."""

    id: str
    """Unique within the provider."""
    provider_id: str
    kind: ProviderEventKind
    effective_at: datetime | None = None
    """When it happens; None: unknown."""
    message: str = ""
