"""NodePools: what nodes are made from, when they may be disrupted, how many there may be."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from libs.domain.capacity import NodeClassRef
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.taint import Taint


class DisruptionReason(StrEnum):
    """Why a node is disrupted of our own will; the words of NodePool budgets."""

    EMPTY = "Empty"
    DRIFTED = "Drifted"
    UNDERUTILIZED = "Underutilized"


class ConsolidationPolicy(StrEnum):
    """Which nodes may be consolidated."""

    WHEN_EMPTY = "WhenEmpty"
    WHEN_EMPTY_OR_UNDERUTILIZED = "WhenEmptyOrUnderutilized"
    BALANCED = "Balanced"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How many nodes may be disrupted at once; exactly one of `nodes` and `percent` is set."""

    nodes: int | None = None
    percent: int | None = None
    reasons: frozenset[DisruptionReason] = frozenset()
    """Reasons that it limits; empty for all."""
    schedule: str = ""
    """Five-field cron in UTC or a macro; empty for always."""
    duration: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Disruption:
    """How a pool's nodes may be disrupted; `consolidate_after` None is never."""

    consolidate_after: timedelta | None = timedelta(0)
    consolidation_policy: ConsolidationPolicy = ConsolidationPolicy.WHEN_EMPTY_OR_UNDERUTILIZED
    budgets: tuple[Budget, ...] = (Budget(percent=10),)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTemplate:
    """What every node of a pool is made from."""

    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    requirements: Requirements
    """As the user wrote them; labels of the template are not merged in."""
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    node_class: NodeClassRef
    expire_after: timedelta | None = None
    termination_grace_period: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePool:
    """A NodePool; `replicas` is set for a static pool, onto which no pods are planned."""

    name: str
    uid: str
    generation: int = 1
    hash: str = ""
    """Drift hash of the template, version v3."""
    weight: int = 0
    template: NodeTemplate
    disruption: Disruption = Disruption()
    limits: Resources
    """Only resources named here are limited; `nodes` bounds their number."""
    replicas: int | None = None
    ready: bool = True
    """Whether pods may be planned onto it: valid, its class ready, not deleting."""
    problems: tuple[str, ...] = ()
    """Why it is not ready."""
