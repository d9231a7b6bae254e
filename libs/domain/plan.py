"""What decisions look like: plans for waiting pods, commands to disrupt nodes, verdicts."""

from dataclasses import dataclass

from libs.domain.nodepool import DisruptionReason
from libs.domain.reason import Rule, TargetKind, Unplaceable
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOption:
    """An instance type in a zone at a price in nano-dollars per hour."""

    instance_type: str
    zone: str
    capacity_type: str
    price_nanos_per_hour: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNodeClaim:
    """A NodeClaim to create; its name derives from the plan id and `index`."""

    index: int
    nodepool: str
    nodepool_uid: str
    nodepool_hash: str
    """Drift hash of the pool that was planned with; another one now makes the plan stale."""
    requirements: Requirements
    requests: Resources
    instance_types: tuple[str, ...]
    """Those that fit, cheapest first, at most 600."""
    cheapest: LaunchOption
    pod_uids: tuple[str, ...]
    """Sorted; virtual pods of buffers included."""
    labels: tuple[tuple[str, str], ...] = ()
    """Besides those of the pool's template."""
    annotations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Nomination:
    """Pods that are expected on a node or a claim in flight; uids sorted."""

    target_kind: TargetKind
    target: str
    pod_uids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnplacedPods:
    """Pods without a place for one and the same reason; uids sorted."""

    pod_uids: tuple[str, ...]
    reason: Unplaceable


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolMessage:
    """Something to be said about a pool, such as requirements that leave no instance type."""

    nodepool: str
    rule: Rule
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferVerdict:
    """How many virtual pods of a buffer fit on nodes that exist, need new ones, have no place."""

    namespace: str
    name: str
    fit_existing: int = 0
    need_new: int = 0
    unplaced: int = 0
    problem: str = ""
    """Why there are no virtual pods, or why some have no place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayVerdict:
    """Whether an overlay is in force, and why not."""

    name: str
    applied: bool
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An answer to "where does every waiting pod go"; every list in its canonical order."""

    nodeclaims: tuple[PlannedNodeClaim, ...] = ()
    nominations: tuple[Nomination, ...] = ()
    unplaced: tuple[UnplacedPods, ...] = ()
    pool_messages: tuple[PoolMessage, ...] = ()
    buffers: tuple[BufferVerdict, ...] = ()
    overlays: tuple[OverlayVerdict, ...] = ()

    def without_place(self) -> frozenset[str]:
        """Return the uids of the pods that have no place."""
        return frozenset(uid for group in self.unplaced for uid in group.pod_uids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A node of a command with the premise that is checked again before it is touched."""

    nodeclaim: str
    nodeclaim_uid: str
    node: str
    nodepool: str
    pod_uids: tuple[str, ...] = ()
    """Pods that the decision counted, sorted; a newly bound one makes it stale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A decision to disrupt nodes, with what replaces them."""

    id: str
    reason: DisruptionReason
    candidates: tuple[Candidate, ...]
    replacements: tuple[PlannedNodeClaim, ...] = ()
    saving_nanos_per_hour: int = 0
    nominations: tuple[Nomination, ...] = ()
    """Where pods are expected that go to nodes which exist, sorted by target."""

    @property
    def moves(self) -> int:
        """How many pods need another place because of it."""
        return sum(len(one.pod_uids) for one in self.candidates)

    @property
    def cost_nanos_per_hour(self) -> int:
        """What the replacements cost, each at its cheapest offering."""
        return sum(one.cheapest.price_nanos_per_hour for one in self.replacements)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """Something that keeps a node from being disrupted, such as a budget or a pod."""

    kind: str
    object: str = ""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What disruption thinks of one node now."""

    node: str
    nodeclaim: str = ""
    candidate: bool = False
    blockers: tuple[Blocker, ...] = ()
    command_id: str = ""
