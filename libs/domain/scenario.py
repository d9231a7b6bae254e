"""What-ifs: edits of a snapshot, scenarios made of them, what each would change and cost."""

from dataclasses import dataclass

from libs.domain.nodepool import NodePool
from libs.domain.pod import PodShape, Target
from libs.domain.solution import Solution
from libs.domain.workload import NodeOverlay


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveNodes:
    """Take nodes, or claims in flight, away; their pods have to find another place."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CordonNodes:
    """Let nothing new onto nodes."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddNodes:
    """Add nodes of an offering as a pool would get them, bought and ready."""

    nodepool: str
    instance_type: str
    zone: str
    capacity_type: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPods:
    """Add waiting pods of one shape, whose id is ignored."""

    shape: PodShape
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleOwner:
    """Set the number of pods of one workload; 0 removes it."""

    namespace: str
    kind: str
    """A Deployment has the pods of its ReplicaSets; empty: whatever has that name."""
    name: str
    replicas: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PutNodePool:
    """Add or replace a pool."""

    nodepool: NodePool


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveNodePool:
    """Remove a pool and its nodes, as a cluster does that is told to delete it."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PutOverlay:
    """Add or replace an overlay."""

    overlay: NodeOverlay


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveOverlay:
    """Remove an overlay."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditOfferings:
    """Change offerings: empty selects every one; exactly one of the changes is set.

    Overlays count on top of it.
    """

    zone: str = ""
    capacity_type: str = ""
    instance_type: str = ""
    available: bool | None = None
    """Whether they can be bought; nodes that exist in them are gone where this is False."""
    price_delta_ppm: int | None = None
    """Millionths of the price to add, may be negative."""


Edit = (
    RemoveNodes
    | CordonNodes
    | AddNodes
    | AddPods
    | ScaleOwner
    | PutNodePool
    | RemoveNodePool
    | PutOverlay
    | RemoveOverlay
    | EditOfferings
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One what-if: edits that are made in order, and a name that the answer repeats."""

    name: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedPod:
    """A pod that an edit added."""

    uid: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PodMove:
    """Pods that leave one node for another; uids sorted."""

    pod_uids: tuple[str, ...]
    from_node: str
    to: Target | int
    """A node or a claim in flight; or the index of a claim of the plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioDiff:
    """What changes from the cluster as it is to the cluster after edits and plan.

    Nodes that are bought and reasons of pods without a place are in the plan.
    """

    removed_nodes: tuple[str, ...] = ()
    """Nodes, and claims in flight, that an edit took away; sorted."""
    added_nodes: tuple[str, ...] = ()
    """Nodes that an edit added; sorted."""
    added_pods: tuple[AddedPod, ...] = ()
    """Sorted by uid."""
    removed_pods: tuple[str, ...] = ()
    """Uids of pods that do not come back; sorted."""
    moves: tuple[PodMove, ...] = ()
    """Pods that have a node and get another: by their node, then by where they go."""
    stranded_pods: tuple[str, ...] = ()
    """Uids of pods that have a node and would have none; sorted."""
    cost_before_nanos_per_hour: int = 0
    """Of all nodes and claims before the edits."""
    cost_after_nanos_per_hour: int = 0
    """Of all nodes and claims after edits and plan."""

    @property
    def cost_delta_nanos_per_hour(self) -> int:
        """Return what more is paid after than before."""
        return self.cost_after_nanos_per_hour - self.cost_before_nanos_per_hour


_NO_CHANGE = ScenarioDiff()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioAnswer:
    """What Solve says after the edits, and what changes by edits and plan."""

    scenario: str
    position: int = 0
    """Of the scenario in the question."""
    solution: Solution
    diff: ScenarioDiff = _NO_CHANGE
