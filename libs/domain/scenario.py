"""What-ifs: edits of a snapshot, scenarios made of them, and what each would cost."""

from dataclasses import dataclass

from libs.domain.nodepool import NodePool
from libs.domain.pod import PodShape
from libs.domain.solution import Solution
from libs.domain.workload import NodeOverlay


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveNodes:
    """Take nodes away; their pods have to find another place."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CordonNodes:
    """Let nothing new onto nodes."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPods:
    """Add waiting pods of one shape, whose id is ignored."""

    shape: PodShape
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleOwner:
    """Set the number of pods of one owner."""

    namespace: str
    kind: str
    name: str
    replicas: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PutNodePool:
    """Add or replace a pool."""

    nodepool: NodePool


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveNodePool:
    """Remove a pool."""

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
    """Change offerings: empty selects every one; exactly one of the changes is set."""

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
class ScenarioAnswer:
    """What Solve says after the edits, and what all nodes cost then, less what they cost before."""

    scenario: str
    solution: Solution
    cost_delta_nanos_per_hour: int = 0
