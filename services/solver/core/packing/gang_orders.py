"""In which order the pods of a gang go, where not all of them have room.

Large pods first serves best if all are to have places. If some of a gang will do, it is mostly the
small ones of which most have room; but one that keeps others out, by a rule rather than by its
size, is none of them either. To find the most is as hard as packing is, so that a few orders are
tried: those in which the smallest go first, as many as are needed, and those in which one shape
goes last or first.

What is small is what takes little of what its gang needs most: the largest share that it has of
what the gang asks for of one resource.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from libs.domain.resources import total
from services.solver.core.pods.grouping import Group

Members = tuple[Group, ...]
"""Pods of one gang, those of a group alike, in the order in which they go."""


@dataclass(frozen=True, slots=True)
class Most:
    """The largest number of a gang's pods that had places together."""

    size: int
    """Those that run included."""
    pods: Members
    """Those that wait, in the order in which so many have places."""


_MOST_SHAPES = 4
"""How many shapes are tried as the last, or the first, of all."""


def members(groups: Sequence[Group], gang: str) -> Members:
    """Return the pods of a gang in the groups, and the order, in which they are."""
    found = []
    for group in groups:
        own = [index for index, name in enumerate(group.gangs) if name == gang]
        if own:
            found.append(group.of(own))
    return tuple(found)


def orders(pods: Members, needed: int) -> Iterator[Members]:
    """Yield other orders of the pods than theirs, each once, those that help most often first.

    Args:
        pods: large ones first.
        needed: how many have to get places.
    """
    seen = {_key(pods)}
    for found in _orders(pods, needed):
        if _key(found) not in seen:
            seen.add(_key(found))
            yield found


def smallest_first(pods: Members, count: int) -> Members:
    """Return the smallest pods, so many, in the order that they are in, then smaller ones first."""
    first: dict[int, int] = {}
    left = count
    for index in by_size(pods):
        first[index] = min(left, len(pods[index].uids))
        left -= first[index]
    leading = [group.of(range(first[index])) for index, group in enumerate(pods) if first[index]]
    others = [
        pods[index].of(range(first[index], len(pods[index].uids)))
        for index in by_size(pods)
        if first[index] < len(pods[index].uids)
    ]
    return (*leading, *others)


def by_size(pods: Members) -> list[int]:
    """Return the groups by number, smallest pods first."""
    asked = total(group.shape.requests.multiply(len(group.uids)) for group in pods)

    def share(index: int) -> Fraction:
        requests = pods[index].shape.requests
        shares = (Fraction(amount, asked.get(name)) for name, amount in requests.items() if amount)
        return max(shares, default=Fraction())

    return sorted(range(len(pods)), key=lambda index: (share(index), -index))


def _orders(pods: Members, needed: int) -> Iterator[Members]:
    yield smallest_first(pods, needed)
    yield smallest_first(pods, 0)
    yield tuple(reversed(pods))
    apart = list(reversed(by_size(pods)))[:_MOST_SHAPES]
    for index in apart:
        yield (*pods[:index], *pods[index + 1 :], pods[index])
    for index in apart:
        yield (pods[index], *pods[:index], *pods[index + 1 :])


def _key(pods: Members) -> tuple[tuple[str, ...], ...]:
    return tuple(group.uids for group in pods)
