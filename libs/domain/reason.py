"""Reasons as data: which rule said no, what was asked, what came nearest, what would help."""

from dataclasses import dataclass
from enum import StrEnum

from libs.domain.resources import NOTHING, Resources


class Rule(StrEnum):
    """The rule that said no."""

    UNKNOWN = "unknown rule"
    TAINTS = "taints"
    NODE_AFFINITY = "node affinity"
    RESOURCES = "resources"
    HOST_PORTS = "host ports"
    TOPOLOGY_SPREAD = "topology spread"
    POD_AFFINITY = "pod affinity"
    POD_ANTI_AFFINITY = "pod anti-affinity"
    VOLUME_TOPOLOGY = "volume topology"
    VOLUME_LIMITS = "volume limits"
    VOLUME_CLAIM = "volume claim"
    DEVICES = "devices"
    POOL_LIMITS = "pool limits"
    POOL_NOT_READY = "pool not ready"
    POOL_REQUIREMENTS = "pool requirements"
    OFFERINGS = "offerings"
    MIN_VALUES = "minValues"
    RESERVATIONS = "reservations"
    GANG = "gang"
    NO_POOL = "no pool"
    NODE_UNAVAILABLE = "node unavailable"
    INVALID_POD = "invalid pod"
    CATALOGUE = "catalogue"
    POOL_STATIC = "pool static"
    ESTIMATE = "estimate"
    POOL_VALUES = "pool values"
    STORAGE_CAPACITY = "storage capacity"
    NODE_FEATURES = "node features"
    VOLUME_BINDING = "volume binding"


class TargetKind(StrEnum):
    """What refused a pod, or what a pod is nominated for."""

    NODEPOOL = "nodepool"
    NODE = "node"
    NODECLAIM = "nodeclaim"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Why one pool, node or claim in flight cannot take a pod."""

    target_kind: TargetKind
    target: str
    rule: Rule
    message: str
    """For people: what was asked and what was nearest, with numbers."""
    nearest_instance_type: str = ""
    asked: Resources
    """Daemon overhead included; empty unless the rule is about resources or limits."""
    offered: Resources
    key: str = ""
    """Label or topology key concerned."""
    suggestion: str = ""
    """In a plan: what the rule that said no would have, not tried out. In an explanation: the
    smallest single change with which the pod gets a place there, tried out. Else empty."""
    overhead: Resources = NOTHING
    """Of what is asked, the part that daemons take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unplaceable:
    """Why a pod has no place; `existing` counts nodes and claims by the first rule that refused."""

    message: str
    rejections: tuple[Rejection, ...] = ()
    """One per pool, in the order in which pools are tried; of very many pools the first ones."""
    existing: tuple[tuple[Rule, int], ...] = ()
    """Sorted by rule."""
    deferred: bool = False
    """True where the next solve may place it, so that no event is due."""
    untold_pools: int = 0
    """Pools that refuse, too, and are not among the rejections."""
