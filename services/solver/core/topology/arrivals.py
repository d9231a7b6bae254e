"""Arrivals: which daemons come to a new node before any other pod, as far as others look at them.

Apart from topology, which counts: here the nodes that a pool could buy are told apart by who comes
to them. Daemons may ask for a label that the pool leaves open; then there are nodes to which they
come and nodes to which they do not, and a claim is settled to be one or the other.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.pod import PodShape
from libs.domain.requirement import Requirement
from libs.domain.requirements import ANYTHING, Requirements
from services.solver.core.offers.claim_class import ClaimClass, ClaimClasses
from services.solver.core.offers.template import Daemon, Template, daemon_offerings
from services.solver.core.topology.tally import Tally
from services.solver.core.vectors import Bools

_MOST_SETTLED = 16
"""Most ways in which labels that a pool leaves open are settled; beyond, daemons count as coming.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """Daemons that other pods look at and that come to a new node before any other pod."""

    shapes: tuple[PodShape, ...] = ()
    offerings: Bools | None = None
    """(n_offerings,): to whose nodes these ones come, and no others; None for all."""
    settled: Requirements = ANYTHING
    """Labels that the pool leaves open and that a node must have for that."""
    perhaps: tuple[PodShape, ...] = ()
    """Those of which that depends on what is bought in the end."""
    pins: tuple[str, ...] = ()
    """Keys of which a claim must be in one domain, since they are counted there."""

    def count(self, tally: Tally) -> int:
        """Return how many of those that come for certain a tally counts."""
        return sum(shape.id in tally.shapes for shape in self.shapes)


NOBODY = Arrivals()


def arrivals(
    template: Template, coming: Sequence[Daemon], keys_of: Callable[[PodShape], Iterable[str]]
) -> Iterator[Arrivals]:
    """Yield what comes to new nodes of a pool, apart by which daemons, cheapest offering first.

    Args:
        template: the pool.
        coming: those of its daemons that others look at.
        keys_of: returns the topology keys by which a daemon is counted.
    """
    if not coming:
        yield NOBODY
        return
    for settled in _told_apart(template, coming):
        yield from _by_offering(template, coming, settled, keys_of)


def reached(classes: ClaimClasses, known: ClaimClass, who: Arrivals) -> ClaimClass | None:
    """Return what of a class these daemons come to, and no others; None if nothing."""
    there = classes.narrow(known, who.settled)
    if there is not None and who.offerings is not None:
        there = classes.restrict(there, who.offerings)
    return there if there is not None and there.offerings.any() else None


def either(kinds: Sequence[Arrivals]) -> Arrivals:
    """Return what comes to a node of which it is not known yet of which kind it is.

    Args:
        kinds: at least two, all with the same labels settled.
    """
    offerings = [one.offerings for one in kinds if one.offerings is not None]
    shapes = dict.fromkeys(shape for one in kinds for shape in one.shapes)
    certain = tuple(shape for shape in shapes if all(shape in one.shapes for one in kinds))
    return Arrivals(
        shapes=certain,
        perhaps=tuple(shape for shape in shapes if shape not in certain),
        offerings=np.any(offerings, axis=0) if len(offerings) == len(kinds) else None,
        settled=kinds[0].settled,
        pins=tuple(sorted({key for one in kinds for key in one.pins})),
    )


def _by_offering(
    template: Template,
    coming: Sequence[Daemon],
    settled: Requirements,
    keys_of: Callable[[PodShape], Iterable[str]],
) -> Iterator[Arrivals]:
    columns = template.columns
    wanted = template.requirements.intersection(settled)
    there = [
        (one.ask.shape, daemon_offerings(one.ask, template.pool, columns, wanted, one.permitted))
        for one in coming
    ]
    left = template.offerings.copy()
    while left.any():
        numbers = np.flatnonzero(left)
        first = numbers[columns.rank[numbers].argmin()]
        same = left.copy()
        for _, offerings in there:
            same &= offerings == offerings[first]
        left &= ~same
        shapes = tuple(shape for shape, offerings in there if offerings[first])
        keys = frozenset[str]().union(*map(keys_of, shapes))
        yield Arrivals(
            shapes=shapes,
            offerings=same,
            settled=settled,
            pins=tuple(sorted(keys - {label_keys.HOSTNAME})),
        )


def _told_apart(template: Template, coming: Sequence[Daemon]) -> list[Requirements]:
    """Return how labels that the pool leaves open may be settled: first so that fewer come."""
    found = [ANYTHING]
    for wish in _open_wishes(template, coming):
        finer = [half for one in found for half in _halves(template, one, wish)]
        if len(finer) > _MOST_SETTLED:
            break
        found = finer
    return found


def _open_wishes(template: Template, coming: Sequence[Daemon]) -> list[Requirement]:
    """Return what daemons ask of labels that the pool has and nothing that is sold to it says."""
    wishes = {
        wish
        for one in coming
        for place in one.ask.places
        for wish in place.requirements
        if wish.key in template.requirements and wish.key != label_keys.HOSTNAME
    }
    return sorted(
        (wish for wish in wishes if not template.columns.states(wish.key, template.offerings)),
        key=str,
    )


def _halves(template: Template, settled: Requirements, wish: Requirement) -> list[Requirements]:
    rest = _opposite(wish)
    if rest is None:
        return [settled]
    own = template.requirements.intersection(settled)
    halves = [settled.intersection(Requirements((one,))) for one in (rest, wish)]
    is_split = all(own.intersection(half).satisfiable for half in halves)
    return halves if is_split else [settled]


def _opposite(wish: Requirement) -> Requirement | None:
    """Return what accepts all that a wish does not; None where no requirement says that."""
    if wish.gte is not None or wish.lte is not None:
        return None
    if wish.complement and wish.values and not wish.absent:
        return None
    return Requirement(
        key=wish.key, complement=not wish.complement, values=wish.values, absent=not wish.absent
    )
