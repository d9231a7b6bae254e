"""What Explain says: of a pod, of a node, of a pool, and which single change would help.

Apart from plans because nobody acts on it: it is computed when somebody asks.
"""

from dataclasses import dataclass
from enum import StrEnum

from libs.domain.capacity import NodeClassRef
from libs.domain.plan import Decision, LaunchOption, Nomination, PlannedNodeClaim, PoolMessage
from libs.domain.reason import Rejection, Rule, TargetKind, Unplaceable
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.snapshot import SnapshotId
from libs.domain.solution import SolveOptions
from libs.domain.taint import Taint


class PodSituation(StrEnum):
    """What a pod is to an autoscaler."""

    UNKNOWN = "unknown"
    PLACED = "placed"
    UNPLACED = "without a place"
    ON_NODE = "on a node"
    ENDED = "ended"
    DELETING = "being deleted"
    DAEMON = "daemon"
    STATIC = "static"
    HELD = "held"
    """It has no node and does not ask for one."""
    SET_ASIDE = "set aside"
    """It was left out of the snapshot."""


class ChangeKind(StrEnum):
    """What kind of change would help, in order of size, smallest first.

    First what only corrects a slip; then what the pod alone bears, what gives it more freedom
    before what takes something from it; then what others notice: its gang, then a whole pool; last
    what only the cloud can do.
    """

    UNKNOWN = "unknown"
    VALUE = "value"
    TOLERATION = "toleration"
    MAX_SKEW = "max skew"
    MIN_DOMAINS = "min domains"
    TAINTS_POLICY = "node taints policy"
    SOFT_SPREAD = "soft spread"
    NODE_SELECTION = "node selection"
    AFFINITY = "affinity"
    ANTI_AFFINITY = "anti-affinity"
    REQUEST = "request"
    HOST_PORT = "host port"
    VOLUME = "volume"
    GANG = "gang"
    POOL_LIMIT = "pool limit"
    POOL_REQUIREMENT = "pool requirement"
    POOL_LABEL = "pool label"
    POOL_MIN_VALUES = "pool minValues"
    OFFERING = "offering"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A single change with which the pod has a place: decided again with it, nothing else new."""

    kind: ChangeKind
    nodepool: str = ""
    """Pool to change; empty where it is the pod, its gang or an offering."""
    field: str = ""
    """Path in the Kubernetes object; empty where there is no such field."""
    old: str = ""
    new: str = ""
    """Empty where it has to go."""
    message: str
    landing_kind: TargetKind
    """What takes the pod then: with `NODEPOOL` a new node."""
    landing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PodExplanation:
    """A pod."""

    namespace: str
    name: str
    uid: str = ""
    """Empty where the pod was left out of the snapshot."""
    situation: PodSituation
    message: str
    node: str = ""
    planned: PlannedNodeClaim | None = None
    """Claim that would be created for it and others."""
    nearest: tuple[Rejection, ...] = ()
    """For each rule that refused nodes or claims the one that came nearest, sorted by rule."""
    changes: tuple[Change, ...] = ()
    """Smallest first."""
    trials: int = 0
    cut_short: bool = False
    """True where not all changes that come into question were tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodOnNode:
    """A pod of a node."""

    uid: str
    namespace: str
    name: str
    requests: Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Waiting pods that one rule keeps away; the message is about the first of them."""

    rule: Rule
    message: str
    pod_uids: tuple[str, ...]
    """Sorted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeExplanation:
    """A node, or with an empty name a claim in flight."""

    name: str = ""
    nodeclaim: str = ""
    nodepool: str = ""
    instance_type: str = ""
    zone: str = ""
    capacity_type: str = ""
    price_nanos_per_hour: int | None = None
    states: tuple[str, ...] = ()
    """In words, sorted; empty for a node in use."""
    taints: tuple[Taint, ...] = ()
    allocatable: Resources
    used: Resources
    daemons: Resources
    """Requests of daemons that are still to come."""
    free: Resources
    pods: tuple[PodOnNode, ...] = ()
    """Sorted by namespace and name."""
    could_take: tuple[str, ...] = ()
    """Uids of waiting pods that could go there, each alone; sorted."""
    refusals: tuple[Refusal, ...] = ()
    options_known: bool = False
    """Whether cheaper types of the same pool could be looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelStep:
    """How many instance types and offerings are left after a step."""

    step: str
    instance_types: int
    offerings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolExplanation:
    """A pool."""

    name: str
    weight: int = 0
    position: int
    """In the order in which pools are tried, from 1."""
    pools: int
    usable: bool
    replicas: int | None = None
    requirements: Requirements
    """With what its labels and its name add."""
    taints: tuple[Taint, ...] = ()
    funnel: tuple[FunnelStep, ...] = ()
    """The catalogue, then what is left of it after each requirement."""
    nodes: int = 0
    limits: Resources
    used: Resources
    left: Resources
    least_overhead: Resources
    most_overhead: Resources
    could_take: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Reasons; what does not concern the subject is None or empty."""

    snapshot: SnapshotId
    options: SolveOptions
    solver_version: str
    unplaceable: Unplaceable | None = None
    """Why the pod has no place."""
    nomination: Nomination | None = None
    """Where the pod would go, if that is there or on its way."""
    pool_messages: tuple[PoolMessage, ...] = ()
    decision: Decision | None = None
    """What keeps the node from being given up, budgets of pools apart."""
    options_by_price: tuple[LaunchOption, ...] = ()
    """Cheapest first: what the pod's new node may be; on what the node's pods would fit for less;
    per capacity type the cheapest of the pool."""
    node_class: NodeClassRef | None = None
    """Of the subject's pool."""
    pod: PodExplanation | None = None
    node: NodeExplanation | None = None
    nodepool: NodePoolExplanation | None = None
