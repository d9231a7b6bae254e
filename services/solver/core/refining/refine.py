"""`refine`: from the answer of the fast stage to a cheaper one, with a bound that says how good.

The first iterations pack again on what the bound buys alone, and on ever smaller types of that; all
others are the local search's, which begins at the best so far. Whatever is found has to be better
than the fast answer, or that one stays.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from libs.domain.errors import Unavailable
from services.solver.core.answer.answer import Answer
from services.solver.core.offers.template import Template
from services.solver.core.packed import Cancelled, Packed
from services.solver.core.packing.encode import Encoded
from services.solver.core.refining import search as local_search
from services.solver.core.refining.bound import Bound, lower_bound
from services.solver.core.refining.construct import construct, narrowed
from services.solver.core.refining.diversify import diversified
from services.solver.core.refining.fluid import Fluid, Placed, fluid
from services.solver.core.refining.quick import quick_bound
from services.solver.core.refining.radius import within_radius
from services.solver.core.refining.score import Score, score
from services.solver.core.refining.start import Search, Start
from services.solver.core.vectors import Ints

MOST_ITERATIONS = 1_000_000
"""Where a budget never ends, as on a clock that stands still."""

_FIRST = 2
"""Sets of types that are packed before a search; it makes more of them than the others do."""

_CHUNK = 64
"""Iterations of local search between two looks at the budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """The answer to give."""

    answer: Answer
    lower_bound: int
    """Nano-dollars per hour below which no valid plan for the same pods can cost."""
    objective: int
    """What the plan was chosen by."""
    iterations: int = 0


def unrefined(encoded: Encoded, fast: Packed) -> Refined:
    """Return the answer of the fast stage with a bound that costs nothing."""
    return Refined(
        answer=fast.answer,
        lower_bound=quick_bound(fast.problem, fast.packer.bins, _paid),
        objective=_score(encoded, fast).objective,
    )


def refine(
    encoded: Encoded,
    fast: Packed,
    *,
    cancelled: Cancelled,
    spent: Callable[[], bool],
    begin: Callable[[Start], Search | None] = local_search.begin,
) -> Refined:
    """Return the best answer that was found, the fast one at worst.

    Args:
        encoded: what was solved.
        fast: how.
        cancelled: as in `solve`.
        spent: as in `solve`.
        begin: begins a local search.

    Raises:
        Unavailable: `cancelled` said so.
    """
    exactly = encoded.options.refine_iterations
    budget = _Budget(
        most=MOST_ITERATIONS if exactly is None else exactly,
        spent=spent if exactly is None else _never,
    )
    if budget.spent() or not fast.packer.bins.claims:
        return unrefined(encoded, fast)
    best, bound = _better(encoded, fast, fast), quick_bound(fast.problem, fast.packer.bins, _paid)
    # Spreading spot nodes is an iteration like others, so that their number tells of it.
    budget.ran += best is not fast
    flow = _fluid(encoded, fast, _paid)
    near = _bound(flow, budget, cancelled)
    bound = max(bound, near.nanos_per_hour)
    if encoded.options.objective.weighs_nodes:
        flow = _fluid(encoded, fast, _weighed)
        near = _bound(flow, budget, cancelled)
    fewer = _variants(encoded, fast, flow, near)
    course = _Course(encoded=encoded, fast=fast, budget=budget, cancelled=cancelled)
    # The search begins at the better of plans with workloads apart and together, and keeps to it.
    first = _FIRST if within_radius(encoded) is None else 2 * _FIRST + 1
    best = course.constructed(best, islice(fewer, first))
    start = Start(
        encoded=encoded,
        packed=best,
        worth=_worth(fast, flow, near),
        least=near.nanos_per_hour,
        seed=encoded.options.seed,
    )
    search = begin(start) if budget.left() else None
    best = course.constructed(best, fewer) if search is None else course.searched(best, search)
    return Refined(
        answer=best.answer,
        lower_bound=bound,
        objective=_score(encoded, best).objective,
        iterations=budget.ran,
    )


def _variants(encoded: Encoded, fast: Packed, flow: Fluid, bound: Bound) -> Iterator[Encoded]:
    """Yield what was solved with room on fewer types, and with workloads kept apart."""
    apart = within_radius(encoded)
    fewer = narrowed(encoded, fast, flow, bound)
    if apart is None:
        yield from fewer
        return
    yield apart
    for together, alone in zip(fewer, narrowed(apart, fast, flow, bound), strict=True):
        yield alone
        yield together


@dataclass(slots=True, kw_only=True)
class _Budget:
    """How many iterations there may be, and how many there were."""

    most: int
    spent: Callable[[], bool]
    """Where that is not said: whether there is no more time."""
    ran: int = 0

    def left(self) -> bool:
        """Tell whether there may be one more."""
        return self.ran < self.most and not self.spent()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Course:
    """What every way to a better answer needs."""

    encoded: Encoded
    fast: Packed
    budget: _Budget
    cancelled: Cancelled

    def constructed(self, best: Packed, narrower: Iterable[Encoded]) -> Packed:
        """Return the best answer once each of these was packed."""
        for fewer in narrower:
            if not self.budget.left():
                break
            found = construct(self.encoded, self.fast, fewer, self.cancelled)
            best = _better(self.encoded, best, found)
            self.budget.ran += 1
        return best

    def searched(self, best: Packed, search: Search) -> Packed:
        """Return the best answer once a search has run as long as it may."""
        while self.budget.ran < self.budget.most:
            if self.cancelled():
                raise Unavailable("the caller has gone away")
            tried = search.advance(min(_CHUNK, self.budget.most - self.budget.ran))
            self.budget.ran += tried
            if not tried or self.budget.spent():
                break
        return _better(self.encoded, best, search.best())


def _bound(flow: Fluid, budget: _Budget, cancelled: Cancelled) -> Bound:
    near = lower_bound(flow, lambda: cancelled() or budget.spent())
    if cancelled():
        raise Unavailable("the caller has gone away")
    return near


def _worth(fast: Packed, flow: Fluid, bound: Bound) -> dict[int, float]:
    """Return what a pod of each shape costs at least, by id of the shape."""
    groups = fast.problem.groups
    shapes = (groups[index].shape.id for index in flow.groups.tolist())
    return dict(zip(shapes, bound.worth.tolist(), strict=True))


def _never() -> bool:
    return False


def _better(encoded: Encoded, known: Packed, other: Packed | None) -> Packed:
    """Return the other answer, spot nodes spread, if it places the same pods and is better."""
    if other is not None:
        other = diversified(encoded, other) or other
    if other is None or _without_place(other) != _without_place(known):
        return known
    return other if _score(encoded, other) < _score(encoded, known) else known


def _without_place(one: Packed) -> tuple[frozenset[str], tuple[int, ...]]:
    """Return the pods without a place, and how many a buffer lacks."""
    plan = one.answer.plan
    return plan.without_place(), tuple(buffer.unplaced for buffer in plan.buffers)


def _score(encoded: Encoded, one: Packed) -> Score:
    return score(encoded, one)


def _fluid(encoded: Encoded, one: Packed, price_of: Callable[[Template], Ints]) -> Fluid:
    placed = Placed(
        problem=one.problem,
        namespaces=encoded.snapshot.namespaces,
        counts=one.counts,
        asks=tuple(asks[-1] for asks in one.problem.asks),
    )
    return fluid(placed, price_of)


def _paid(template: Template) -> Ints:
    return template.offers.paid_price


def _weighed(template: Template) -> Ints:
    return template.columns.price
