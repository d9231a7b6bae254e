"""Holdings: what pods have for themselves on standing bins, and the volumes attached there.

Apart from room, which is amounts: here it matters which port, which disk, which volume.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from libs.domain.pod import PodShape
from services.solver.core.exclusion import (
    Exclusive,
    Taken,
    add,
    by_name,
    conflict,
    exclusives,
    is_taken,
)
from services.solver.core.standing.standing import Standing
from services.solver.core.vectors import UNBOUNDED, Ints


class Holdings:
    """Who holds what on each standing bin."""

    __slots__ = (
        "_attachable",
        "_attached",
        "_kept_from",
        "_standing",
        "_taken",
        "_taken_by_name",
        "_wary",
    )

    def __init__(self, standing: Standing, wary: frozenset[int] = frozenset()) -> None:
        """Begin with what pods that run hold.

        Args:
            standing: the bins.
            wary: ids of the shapes from whose pods a bin may be kept.
        """
        self._standing = standing
        self._wary = wary
        self._kept_from: dict[int, set[int]] = defaultdict(set)
        """Ids of the shapes from whose pods a standing bin is kept, by position."""
        self._attachable = {driver: room.copy() for driver, room in standing.attachable.items()}
        self._taken: dict[int, list[Exclusive]] = defaultdict(list)
        self._taken_by_name: dict[int, Taken] = {}
        """What is taken on standing bins of which this was asked, by position."""
        self._attached: dict[str, set[int]] = defaultdict(set)
        """Standing bins that have a volume which several pods use, by its claim."""
        for claim, positions in standing.shared_volumes.items():
            self._attached[claim].update(positions)

    @property
    def attachable(self) -> Mapping[str, Ints]:
        """Per CSI driver (n_standing,): how many more volumes can be attached."""
        return self._attachable

    def taken(self, position: int) -> tuple[Exclusive, ...]:
        """Return what pods have for themselves on a standing bin."""
        return (*self._standing.taken[position], *self._taken.get(position, ()))

    def excludes(self, position: int, own: Iterable[Exclusive]) -> bool:
        """Tell whether pods on a standing bin have for themselves what another pod would take."""
        known = self._taken_by_name.get(position)
        if known is None:
            known = self._taken_by_name[position] = by_name(self.taken(position))
        return is_taken(own, known)

    def is_wary(self, shape: PodShape) -> bool:
        """Tell whether any bin may be kept from pods of a shape."""
        return shape.id in self._wary

    def is_kept_from(self, shape: PodShape, position: int) -> bool:
        """Tell whether pods of a shape keep off a standing bin, as somebody else is to come."""
        return position in self._kept_from and shape.id in self._kept_from[position]

    def keep_from(self, shapes: Iterable[int], position: int) -> None:
        """Keep pods of wary shapes, by their ids, off a standing bin from now on."""
        self._kept_from[position].update(shapes)

    def room(self, shape: PodShape, bins: Ints) -> Ints:
        """Return (n,): how many such pods each standing bin takes, for all that they hold."""
        counts = self.attach_room(shape, bins)
        if self.is_wary(shape):
            counts[[self.is_kept_from(shape, one) for one in bins.tolist()]] = 0
        if own := exclusives(shape):
            most = 1 if conflict(own, own) else UNBOUNDED
            clear = [0 if self.excludes(one, own) else most for one in bins.tolist()]
            counts = np.minimum(counts, np.array(clear, np.int64))
        return counts

    def attach_room(self, shape: PodShape, bins: Ints) -> Ints:
        """Return (n,): of how many such pods each standing bin can attach the volumes."""
        found = np.full(len(bins), UNBOUNDED, np.int64)
        for volume in shape.volume_attach_counts:
            room = self._attachable.get(volume.driver)
            if room is None:
                continue
            once = self._new_shared(shape, volume.driver, bins)
            own = volume.count - _shared_by(shape, volume.driver)
            left = room[bins] - once
            here = left // own if own > 0 else np.where(left >= 0, UNBOUNDED, 0)
            if not own:
                # What is there already may go on being used, even where it is too much.
                here[once == 0] = UNBOUNDED
            found = np.minimum(found, np.maximum(here, 0))
        return found

    def attach_shortage(self, shape: PodShape, position: int) -> tuple[str, int, int] | None:
        """Return (driver, asked, left) of volumes that a standing bin cannot attach for a pod."""
        here = np.array([position], np.int64)
        for volume in shape.volume_attach_counts:
            room = self._attachable.get(volume.driver)
            if room is not None:
                once = int(self._new_shared(shape, volume.driver, here)[0])
                asked = volume.count - _shared_by(shape, volume.driver) + once
                left = int(room[position])
                if asked > max(left, 0):
                    return volume.driver, asked, left
        return None

    def is_overfull(self, shape: PodShape, position: int) -> bool:
        """Tell whether more volumes of a driver of such pods are on a bin than can be attached."""
        rooms = (self._attachable.get(one.driver) for one in shape.volume_attach_counts)
        return any(room is not None and room[position] < 0 for room in rooms)

    def without_plan(self, position: int) -> "Holdings":
        """Return a copy that has of one standing bin only what pods that run hold there."""
        found = Holdings(self._standing, self._wary)
        found._kept_from.update({key: {*own} for key, own in self._kept_from.items()})
        found._kept_from.pop(position, None)
        found._taken.update({key: [*own] for key, own in self._taken.items() if key != position})
        for driver, room in self._attachable.items():
            before = int(found._attachable[driver][position])
            found._attachable[driver] = room.copy()
            found._attachable[driver][position] = before
        for claim, there in self._attached.items():
            elsewhere = there - {position}
            found._attached[claim] = elsewhere | (found._attached[claim] & {position})
        return found

    def take(self, shape: PodShape, bins: Ints, counts: Ints) -> None:
        """Let so many pods, (n,), hold what they do on these standing bins, (n,)."""
        for volume in shape.volume_attach_counts:
            if volume.driver in self._attachable:
                own = volume.count - _shared_by(shape, volume.driver)
                once = self._new_shared(shape, volume.driver, bins)
                self._attachable[volume.driver][bins] -= counts * own + once
        for one in shape.shared_volumes:
            self._attached[one.claim].update(bins.tolist())
        if alone := exclusives(shape):
            for position in bins.tolist():
                self._taken[position].extend(alone)
                if position in self._taken_by_name:
                    add(self._taken_by_name[position], alone)

    def _new_shared(self, shape: PodShape, driver: str, bins: Ints) -> Ints:
        """Return (n,): how many shared volumes of the pods are not attached there yet."""
        found = np.zeros(len(bins), np.int64)
        for one in shape.shared_volumes:
            if one.driver == driver:
                there = self._attached[one.claim]
                found += np.array([position not in there for position in bins.tolist()], np.int64)
        return found


def _shared_by(shape: PodShape, driver: str) -> int:
    return sum(one.driver == driver for one in shape.shared_volumes)
