"""Topology spread and pod (anti-)affinity, resolved as far as a single pod allows.

`matchLabelKeys` and `mismatchLabelKeys` are already merged into the selectors: they depend on
nothing but the pod's own labels. Namespace selectors stay open, since namespaces may be relabelled.
"""

from dataclasses import dataclass
from enum import StrEnum

from libs.domain.requirements import Requirements
from libs.domain.selector import LabelSelector


class NodeInclusionPolicy(StrEnum):
    """Whether a property of nodes limits the domains of a spread constraint."""

    HONOR = "Honor"
    IGNORE = "Ignore"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologySpread:
    """A topology spread constraint; `required` is DoNotSchedule, otherwise ScheduleAnyway."""

    topology_key: str
    max_skew: int = 1
    required: bool = True
    selector: LabelSelector | None = None
    """Pods of the pod's own namespace that count; None selects none."""
    min_domains: int | None = None
    node_affinity_policy: NodeInclusionPolicy = NodeInclusionPolicy.HONOR
    node_taints_policy: NodeInclusionPolicy = NodeInclusionPolicy.IGNORE


@dataclass(frozen=True, slots=True, kw_only=True)
class PodAffinityTerm:
    """One term of a pod affinity or anti-affinity."""

    topology_key: str
    selector: LabelSelector | None = None
    """Pods that the term is about; None selects none."""
    namespaces: tuple[str, ...] = ()
    """Namespaces by name, sorted; the pod's own where the user named none at all."""
    namespace_selector: LabelSelector | None = None
    """Namespaces by label, besides those by name; None selects none, an empty selector all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedPodAffinityTerm:
    """A term that is only preferred; weight 1 to 100."""

    weight: int
    term: PodAffinityTerm


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferredNodeTerm:
    """A preferred node affinity term; weight 1 to 100."""

    weight: int
    requirements: Requirements
