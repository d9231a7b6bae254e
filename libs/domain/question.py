"""Questions to the solver beside solving, and which snapshot a question is about."""

from dataclasses import dataclass
from enum import StrEnum

from libs.domain.plan import Candidate, Command, Decision
from libs.domain.scenario import Scenario
from libs.domain.snapshot import ClusterSnapshot, SnapshotId
from libs.domain.solution import SolveOptions

_DEFAULTS = SolveOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotReference:
    """A snapshot that was pushed: one revision, or with None the newest that is held."""

    cluster_id: str
    id: SnapshotId | None = None


SnapshotSource = SnapshotReference | ClusterSnapshot
"""A pushed snapshot, or one that comes with the question and is forgotten with the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveQuestion:
    """Where does every waiting pod go?"""

    snapshot: SnapshotSource
    options: SolveOptions = _DEFAULTS


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateQuestion:
    """What would the answer be after these edits? One answer per scenario."""

    snapshot: SnapshotSource
    options: SolveOptions = _DEFAULTS
    scenarios: tuple[Scenario, ...] = ()
    positions: tuple[int, ...] = ()
    """Which of them to answer; none named: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateQuestion:
    """Which of these nodes are best given up or replaced?"""

    snapshot: SnapshotSource
    options: SolveOptions = _DEFAULTS
    candidates: tuple[Candidate, ...]
    node_budgets: tuple[tuple[str, int], ...] = ()
    """Most nodes to give up by pool, sorted by pool; one that is absent has no bound."""
    empty_node_budgets: tuple[tuple[str, int], ...] = ()
    """The same of empty nodes, where a pool allows another number; of both kinds together no more
    than the larger."""
    move_price_nanos_per_hour: int = 0
    """Saving per hour that moving one pod is worth."""
    max_moves: int | None = None
    """Most pods to move; None: no bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """Commands, best first, that may be carried out one by one; any prefix is valid."""

    snapshot: SnapshotId
    options: SolveOptions = _DEFAULTS
    commands: tuple[Command, ...] = ()
    existing_nanos_per_hour: int = 0
    """What nodes and claims cost before the commands, as far as their offering is known."""
    left_alone: tuple[Decision, ...] = ()
    """Candidates that no command is about, and why, sorted by node."""
    solver_version: str

    @property
    def moves(self) -> int:
        """How many pods all commands together move."""
        return sum(one.moves for one in self.commands)

    @property
    def saving_nanos_per_hour(self) -> int:
        """What all commands together save."""
        return sum(one.saving_nanos_per_hour for one in self.commands)


class SubjectKind(StrEnum):
    """What a reason is asked about: a pod by uid or by `namespace/name`, the others by name."""

    POD = "pod"
    POD_NAME = "pod name"
    NODE = "node"
    """Or a claim in flight."""
    NODEPOOL = "nodepool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainQuestion:
    """Why does this pod wait, what is this node or pool?"""

    snapshot: SnapshotSource
    options: SolveOptions = _DEFAULTS
    subject_kind: SubjectKind
    subject: str
