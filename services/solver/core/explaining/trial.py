"""Trials: where a pod would go if something were different, decided by the solver itself.

Apart because this is the only thing of an explanation that costs: each trial is a whole decision,
so they are counted and bounded, fewer where the cluster is large.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from libs.domain.capacity import Catalogue
from libs.domain.plan import Plan, PlannedNodeClaim
from libs.domain.reason import TargetKind
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from services.solver.core.offers.catalogue import CatalogueColumns
from services.solver.core.offers.market import Memory
from services.solver.core.packed import Packed, packed
from services.solver.core.packing.encode import Encoded, encode

_MOST_TRIALS = 64
_LEAST_TRIALS = 8
_MOST_WORK = 640_000
"""Pods and nodes, over all trials."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """Where a pod goes: to a node, to a claim in flight, or with a planned claim to a new node."""

    kind: TargetKind
    name: str
    """Of the node or the claim; of the pool for a new node."""
    planned: PlannedNodeClaim | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A snapshot, what the solver made of it and the state in which it ended."""

    snapshot: ClusterSnapshot
    encoded: Encoded
    packed: Packed

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.packed.answer.plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """A trial that gave the pod a place."""

    landing: Landing
    decision: Decided


@dataclass(slots=True, kw_only=True)
class Desk:
    """Decides as asked, with what one explanation has in common."""

    options: SolveOptions
    memory: Memory
    cancelled: Callable[[], bool]
    _columns: dict[int, CatalogueColumns] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.memory = replace(self.memory, columns_of=self._remembering(self.memory.columns_of))

    def encode(self, snapshot: ClusterSnapshot) -> Encoded:
        """Return the snapshot in columns."""
        return encode(snapshot, self.options, self.options.now or snapshot.observed_at, self.memory)

    def decide(self, snapshot: ClusterSnapshot) -> Decided:
        """Return the solver's decision.

        Raises:
            Unavailable: the caller has gone away.
        """
        encoded = self.encode(snapshot)
        return Decided(snapshot=snapshot, encoded=encoded, packed=packed(encoded, self.cancelled))

    def _remembering(
        self, build: Callable[[Catalogue], CatalogueColumns]
    ) -> Callable[[Catalogue], CatalogueColumns]:
        def of(catalogue: Catalogue) -> CatalogueColumns:
            found = self._columns.get(id(catalogue))
            if found is None or found.source is not catalogue:
                found = self._columns[id(catalogue)] = build(catalogue)
            return found

        return of


@dataclass(slots=True, kw_only=True)
class Trials:
    """Tries changes for one pod, as often as is allowed."""

    desk: Desk
    uid: str
    most: int
    done: int = 0
    cut_short: bool = False
    """Whether a trial was asked for that was not allowed any more."""

    def land(self, edited: ClusterSnapshot) -> Landed | None:
        """Return where the pod goes in the edited snapshot; None if nowhere or not allowed."""
        if self.done >= self.most:
            self.cut_short = True
            return None
        self.done += 1
        decision = self.desk.decide(edited)
        landing = landing_of(decision.plan, self.uid)
        return None if landing is None else Landed(landing=landing, decision=decision)


def most_trials(snapshot: ClusterSnapshot) -> int:
    """Return how many trials a cluster of this size allows."""
    size = len(snapshot.pods) + len(snapshot.nodes) + len(snapshot.nodeclaims)
    return max(_LEAST_TRIALS, min(_MOST_TRIALS, _MOST_WORK // max(size, 1)))


def landing_of(plan: Plan, uid: str) -> Landing | None:
    """Return where a plan puts a pod; None if nowhere."""
    for one in plan.nominations:
        if uid in one.pod_uids:
            return Landing(kind=one.target_kind, name=one.target)
    for claim in plan.nodeclaims:
        if uid in claim.pod_uids:
            return Landing(kind=TargetKind.NODEPOOL, name=claim.nodepool, planned=claim)
    return None
