"""Companions: pods that must be together share what holds for one of them.

Apart because packing takes groups one after the other: the first of several that must be near each
other goes where *it* may, and one whose volume is elsewhere could never follow. So before packing
begins, each is asked to stay where all the others may run, too.

Only as long as none of them runs yet: then they follow those that do.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from libs.domain import labels as label_keys
from libs.domain.pod import PodShape
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.workload import Namespace
from services.solver.core.ask import Ask, Place, combined
from services.solver.core.tally import ShapeIndex

_Asks = Mapping[int, tuple[Ask, ...]]


def together(
    asks: _Asks, running: Sequence[PodShape], namespaces: Mapping[str, Namespace]
) -> dict[int, tuple[Ask, ...]]:
    """Return what is asked for, by id of the shape, narrowed to where all companions may run.

    Args:
        asks: by id of the shape.
        running: shapes of the pods that run.
        namespaces: as selectors see them.
    """
    waiting = [many[-1].shape for many in asks.values() if many[-1].shape.affinity]
    found = dict(asks)
    if not waiting:
        return found
    everyone = {shape.id: shape for shape in (*running, *(many[0].shape for many in asks.values()))}
    index = ShapeIndex(everyone.values(), namespaces)
    there = frozenset(shape.id for shape in running)
    for shape in waiting:
        matched = index.matching_all(shape.affinity)
        if shape.id not in matched or matched & there:
            continue
        for other in waiting:
            if other is not shape and shape.id in index.matching_all(other.affinity):
                found[shape.id] = tuple(_narrowed(found[shape.id], _shared(asks, shape, other)))
    return found


def _shared(asks: _Asks, shape: PodShape, other: PodShape) -> tuple[Place, ...]:
    """Return where the other may run, as far as both are bound to be in one place."""
    keys = _keys(shape) & _keys(other)
    if label_keys.HOSTNAME in keys:
        return asks[other.id][-1].places
    return tuple(
        dict.fromkeys(
            Place(requirements=_only(place.requirements, keys))
            for place in asks[other.id][-1].places
        )
    )


def _keys(shape: PodShape) -> frozenset[str]:
    return frozenset(label_keys.canonical_key(term.topology_key) for term in shape.affinity)


def _only(requirements: Requirements, keys: frozenset[str]) -> Requirements:
    kept = Requirements(one for one in requirements if one.key in keys)
    return kept if len(kept) else ANYTHING


def _narrowed(asks: tuple[Ask, ...], places: tuple[Place, ...]) -> Iterator[Ask]:
    """Yield the asks within these places; one to which that would leave nothing stays as it is."""
    for ask in asks:
        both = combined(ask.places, places)
        yield replace(ask, places=both) if both else ask
