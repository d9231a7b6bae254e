"""`solve`: the whole decision, from a snapshot to a solution.

A pure function of (snapshot, options): the order of the input does not matter, no clock is read,
nothing is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass

from libs.domain.errors import Unavailable
from libs.domain.plan import Plan
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Cost, PodCounts, Solution, SolveOptions
from services.solver.core.answer import Answer, answer
from services.solver.core.encode import Encoded, encode, problem
from services.solver.core.gangs import whole
from services.solver.core.market import NOTHING_REMEMBERED, Memory
from services.solver.core.packing import Packer
from services.solver.core.plan_id import plan_id
from services.solver.core.price import existing_price
from services.solver.core.problem import Problem
from services.solver.core.workload import Group

VERSION = "2"
"""Changes with each release by which the same snapshot may get another plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """An answer with the state that packing ended in."""

    problem: Problem
    packer: Packer
    answer: Answer


def solve(
    snapshot: ClusterSnapshot,
    options: SolveOptions,
    *,
    memory: Memory = NOTHING_REMEMBERED,
    cancelled: Callable[[], bool] = lambda: False,
) -> Solution:
    """Find a place for every waiting pod: on nodes, on claims in flight, on claims to create.

    Args:
        snapshot: the cluster; consistent, as `snapshot.inconsistencies` tells.
        options: how to decide.
        memory: what is known from earlier calls.
        cancelled: asked between groups of pods; True ends the work.

    Raises:
        Unavailable: `cancelled` said so.
    """
    now = options.now or snapshot.observed_at
    encoded = encode(snapshot, options, now, memory)
    found = packed(encoded, cancelled).answer
    return Solution(
        snapshot=snapshot.id,
        options=options,
        solver_version=VERSION,
        plan=found.plan,
        cost=Cost(
            new_nanos_per_hour=_price(found.plan),
            existing_nanos_per_hour=existing_price(snapshot, encoded.market),
        ),
        plan_id=plan_id(snapshot.id, found.plan),
        pods=PodCounts(
            waiting=found.on_existing + found.on_new + found.unplaced,
            on_existing=found.on_existing,
            on_new=found.on_new,
            unplaced=found.unplaced,
        ),
    )


def packed(encoded: Encoded, cancelled: Callable[[], bool]) -> Packed:
    """Pack until every gang has all its places or none.

    Raises:
        Unavailable: `cancelled` said so.
    """

    def pack(groups: tuple[Group, ...]) -> Packer:
        packer = Packer(*problem(encoded, groups), cancelled)
        if not packer.run():
            raise Unavailable("the caller has gone away")
        return packer

    found = whole(encoded.snapshot, encoded.work, pack)
    packer = found.packer
    return Packed(
        problem=packer.problem,
        packer=packer,
        answer=answer(encoded, packer.problem, packer, found.short),
    )


def _price(plan: Plan) -> int:
    return sum(claim.cheapest.price_nanos_per_hour for claim in plan.nodeclaims)
