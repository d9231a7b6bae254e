"""Groups: the waiting pods of one shape, in the order in which they get places.

Apart from who waits because other orders are made of the same groups.

Source: `docs/sources.md` D4.1. Difference on purpose: of pods of one size those come first, before
older ones, that have fewest domains to choose from of a key over which they look at others, then
those with fewest volumes to choose from.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from libs.domain.pod import PodShape, Target
from libs.domain.resources import CPU, MEMORY
from libs.domain.volume import VolumeKind
from services.solver.core.pods.choice import choice, choice_of_volumes
from services.solver.core.vectors import Bools, Ints

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Waiting pods of one shape, in the order in which they get places."""

    shape: PodShape
    uids: tuple[str, ...]
    gangs: tuple[str, ...]
    targets: tuple[Target | None, ...]
    """Where an earlier plan put each of them."""
    priorities: tuple[int, ...]
    virtual: bool
    """Whether they are a buffer's: they come last and are given up to real pods."""
    existing_only: bool
    """Whether they only ask if there is room: no node is bought for them."""
    late: int = 0
    """Groups of a higher rank get what those of lower ones leave; the queue's is 0."""
    nominated: str = ""
    """Node on which kube-scheduler makes room for each of them: it is kept even if they lack it."""
    layer: int = 0
    """Groups of a lower layer go before; of those that were given none it is 0. So pods for which a
    node is nominated, and, before those, pods of a higher priority, to which their room is free."""
    only_held: bool = False
    """Whether its pods get no place, and their room on the nominated node is kept all the same."""
    most_on_claim: int | None = None
    """Most of its pods that one new node is to have; None: any number."""
    leads: int | None = None
    """Id of a shape that has to follow a pod of this one, and that decides where it goes."""

    def of(self, pods: Sequence[int]) -> "Group":
        """Return the group with these of its pods only, in this order."""
        return replace(
            self,
            uids=tuple(map(self.uids.__getitem__, pods)),
            gangs=tuple(map(self.gangs.__getitem__, pods)),
            targets=tuple(map(self.targets.__getitem__, pods)),
            priorities=tuple(map(self.priorities.__getitem__, pods)),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Waiting:
    """Pods that want a place, in columns of equal length (n,)."""

    uids: Sequence[str]
    gangs: Sequence[str]
    targets: Sequence[Target | None]
    shape: Ints
    """Ids."""
    created_ms: Ints
    virtual: Bools
    existing_only: Bools
    priority: Ints
    nominated: Sequence[str]
    only_held: Bools

    def by_uid(self) -> "Waiting":
        """Return the same in order of uid."""
        order = sorted(range(len(self.uids)), key=self.uids.__getitem__)
        return Waiting(
            uids=[self.uids[at] for at in order],
            gangs=[self.gangs[at] for at in order],
            targets=[self.targets[at] for at in order],
            shape=self.shape[order],
            created_ms=self.created_ms[order],
            virtual=self.virtual[order],
            existing_only=self.existing_only[order],
            priority=self.priority[order],
            nominated=[self.nominated[at] for at in order],
            only_held=self.only_held[order],
        )


def grouped(
    waiting: Waiting, shapes: Mapping[int, PodShape], kinds: Mapping[str, VolumeKind]
) -> tuple[Group, ...]:
    """Return the pods in groups, in the order of the queue, virtual ones last.

    Args:
        waiting: the pods.
        shapes: theirs, by id.
        kinds: the volumes that claims may still take.
    """
    volumes = choice_of_volumes(kinds)
    layer = _layers(waiting)
    keys = [waiting.shape, waiting.existing_only, waiting.virtual]
    if layer.any():
        keys += [layer, _numbers(waiting.nominated), waiting.only_held]
    rows = np.lexsort((waiting.created_ms, -waiting.priority, *keys))
    changes = [np.diff(key[rows].astype(np.int64)) != 0 for key in keys]
    ends = [*(np.flatnonzero(np.logical_or.reduce([*changes])) + 1).tolist(), len(rows)]
    uids = tuple(picked(waiting.uids, rows))
    gangs = tuple(picked(waiting.gangs, rows))
    targets = tuple(picked(waiting.targets, rows))
    priorities = tuple(waiting.priority[rows].tolist())
    firsts = rows[[0, *ends[:-1]]] if len(rows) else rows
    columns = (waiting.shape, waiting.virtual, waiting.existing_only, waiting.created_ms, layer)
    each = zip(*(column[firsts].tolist() for column in columns), strict=True)
    ordered = []
    begin = 0
    for end, (shape, virtual, existing_only, created_ms, own_layer) in zip(
        ends, each, strict=False
    ):
        group = Group(
            shape=shapes[shape],
            uids=uids[begin:end],
            gangs=gangs[begin:end],
            targets=targets[begin:end],
            priorities=priorities[begin:end],
            virtual=virtual,
            existing_only=existing_only,
            nominated=waiting.nominated[rows[begin]],
            layer=own_layer,
            only_held=bool(waiting.only_held[rows[begin]]),
        )
        ordered.append(((virtual, *_rank(group.shape, volumes), created_ms, uids[begin]), group))
        begin = end
    ordered.sort(key=lambda item: item[0])
    return tuple(group for _, group in ordered)


def picked(column: Sequence[T], rows: Ints) -> Iterator[T]:
    """Yield these rows, (n,), of a column."""
    return map(column.__getitem__, rows.tolist())


def _layers(waiting: Waiting) -> Ints:
    """Return (n,): the layer of each pod, 0 or less.

    Pods of a nominated node come between those of a higher priority, to which kube-scheduler gives
    its room, and those of theirs or a lower one, to which it does not.

    Source: kube-scheduler's filters with nominated pods (1.36).
    """
    there = np.array([bool(node) for node in waiting.nominated], np.bool_)
    found = np.zeros(len(there), np.int64)
    if not there.any():
        return found
    known = -np.unique(-waiting.priority[there])  # highest first
    found = 2 * np.searchsorted(-known, -waiting.priority, side="right")
    found[there] -= 1
    found -= 2 * len(known)
    found[waiting.virtual] = 0
    return found


def _numbers(texts: Sequence[str]) -> Ints:
    """Return (n,): equal numbers for equal texts, in their order."""
    number = {text: at for at, text in enumerate(sorted(set(texts)))}
    return np.array([number[text] for text in texts], np.int64)


def _rank(shape: PodShape, volumes: Callable[[PodShape], int]) -> tuple[int, int, int, int]:
    """Return by what groups are ordered: large pods first, of those the ones with least choice."""
    size = -shape.requests.get(CPU), -shape.requests.get(MEMORY)
    return *size, choice(shape), volumes(shape)
