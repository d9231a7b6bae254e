"""`solve`: the whole decision, from a snapshot to a solution; `decide`: all but the encoding.

A pure function of (snapshot, options): the order of the input does not matter, no clock is read,
nothing is kept.
"""

from collections.abc import Callable
from functools import partial

from libs.domain.plan import Plan
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Cost, PodCounts, Solution, SolveOptions
from services.solver.core.answer.plan_id import plan_id
from services.solver.core.offers.market import NOTHING_REMEMBERED, Memory
from services.solver.core.offers.price import existing_price
from services.solver.core.packed import packed
from services.solver.core.packing.encode import Encoded, encode
from services.solver.core.packing.packing import Packer
from services.solver.core.refining.refine import refine, unrefined

VERSION = "3"
"""Changes with each release by which the same snapshot may get another plan."""


def solve(
    snapshot: ClusterSnapshot,
    options: SolveOptions,
    *,
    memory: Memory = NOTHING_REMEMBERED,
    cancelled: Callable[[], bool] = lambda: False,
    spent: Callable[[], bool] = lambda: True,
) -> Solution:
    """Find a place for every waiting pod: on nodes, on claims in flight, on claims to create.

    Args:
        snapshot: the cluster; consistent, as `snapshot.inconsistencies` tells.
        options: how to decide.
        memory: what is known from earlier calls.
        cancelled: asked between groups of pods; True ends the work.
        spent: asked first when the fast stage has ended, then between iterations: whether the
            budget for refining is used up. Not asked where the options say how many iterations run.

    Raises:
        Unavailable: `cancelled` said so.
    """
    encoded = encode(snapshot, options, options.now or snapshot.observed_at, memory)
    return decide(encoded, memory=memory, cancelled=cancelled, spent=spent)


def decide(
    encoded: Encoded,
    *,
    first: Packer | None = None,
    memory: Memory = NOTHING_REMEMBERED,
    cancelled: Callable[[], bool] = lambda: False,
    spent: Callable[[], bool] = lambda: True,
) -> Solution:
    """Do the same where the snapshot is encoded already.

    Args:
        encoded: the snapshot; with the options, which may be refined otherwise than those that it
            was encoded for.
        first: what was made `ready` for it, if anything was; this uses it up.
        memory: as in `solve`.
        cancelled: as in `solve`.
        spent: as in `solve`.

    Raises:
        Unavailable: `cancelled` said so.
    """
    snapshot, options = encoded.given, encoded.options
    fast = packed(encoded, cancelled, first)
    existing = partial(existing_price, memory=memory)
    if options.refines:
        refined = refine(encoded, fast, cancelled=cancelled, spent=spent)
    else:
        refined = unrefined(encoded, fast)
    found = refined.answer
    return Solution(
        snapshot=snapshot.id,
        options=options,
        iterations=refined.iterations,
        solver_version=VERSION,
        plan=found.plan,
        cost=Cost(
            new_nanos_per_hour=_price(found.plan),
            existing_nanos_per_hour=(memory.cost_of or existing)(snapshot, encoded.market),
            lower_bound_nanos_per_hour=refined.lower_bound,
            objective_nanos_per_hour=refined.objective,
        ),
        plan_id=plan_id(snapshot.id, found.plan),
        pods=PodCounts(
            waiting=found.on_existing + found.on_new + found.unplaced,
            on_existing=found.on_existing,
            on_new=found.on_new,
            unplaced=found.unplaced,
        ),
    )


def _price(plan: Plan) -> int:
    return sum(claim.cheapest.price_nanos_per_hour for claim in plan.nodeclaims)
