"""Packs again, on types alone that the bound buys, and then on ever smaller ones of them.

In the fast stage a claim grows as long as any type still has room: so it ends as one of the largest
types, whatever those cost for what they have. Where only types that are worth their price have
room, it cannot; and of those a small one is left with less room that nobody needs. Everything else
is the fast stage's work, so that every rule holds; what a claim may then be launched as is not
narrowed. Of every domain over which pods are spread some type keeps its room: one in which nobody
could get a node would no longer count.

Left out where pods have preferences, which are given up one by one as room gets less; and pools
with minValues keep all their types, since those count types that are not bought.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.requirements import ANYTHING
from services.solver.core.answer.answer import answer
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.offers.template import Template
from services.solver.core.packed import Cancelled, Packed, packed
from services.solver.core.packing.encode import Encoded
from services.solver.core.packing.problem import Problem
from services.solver.core.pods.ask import Ask
from services.solver.core.refining.bound import Bound
from services.solver.core.refining.fluid import Fluid
from services.solver.core.vectors import Bools, Ints, covering

_MOST_TRIED = 8

_SOME = 1e-6
"""Instances below which nothing is bought."""


def narrowed(encoded: Encoded, fast: Packed, flow: Fluid, bound: Bound) -> Iterator[Encoded]:
    """Yield what was solved with room on fewer types: those that the bound buys, ever smaller ones.

    Whoever fits on none of them keeps what is cheapest.
    """
    if any(len(asks) > 1 for asks in fast.problem.asks):
        return
    seen: set[bytes] = set()
    bought = bound.bought > _SOME
    dearest = np.unique(flow.offers.price[bought])[::-1]
    needed = _of_each_domain(fast.problem)
    for price in dearest[:: -(-len(dearest) // _MOST_TRIED) or 1]:
        kept = _covering(flow, bought & (flow.offers.price <= price), bought)
        if kept.tobytes() in seen:
            continue
        seen.add(kept.tobytes())
        yield replace(
            encoded,
            templates=tuple(
                _only(
                    template,
                    (*flow.offers.row[kept & (flow.offers.template == index)], *needed[index]),
                )
                for index, template in enumerate(encoded.templates)
            ),
        )


def construct(encoded: Encoded, fast: Packed, fewer: Encoded, cancelled: Cancelled) -> Packed:
    """Return the answer with room on fewer types.

    Raises:
        Unavailable: `cancelled` said so.
    """
    return _widened(encoded, fast, packed(fewer, cancelled))


def _covering(flow: Fluid, kept: Bools, bought: Bools) -> Bools:
    """Return the offers that are kept, and the cheapest one for each group that may use none."""
    found = kept.copy()
    price = flow.offers.price
    for usable in flow.usable[~(flow.usable & kept).any(axis=1)]:
        own = usable & bought if (usable & bought).any() else usable
        if not (usable & found).any() and own.any():
            found[np.where(own, price, np.inf).argmin()] = True
    return found


def _of_each_domain(problem: Problem) -> tuple[frozenset[int], ...]:
    """Return by pool rows that make every domain in which spread pods could get a node now."""
    found: list[set[int]] = [set() for _ in problem.templates]
    for asks in problem.asks:
        for ask in asks:
            request = problem.dimensions.requests(ask.shape.requests)
            for key in {one.topology_key for one in ask.spread} - {label_keys.HOSTNAME}:
                for template, row in _cheapest_by_domain(problem, ask, key, request):
                    found[template].add(row)
    return tuple(map(frozenset, found))


def _cheapest_by_domain(
    problem: Problem, ask: Ask, key: str, request: Ints
) -> Iterator[tuple[int, int]]:
    """Yield, for each domain in which the pod could get a node, the cheapest pool and row of it."""
    classes = problem.classes
    least: dict[int, tuple[int, ClaimClass]] = {}
    for known in problem.algebra.ground.new_nodes(ask):
        for domain, price in classes.prices(known, key, request).items():
            if domain not in least or price < least[domain][0]:
                least[domain] = price, known
    for domain, (_, known) in least.items():
        there = classes.narrow(known, ANYTHING, (), ((key, 1 << domain),)) or known
        offerings = np.flatnonzero(there.narrowed_rows(there.rows_for(request)))
        columns = there.template.columns
        cheapest = offerings[columns.rank[offerings].argmin()]
        yield there.template.index, int(columns.row[cheapest])


def _only(template: Template, rows: Iterable[int]) -> Template:
    """Return the pool with room on these rows alone."""
    if any(one.min_values for one in template.requirements):
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
    wide: dict[tuple[int, bytes], ClaimClass] = {}
    claims = []
    for claim, known in enumerate(bins.claims):
        template = encoded.templates[known.template.index]
        # No larger ones where there are limits: the claim is charged with the largest that it had.
        most = template.capacities[known.rows_for(bins.used[claim])].max(axis=0)
        key = (known.id, most.tobytes())
        if key not in wide:
            kept = covering(most, template.capacities)[template.columns.row]
            wide[key] = known.sold_by(template, known.offerings & kept)
        claims.append(wide[key])
    found.packer.bins = replace(bins, claims=tuple(claims))
    made = answer(encoded, found.problem, found.packer, found.short)
    if made.plan.without_place() == fast.answer.plan.without_place():
        told = fast.answer.plan
        plan = replace(made.plan, unplaced=told.unplaced, pool_messages=told.pool_messages)
        made = replace(made, plan=plan)
    return replace(found, answer=made)
