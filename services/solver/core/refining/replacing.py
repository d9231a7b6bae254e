"""`with_claims`: the answer with other claims in place of those that packing ended with.

Apart because whoever looks for better claims knows nothing of how an answer is told.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from services.solver.core.answer.answer import answer
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.packed import Packed
from services.solver.core.packing.bins import Bins, Placement
from services.solver.core.packing.encode import Encoded


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """Claims and where all pods go."""

    claims: Sequence[ClaimClass]
    """What each of them may become; of the same `ClaimClasses` as those that it replaces."""
    placements: Sequence[Placement]
    """Of every pod that has a place; bins are numbered standing ones first, then these claims."""


def with_claims(encoded: Encoded, one: Packed, other: Replacement) -> Packed:
    """Return the answer with these claims; what there is to say about the rest stays.

    Args:
        encoded: what was solved.
        one: an answer; it stays as it is.
        other: places for the same pods, all of which have room where they go.
    """
    packer = copy.copy(one.packer)
    packer.bins = _bins(encoded, one, other)
    made = answer(encoded, one.problem, packer, one.short)
    told = one.answer.plan
    plan = replace(made.plan, pool_messages=told.pool_messages)
    if made.plan.without_place() == told.without_place():
        plan = replace(plan, unplaced=told.unplaced)
    return replace(one, packer=packer, answer=replace(made, plan=plan))


def _bins(encoded: Encoded, one: Packed, other: Replacement) -> Bins:
    """Return who is where; what pods hold for themselves on standing bins stays as it was."""
    before = one.packer.bins
    vectors = [encoded.dimensions.requests(group.shape.requests) for group in one.problem.groups]
    standing = len(before.standing)
    free = before.standing.free.copy()
    used = np.zeros((len(other.claims), len(encoded.dimensions.names)), np.int64)
    pods = np.zeros(len(other.claims), np.int64)
    for placement in other.placements:
        asked = placement.size * vectors[placement.group]
        if placement.bin < standing:
            free[placement.bin] -= asked
        else:
            used[placement.bin - standing] += asked
            pods[placement.bin - standing] += placement.size
    return replace(
        before,
        free=free,
        claims=tuple(other.claims),
        used=used,
        pods=pods,
        placements=tuple(other.placements),
    )
