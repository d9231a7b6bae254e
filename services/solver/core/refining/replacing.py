"""`with_claims`: the answer with other claims in place of those that packing ended with.

Apart because whoever looks for better claims knows nothing of how an answer is told.
"""

import copy
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from services.solver.core.answer import answer
from services.solver.core.bins import Bins, Placement
from services.solver.core.claim_class import ClaimClass
from services.solver.core.encode import Encoded
from services.solver.core.packed import Packed
from services.solver.core.vectors import Ints


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
    if {uid for group in made.plan.unplaced for uid in group.pod_uids} == {
        uid for group in told.unplaced for uid in group.pod_uids
    }:
        plan = replace(plan, unplaced=told.unplaced)
    return replace(one, packer=packer, answer=replace(made, plan=plan))


def _bins(encoded: Encoded, one: Packed, other: Replacement) -> Bins:
    vectors = [encoded.dimensions.requests(group.shape.requests) for group in one.problem.groups]
    found = Bins(encoded.standing, len(encoded.dimensions.names))
    standing = len(found.standing)
    pods: dict[int, int] = defaultdict(int)
    used = np.zeros((len(other.claims), len(encoded.dimensions.names)), np.int64)
    for placement in other.placements:
        vector = vectors[placement.group]
        if placement.bin < standing:
            shape = one.problem.groups[placement.group].shape
            found.take_standing(shape, _one(placement.bin), _one(placement.count), vector)
        else:
            used[placement.bin - standing] += placement.count * vector
            pods[placement.bin - standing] += placement.count
    for claim, known in enumerate(other.claims):
        found.open(known, 1)
        found.take_claims(_one(claim), _one(1), used[claim], [known])
        found.pods[claim] = pods[claim]
    found.placements.extend(other.placements)
    return found


def _one(number: int) -> Ints:
    return np.array([number], np.int64)
