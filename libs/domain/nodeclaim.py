"""NodeClaims: nodes that are asked for, launched, registered or going."""

from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from libs.domain.capacity import NodeClassRef
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.taint import Taint


class ConditionStatus(StrEnum):
    """State of a condition."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class ConditionType(StrEnum):
    """Condition types of a NodeClaim."""

    READY = "Ready"
    LAUNCHED = "Launched"
    REGISTERED = "Registered"
    INITIALIZED = "Initialized"
    CONSOLIDATABLE = "Consolidatable"
    DRIFTED = "Drifted"
    DRAINED = "Drained"
    VOLUMES_DETACHED = "VolumesDetached"
    INSTANCE_TERMINATING = "InstanceTerminating"
    CONSISTENT_STATE_FOUND = "ConsistentStateFound"
    DISRUPTION_REASON = "DisruptionReason"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition of an object's status."""

    type: str
    status: ConditionStatus
    reason: str = ""
    transitioned_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCommand:
    """The command that a claim is under, written on it before its node is tainted."""

    id: str
    replacements: tuple[str, ...] = ()
    """Names of the claims that replace it."""


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class NodeClaim:
    """A NodeClaim; `nodepool` is empty for a standalone one."""

    name: str
    uid: str
    nodepool: str = ""
    node_class: NodeClassRef
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    requirements: Requirements
    requests: Resources
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    provider_id: str = ""
    node_name: str = ""
    capacity: Resources
    allocatable: Resources
    conditions: tuple[Condition, ...] = ()
    """Sorted by type."""
    created_at: datetime
    deleting_at: datetime | None = None
    last_pod_event_at: datetime | None = None
    expire_after: timedelta | None = None
    termination_grace_period: timedelta | None = None
    command: ClaimCommand | None = None
    nominated_until: datetime | None = None

    def condition(self, kind: ConditionType) -> Condition | None:
        """Return the condition of that type, None if it was never set."""
        return next((item for item in self.conditions if item.type == kind), None)

    def is_true(self, kind: ConditionType) -> bool:
        """Return whether the condition is there and True."""
        found = self.condition(kind)
        return found is not None and found.status is ConditionStatus.TRUE

    def is_replaced(self, claims: Container[str]) -> bool:
        """Tell whether it is under a command whose replacements are all among these claims.

        Source: `docs/architecture.md`, law 4.
        """
        command = self.command
        return command is not None and all(name in claims for name in command.replacements)
