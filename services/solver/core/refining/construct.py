"""Packs once more, on those types alone that the bound buys.

In the fast stage a claim grows as long as any type still has room: so it ends as one of the largest
types, whatever those cost for what they have. Where only types that are worth their price have
room, it cannot. Everything else is the fast stage's work, so that every rule holds; what a claim
may then be launched as is not narrowed.

Left out where pods have preferences, which are given up one by one as room gets less; and pools
with minValues or limits keep all their types, since those count types that are not bought.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from services.solver.core.answer import Answer, answer
from services.solver.core.claim_class import ClaimClass
from services.solver.core.encode import Encoded
from services.solver.core.packed import Cancelled, Packed, packed
from services.solver.core.refining.bound import Bound
from services.solver.core.refining.fluid import Fluid
from services.solver.core.template import Template

_SOME = 1e-6
"""Instances below which nothing is bought."""


def construct(
    encoded: Encoded, fast: Packed, flow: Fluid, bound: Bound, cancelled: Cancelled
) -> Packed | None:
    """Return an answer on types that the bound buys; None where that cannot be tried.

    Raises:
        Unavailable: `cancelled` said so.
    """
    if any(len(asks) > 1 for asks in fast.problem.asks):
        return None
    narrowed = tuple(
        _only(template, flow.offers.row[(flow.offers.template == index) & (bound.bought > _SOME)])
        for index, template in enumerate(encoded.templates)
    )
    if all(one is other for one, other in zip(narrowed, encoded.templates, strict=True)):
        return None
    found = packed(replace(encoded, templates=narrowed), cancelled)
    return _widened(encoded, fast, found)


def _only(template: Template, rows: Iterable[int]) -> Template:
    """Return the pool with room on these rows alone."""
    pool = template.pool
    if pool.limits or any(one.min_values for one in template.requirements):
        return template
    room = np.full_like(template.room, -1)
    kept = np.unique(np.fromiter(rows, np.int64))
    room[kept] = template.room[kept]
    return replace(template, room=room)


def _widened(encoded: Encoded, fast: Packed, found: Packed) -> Packed:
    """Return the answer with claims that may be launched as all that has room for their pods.

    What there is to say about pods without a place is said of all types: as it was.
    """
    bins = found.packer.bins
    wide: dict[int, ClaimClass] = {}
    for claim, known in enumerate(bins.claims):
        if known.id not in wide:
            wide[known.id] = replace(
                known,
                template=encoded.templates[known.template.index],
                _rows=None,
                _frontier=None,
                _roof=None,
                _by_price=None,
            )
        bins.claims[claim] = wide[known.id]
    made = answer(encoded, found.problem, found.packer, found.short)
    if _without_place(made) == _without_place(fast.answer):
        told = fast.answer.plan
        plan = replace(made.plan, unplaced=told.unplaced, pool_messages=told.pool_messages)
        made = replace(made, plan=plan)
    return replace(found, answer=made)


def _without_place(one: Answer) -> frozenset[str]:
    return frozenset(uid for group in one.plan.unplaced for uid in group.pod_uids)
