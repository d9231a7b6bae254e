"""What other pods mean for one that asks for a place: its constraints, each with its tally."""

from dataclasses import dataclass

from libs.domain.pod import PodShape
from libs.domain.topology import PodAffinityTerm, TopologySpread
from services.solver.core.topology.tally import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadRule:
    """A spread constraint of an ask."""

    tally: Tally
    constraint: TopologySpread
    own: int
    """1 if the pod counts itself; of a pod that leads another one also 1 for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AffinityRule:
    """Terms of an ask that one pod has to match together."""

    tallies: tuple[Tally, ...]
    """One per key of the terms."""
    own: bool
    """Whether the pod matches its own terms, so that it may be the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """A term of an anti-affinity by which its owners keep a pod away."""

    term: PodAffinityTerm
    owners: tuple[PodShape, ...]
    tally: Tally
    """Counts the owners."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What other pods mean for an ask."""

    spread: tuple[SpreadRule, ...] = ()
    affinity: tuple[AffinityRule, ...] = ()
    apart: tuple[tuple[Tally, bool], ...] = ()
    """Tallies of pods to keep away from, and whether the pod is itself counted there."""
    together: tuple[Tally, ...] = ()
    """Tallies of the pods that use a volume which is yet to be made where the first of them goes.
    """
    exclusive: tuple[str, ...] = ()
    """Volume claims that a single pod at a time may use."""
    pins: tuple[str, ...] = ()

    @property
    def helping(self) -> tuple[Tally, ...]:
        """Return who counts pods of which more may help this one: it is near them, or spread."""
        near = (tally for rule in self.affinity for tally in rule.tallies)
        return (*self.together, *near, *(rule.tally for rule in self.spread))

    @property
    def none(self) -> bool:
        """Return whether other pods do not matter."""
        return not (
            self.spread
            or self.affinity
            or self.apart
            or self.together
            or self.exclusive
            or self.pins
        )
