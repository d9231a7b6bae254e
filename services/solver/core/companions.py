"""Companions: pods that must be together share what holds for one of them.

Apart because packing takes groups one after the other: the first of several that must be near each
other goes where *it* may, and one whose volume is elsewhere could never follow. So before packing
begins, each is asked to stay where all the others may run, too.

Only as long as none of them runs yet: then they follow those that do.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from libs.domain import labels as label_keys
from libs.domain.pod import PodShape, SharedVolume
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.workload import Namespace
from services.solver.core.ask import Ask, Place, combined
from services.solver.core.tally import ShapeIndex

_Asks = Mapping[int, tuple[Ask, ...]]


def together(
    asks: _Asks, running: Sequence[PodShape], namespaces: Mapping[str, Namespace]
) -> dict[int, tuple[Ask, ...]]:
    """Return what is asked for, by id of the shape, narrowed to where all companions may run.

    What is hard comes last, as it was: a pod whose companions get no place does not wait for them.

    Args:
        asks: by id of the shape.
        running: shapes of the pods that run.
        namespaces: as selectors see them.
    """
    found = _near(asks, running, namespaces)
    return {
        number: (*many, asks[number][-1]) if any(one.near_companions for one in many) else many
        for number, many in found.items()
    }


def _near(
    asks: _Asks, running: Sequence[PodShape], namespaces: Mapping[str, Namespace]
) -> dict[int, tuple[Ask, ...]]:
    found = _with_shared_volumes(asks, running)
    waiting = [many[-1].shape for many in asks.values() if many[-1].shape.affinity]
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


def _with_shared_volumes(asks: _Asks, running: Sequence[PodShape]) -> dict[int, tuple[Ask, ...]]:
    """Return the asks of pods with a volume that is yet to be made within each other's places."""
    found = dict(asks)
    users: dict[SharedVolume, list[int]] = defaultdict(list)
    for number, many in asks.items():
        for one in many[-1].shape.shared_volumes:
            if one.topology_key:
                users[one].append(number)
    made = {one for shape in running for one in shape.shared_volumes}
    for one in [one for one in users if one not in made]:
        keys = frozenset({one.topology_key})
        for number, other in permutations(users[one], 2):
            places = _projected(asks[other][-1], keys)
            found[number] = tuple(_narrowed(found[number], places))
    return found


def _shared(asks: _Asks, shape: PodShape, other: PodShape) -> tuple[Place, ...]:
    """Return where the other may run, as far as both are bound to be in one place."""
    return _projected(asks[other.id][-1], _keys(shape) & _keys(other))


def _projected(ask: Ask, keys: frozenset[str]) -> tuple[Place, ...]:
    """Return the places as far as they are about these keys."""
    if label_keys.HOSTNAME in keys:
        return ask.places
    return tuple(
        dict.fromkeys(Place(requirements=_only(place.requirements, keys)) for place in ask.places)
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
        yield replace(ask, places=both, near_companions=True) if both else ask
