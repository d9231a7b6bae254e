"""What becomes of decisions: requests to the one hand that acts, and what it and disruption answer.

Apart from `plan.py`, which holds the decisions themselves.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from libs.domain.plan import Command, Decision, Plan
from libs.domain.snapshot import SnapshotId


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyRequest:
    """A plan to carry out, with the premise that is checked before anything is created."""

    plan_id: str
    """Names of claims derive from it, so that a repeated plan creates nothing."""
    snapshot: SnapshotId
    known_nodeclaim_uids: tuple[str, ...] = ()
    """Of all claims in that snapshot, sorted; a live claim beside them makes the plan stale."""
    plan: Plan
    decided_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedClaim:
    """A claim that stands in the cluster because of a plan; `index` is its position there."""

    index: int
    name: str
    uid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedClaim:
    """A claim of a plan that was not created, and which predicate failed, in words."""

    index: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyResult:
    """What became of a plan, by this call or an earlier one; both lists sorted by index."""

    created: tuple[CreatedClaim, ...] = ()
    refused: tuple[RefusedClaim, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRequest:
    """A command to carry out, with its premise."""

    snapshot: SnapshotId
    command: Command
    known_nodeclaim_uids: tuple[str, ...] = ()
    """Of all claims in that snapshot, sorted; only read where there are replacements."""


class CommandState(StrEnum):
    """How far a command is."""

    UNKNOWN = "Unknown"
    WAITING = "Waiting"
    """Nodes are tainted, replacements are on their way."""
    DELETING = "Deleting"
    """Replacements are initialized, candidates are being deleted."""
    DONE = "Done"
    """All candidates are gone."""
    FAILED = "Failed"
    """Given up; taints are taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandProgress:
    """State of a command since `changed_at`; the message says why it failed."""

    command_id: str
    state: CommandState
    message: str = ""
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionReport:
    """What disruption thinks of the nodes of one snapshot, to be published; sorted by node."""

    snapshot: SnapshotId
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Eviction:
    """A pod to evict, and why, for the event."""

    namespace: str
    name: str
    uid: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentCommand:
    """A command and its reception; `refusal` is empty where it was accepted."""

    command: Command
    sent_at: datetime
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionList:
    """What disruption would do now, by node, and did lately, oldest first."""

    snapshot: SnapshotId
    decisions: tuple[Decision, ...] = ()
    commands: tuple[SentCommand, ...] = ()
