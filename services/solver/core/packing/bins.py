"""Bins: how packing stands, or ended: standing bins first, then the claims of this plan.

Apart from packing because who explains or answers only reads.
"""

from dataclasses import dataclass
from typing import NamedTuple

from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.standing.holdings import Holdings
from services.solver.core.standing.standing import Standing
from services.solver.core.vectors import Ints


class Placement(NamedTuple):
    """So many pods of one group on one bin; a tuple because a plan has thousands."""

    group: int
    bin: int
    size: int
    pods: tuple[int, ...] = ()
    """Which ones of the group; empty: whoever is next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """What is free, what is taken and by whom, at one moment."""

    standing: Standing
    holdings: Holdings
    free: Ints
    """(n_standing, n_resources)."""
    claims: tuple[ClaimClass, ...]
    """The class of each claim."""
    used: Ints
    """(n_claims, n_resources): what the pods of each claim request."""
    pods: Ints
    """(n_claims,): pods on each claim."""
    placements: tuple[Placement, ...]
    """Who went where, in order."""
    held: tuple[Placement, ...] = ()
    """For whom room is kept where, who have no place themselves."""
