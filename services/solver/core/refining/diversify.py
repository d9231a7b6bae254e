"""Spot diversity: takes nodes off an offering that has more than its share of the spot nodes.

Apart from what makes plans cheaper because it makes them dearer, as users ask for: it comes last,
and takes those claims whose next best offering costs least more.
"""

import numpy as np

from libs.domain.capacity import CapacityType
from libs.domain.objective import SpotDiversity
from services.solver.core.offers.catalogue import CatalogueColumns
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.packed import Packed
from services.solver.core.packing.bins import Bins
from services.solver.core.packing.encode import Encoded
from services.solver.core.packing.problem import Problem
from services.solver.core.refining.replacing import Replacement, with_claims
from services.solver.core.vectors import Bools, Ints

_MOST_ROUNDS = 64
"""Offerings that are thinned out, one after the other."""

_Key = tuple[str, str]
"""Instance type and zone."""


def diversified(encoded: Encoded, one: Packed) -> Packed | None:
    """Return the answer with no offering beyond its share as far as there are others.

    Returns:
        None where nothing had to be done, or nothing could be.
    """
    diversity = encoded.options.objective.spot_diversity
    if diversity is None or not diversity.share_ppm or one.problem.devices is not None:
        return None
    bins = one.packer.bins
    claims, moved = list(bins.claims), False
    for _ in range(_MOST_ROUNDS):
        crowd, beyond = _crowd(claims, bins, diversity)
        leaving = _least(one.problem, claims, bins, crowd)[:beyond]
        if not leaving:
            break
        for claim, narrower in leaving:
            claims[claim], moved = narrower, True
    if not moved:
        return None
    return with_claims(encoded, one, Replacement(claims=claims, placements=bins.placements))


def _crowd(claims: list[ClaimClass], bins: Bins, diversity: SpotDiversity) -> tuple[list[int], int]:
    """Return the claims of the offering that is most beyond its share, and how many are."""
    by_offering: dict[_Key, list[int]] = {}
    for claim, known in enumerate(claims):
        position = _cheapest(known, bins.used[claim])
        if known.template.columns.offerings[position].capacity_type == CapacityType.SPOT:
            by_offering.setdefault(_key(known, position), []).append(claim)
    if not by_offering:
        return [], 0
    allowed = diversity.allowed(sum(map(len, by_offering.values())))
    most = min(by_offering, key=lambda key: (-len(by_offering[key]), key))
    return by_offering[most], max(0, len(by_offering[most]) - allowed)


def _least(
    problem: Problem, claims: list[ClaimClass], bins: Bins, crowd: list[int]
) -> list[tuple[int, ClaimClass]]:
    """Return the claims that can leave the offering, least loss first, and what they become."""
    found: list[tuple[int, int, ClaimClass]] = []
    for claim in crowd:
        known, used = claims[claim], bins.used[claim]
        leading = _cheapest(known, used)
        kept = known.offerings & ~_same(known.template.columns, _key(known, leading))
        narrower = problem.classes.restrict(known, kept)
        if narrower.narrowed_rows(narrower.rows_for(used)).any():
            price = known.template.columns.price
            found.append((int(price[_cheapest(narrower, used)] - price[leading]), claim, narrower))
    found.sort(key=lambda item: item[:2])
    return [item[1:] for item in found]


def _cheapest(known: ClaimClass, used: Ints) -> int:
    """Return the offering that a claim would be launched as."""
    found = np.flatnonzero(known.narrowed_rows(known.rows_for(used)))
    return int(found[known.template.columns.rank[found].argmin()])


def _key(known: ClaimClass, position: int) -> _Key:
    columns = known.template.columns
    kind = columns.types[columns.row_type[columns.row[position]]]
    return kind.name, columns.offerings[position].zone


def _same(columns: CatalogueColumns, key: _Key) -> Bools:
    """Return (n_offerings,): the spot offerings of a type in a zone."""
    kinds = columns.row_type[columns.row].tolist()
    pairs = zip(kinds, columns.offerings, strict=True)
    return np.array(
        [
            one.capacity_type == CapacityType.SPOT and (columns.types[kind].name, one.zone) == key
            for kind, one in pairs
        ],
        np.bool_,
    )
