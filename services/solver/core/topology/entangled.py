"""Whose rules about other pods are too many to count in one plan.

Apart because it is a matter of size alone: each of thousands of unlike pods may have a selector of
its own that selects all others, and to know who counts whom then takes memory and time in the
square of their number. Those that select most wait, with that as the reason, and nobody else does.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from libs.domain.topology import NodeInclusionPolicy, TopologySpread
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.shape_index import ShapeIndex
from services.solver.core.reading.bound_pods import BoundPods

MOST_PAIRS = 2_000_000
"""Pairs of a rule and a shape that it counts; equal rules are one. A plan of 10,000 pods with the
usual constraints has some ten thousands."""

_Use = tuple[int, Hashable, Callable[[], int]]
"""Id of a shape, the name of a rule that it has, and what tells how many shapes that counts at
most: asked once per rule."""


def entangled(
    alike: Collection[Sequence[Ask]], index: ShapeIndex, bound: BoundPods
) -> frozenset[int]:
    """Return the ids of shapes without which rules and what they count are at most `MOST_PAIRS`.

    Args:
        alike: asks of pods that wait, those with the same rules in one.
        index: finds the shapes that their rules count.
        bound: pods that run, whose rules are about those that wait.
    """
    # Nearly always what is cheap to know suffices: that equal rules are one makes it only less.
    firsts = [many[0] for many in alike]
    about = list(_about(alike, bound))
    cheap = _sizes(chain(_uses(firsts, index, by_value=False), about))
    if sum(cheap.values()) <= MOST_PAIRS:
        return frozenset()
    uses = [*_uses(chain.from_iterable(alike), index, by_value=True), *about]
    size = _sizes(uses)
    if sum(size.values()) <= MOST_PAIRS:
        return frozenset()
    return _selecting_most(uses, size)


def _sizes(uses: Iterable[_Use]) -> dict[Hashable, int]:
    """Return how many shapes each rule counts at most, by its name."""
    size: dict[Hashable, int] = {}
    for _, name, most in uses:
        if name not in size:
            size[name] = most()
    return size


def _selecting_most(uses: Iterable[_Use], size: Mapping[Hashable, int]) -> frozenset[int]:
    """Return as few shapes as need be to keep to the bound, by what they bring to it."""
    users: dict[Hashable, set[int]] = defaultdict(set)
    used: dict[int, set[Hashable]] = defaultdict(set)
    for shape, name, _ in uses:
        users[name].add(shape)
        used[shape].add(name)
    brought = {one: sum(size[name] / len(users[name]) for name in used[one]) for one in used}
    left = sum(size.values())
    found = set()
    for shape in sorted(brought, key=lambda one: (-brought[one], one)):
        if left <= MOST_PAIRS:
            break
        found.add(shape)
        for name in used[shape]:
            users[name].discard(shape)
            if not users[name]:
                left -= size[name]
    return frozenset(found)


def _uses(asks: Iterable[Ask], index: ShapeIndex, *, by_value: bool) -> Iterator[_Use]:
    """Yield who has which rule: by what it says, or only by which object says so."""

    def named(one: object) -> Hashable:
        return one if by_value else id(one)

    for ask in asks:
        shape = ask.shape
        for constraint in ask.spread:
            name = named(constraint), shape.namespace, *map(named, _sight(constraint, ask))
            yield shape.id, name, partial(index.most_spread, constraint, shape.namespace)
        for term in (one for terms in ask.affinity for one in terms):
            yield shape.id, ("near", named(term)), partial(index.most_matching, term)
        for term in ask.anti_affinity:
            # Counted are those whom it selects and, for these, those who have it.
            yield shape.id, ("near", named(term)), partial(index.most_matching, term)
            yield shape.id, ("apart", named(term)), partial(index.most_matching, term)


def _about(alike: Iterable[Sequence[Ask]], bound: BoundPods) -> Iterator[_Use]:
    """Yield whom rules of pods that run may be about."""
    if bound.residents.by_term:
        for shape in {ask.shape.id: ask.shape for many in alike for ask in many}.values():
            yield shape.id, ("bound", shape.id), partial(bound.residents.most_about, shape)


def _sight(constraint: TopologySpread, ask: Ask) -> tuple[object, object]:
    """Return by what it differs between pods which nodes a constraint looks at."""
    honours_affinity = constraint.node_affinity_policy is NodeInclusionPolicy.HONOR
    honours_taints = constraint.node_taints_policy is NodeInclusionPolicy.HONOR
    return (
        ask.node_places if honours_affinity else None,
        ask.shape.tolerations if honours_taints else None,
    )
