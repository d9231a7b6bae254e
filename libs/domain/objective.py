"""What a plan is chosen by besides its price: terms that users may set, all off by default.

Karpenter knows the price alone. The terms are weights: they are no part of what is paid and never
let a plan break a rule. Those that are per node count wherever offerings are compared, so that the
fast stage minds them, too; those that are about the plan as a whole are the refine stage's.
"""

from dataclasses import dataclass

from libs.domain.errors import InvalidRequest
from libs.domain.requirements import Requirements

PPM = 1_000_000
"""Millionths in a whole."""

MOST_WEIGHT = 10**15
"""Nano-dollars per hour: a million dollars, beyond which nothing is bought any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Licence:
    """What is paid per hour for each new node that meets some requirements."""

    nodes: Requirements
    """By labels that the pool, the instance type or the offering states; none: every node."""
    nanos_per_hour: int

    def __post_init__(self) -> None:
        _check("nanos_per_hour", self.nanos_per_hour, MOST_WEIGHT)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlastRadius:
    """A price for many pods of one workload on one new node, which all go with it."""

    share_ppm: int
    """Millionths of a workload's waiting pods that one node may have; at least one pod."""
    pod_nanos_per_hour: int
    """What each pod beyond counts for."""

    def __post_init__(self) -> None:
        if self.share_ppm < 1:
            raise InvalidRequest(f"{self.share_ppm} is below 1", field="share_ppm")
        _check("share_ppm", self.share_ppm, PPM)
        _check("pod_nanos_per_hour", self.pod_nanos_per_hour, MOST_WEIGHT)

    def allowed(self, pods: int) -> int:
        """Return how many of a workload's pods one node may have at no price."""
        return max(1, pods * self.share_ppm // PPM)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotDiversity:
    """A way out where the cloud takes spot nodes away or has none."""

    share_ppm: int = 0
    """Most of the plan's new spot nodes of one offering, in millionths; at least one node. 0: any.
    """
    instance_types: int = 0
    """Least number of instance types that the launch list of a spot node keeps. 0: any."""

    def __post_init__(self) -> None:
        _check("share_ppm", self.share_ppm, PPM)
        _check("instance_types", self.instance_types, 600)

    def allowed(self, nodes: int) -> int:
        """Return how many of so many spot nodes may be of one offering, where there is a share."""
        return max(1, nodes * self.share_ppm // PPM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """The terms; nano-dollars per hour."""

    interruption_nanos_per_hour: int = 0
    """What each new spot node counts for: the price of the risk that it is taken away."""
    node_nanos_per_hour: int = 0
    """What each new node counts for."""
    licences: tuple[Licence, ...] = ()
    """A node may need several."""
    blast_radius: BlastRadius | None = None
    spot_diversity: SpotDiversity | None = None

    def __post_init__(self) -> None:
        _check("interruption_nanos_per_hour", self.interruption_nanos_per_hour, MOST_WEIGHT)
        _check("node_nanos_per_hour", self.node_nanos_per_hour, MOST_WEIGHT)

    @property
    def weighs_nodes(self) -> bool:
        """Return whether any term changes what a new node counts for."""
        return bool(self.interruption_nanos_per_hour or self.node_nanos_per_hour or self.licences)


def _check(field: str, value: int, most: int) -> None:
    if not 0 <= value <= most:
        raise InvalidRequest(f"{value} is not between 0 and {most}", field=field)


PRICE_ALONE = Objective()
