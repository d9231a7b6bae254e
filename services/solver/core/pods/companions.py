"""Companions: pods that must be together share what holds for one of them.

Apart because packing takes groups one after the other: the first of several that must be near each
other goes where *it* may, and one whose volume or size is only had elsewhere could never follow. So
before packing begins, each is asked to stay where all the others may run, too; and of pods that
others have to follow, one is asked to lead to where those may run.

Only as long as none of them runs yet: then they follow those that do.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from libs.domain import labels as label_keys
from libs.domain.pod import PodShape, SharedVolume
from libs.domain.requirement import Requirement
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.workload import Namespace
from services.solver.core.pods.ask import ANYWHERE, Ask, Place, combined
from services.solver.core.pods.shape_index import ShapeIndex
from services.solver.core.reading.bound_pods import BoundPods

_Asks = Mapping[int, tuple[Ask, ...]]
Reach = Callable[[Ask, str, int], frozenset[str]]
"""Tells the values of a label key in which there is room for so many pods."""


def together(
    asks: _Asks,
    running: BoundPods,
    namespaces: Mapping[str, Namespace],
    reach: Reach,
    counts: Mapping[int, int],
) -> dict[int, tuple[Ask, ...]]:
    """Return what is asked for, by id of the shape, narrowed to where all companions may run.

    What is hard comes last, as it was: a pod whose companions get no place does not wait for them.

    Args:
        asks: by id of the shape.
        running: the pods that run.
        namespaces: as selectors see them.
        reach: where there is room.
        counts: how many pods of each shape wait.
    """
    found = _with_shared_volumes(asks, running)
    matched = _matched(asks, running, namespaces)
    turn = {number: position for position, number in enumerate(asks)}.__getitem__
    alone = {number for number, others in matched.items() if not running.has_any(others)}
    first = {number for number in alone if number in matched[number]}
    # Where there is room is asked only of whom somebody may have to follow.
    led = {one: others for one, others in matched.items() if not first.isdisjoint(others)}
    for others, alike in _alike(asks, led, reach):
        for one in sorted(others & first, key=turn):
            if alike != [one]:
                places = _shared(asks, one, alike[0], reach)
                found[one] = tuple(_narrowed(found[one], places))
    for one in sorted(first, key=turn):
        places = _with_room_for_all(asks[one][-1], counts[one], reach)
        if places != ANYWHERE:
            found[one] = tuple(_narrowed(found[one], places))
    found = {
        number: (*many, asks[number][-1]) if any(one.near_companions for one in many) else many
        for number, many in found.items()
    }
    for number, others in matched.items():
        if number not in others and number in alone:
            targets = [found[one] for one in sorted(others, key=turn)]
            if ahead := _leading(asks[number][-1], targets, reach):
                one = ahead[0].shape.id
                found[one] = (*ahead, *found[one])
    return found


def _alike(
    asks: _Asks, matched: Mapping[int, frozenset[int]], reach: Reach
) -> Iterator[tuple[frozenset[int], list[int]]]:
    """Yield (others, shapes): those alike in near which others they must be, and where they may.

    Thousands of shapes that differ in size alone, or in labels that have nothing to do with being
    near each other, would otherwise be looked at in pairs.
    """
    found: dict[object, list[int]] = {}
    for number, others in matched.items():
        ask = asks[number][-1]
        keys = _keys(ask.shape)
        room = tuple((key, reach(ask, key, 1)) for key in sorted(keys - {label_keys.HOSTNAME}))
        found.setdefault((others, keys, _projected(ask, keys), room), []).append(number)
    for alike in found.values():
        yield matched[alike[0]], alike


def _matched(
    asks: _Asks, running: BoundPods, namespaces: Mapping[str, Namespace]
) -> dict[int, frozenset[int]]:
    """Return near which shapes each of those that wait has to be, where it has to be near any."""
    waiting = [many[-1].shape for many in asks.values() if many[-1].shape.affinity]
    if not waiting:
        return {}
    index = ShapeIndex((many[0].shape for many in asks.values()), namespaces, running)
    return {shape.id: index.matching_all(shape.affinity) for shape in waiting}


def _with_shared_volumes(asks: _Asks, running: BoundPods) -> dict[int, tuple[Ask, ...]]:
    """Return the asks of pods with a volume that is yet to be made within each other's places."""
    found = dict(asks)
    users: dict[SharedVolume, list[int]] = defaultdict(list)
    for number, many in asks.items():
        for one in many[-1].shape.shared_volumes:
            if one.topology_key:
                users[one].append(number)
    if not users:
        return found
    made = {one for shape in running.with_shared_volumes() for one in shape.shared_volumes}
    for one in [one for one in users if one not in made]:
        keys = frozenset({one.topology_key})
        for number, other in permutations(users[one], 2):
            places = _projected(asks[other][-1], keys)
            found[number] = tuple(_narrowed(found[number], places))
    return found


def _shared(asks: _Asks, number: int, other: int, reach: Reach) -> tuple[Place, ...]:
    """Return where the other may run, as far as both are bound to be in one place."""
    ask, its = asks[number][-1], asks[other][-1]
    keys = _keys(ask.shape) & _keys(its.shape)
    return combined(_projected(its, keys), _with_room(ask, its, keys, reach))


def _leading(follower: Ask, targets: Sequence[tuple[Ask, ...]], reach: Reach) -> tuple[Ask, ...]:
    """Return what one pod that another has to be near asks for at first; () for nothing new.

    Args:
        follower: what the other one asks for.
        targets: what each shape asks for that it could be near.
        reach: where there is room.
    """
    keys = _keys(follower.shape)
    if not reach(follower, label_keys.ZONE, 1):
        return ()
    found: tuple[Ask, ...] = ()
    for target in targets:
        room = _with_room(target[-1], follower, keys, reach)
        places = combined(_projected(follower, keys), room)
        there = [one.places for one in target if one.leads is not None]
        narrowed = [
            replace(one, places=combined(one.places, places), leads=follower.shape.id)
            for one in target
            if one.leads is None
        ]
        if narrowed[-1].places in (target[-1].places, *there):
            return ()
        found = found or tuple(one for one in narrowed if one.places)
    return found


def _with_room(ask: Ask, other: Ask, keys: frozenset[str], reach: Reach) -> tuple[Place, ...]:
    """Return where there is room for the other, as far as there is for this one, too."""
    found = ANYWHERE
    for key in sorted(keys - {label_keys.HOSTNAME}):
        own, its = reach(ask, key, 1), reach(other, key, 1)
        if own & its and not own <= its:
            one = Requirement(key=key, complement=False, values=its, absent=False)
            found = combined(found, (Place(requirements=Requirements((one,))),))
    return found


def _with_room_for_all(ask: Ask, count: int, reach: Reach) -> tuple[Place, ...]:
    """Return where there is room for all pods of a shape that have to be near each other."""
    found = ANYWHERE
    for key in sorted(_keys(ask.shape) - {label_keys.HOSTNAME}) if count > 1 else ():
        every, some = reach(ask, key, count), reach(ask, key, 1)
        if every and every != some:
            one = Requirement(key=key, complement=False, values=every, absent=False)
            found = combined(found, (Place(requirements=Requirements((one,))),))
    return found


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
