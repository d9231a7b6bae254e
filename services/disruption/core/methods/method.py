"""`Method`: the shape that every way of disrupting has.

Apart from the list of methods, which imports them all.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from libs.domain.nodepool import DisruptionReason
from libs.domain.plan import Blocker, PlannedNodeClaim
from services.disruption.core.budgets import Allowances
from services.disruption.core.candidates import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What one command would do."""

    candidates: tuple[Candidate, ...]
    replacements: tuple[PlannedNodeClaim, ...] = ()

    @property
    def saving_nanos_per_hour(self) -> int:
        """What the cluster costs less afterwards; unknown prices count as nothing."""
        spent = sum(one.cheapest.price_nanos_per_hour for one in self.replacements)
        return sum(one.price_nanos_per_hour for one in self.candidates) - spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a method would do now, and what keeps the other nodes that it is for."""

    moves: tuple[Move, ...] = ()
    """All may be started together."""
    refused: Mapping[str, Blocker]
    """By node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way of disrupting."""

    name: str
    reason: DisruptionReason
    consolidation_type: str
    """The metrics' label."""
    validated: bool
    """Whether its commands are looked at again after the validation delay."""
    refusal: Callable[[Candidate], Blocker | None]
    """Return why the method is not for this node now, None if it is."""
    select: Callable[[Iterable[Candidate], Allowances], Selection]
    """Return what is to be done with the nodes that it is for."""
