"""Bins: the state of packing as arrays, standing bins first, then the claims of this plan.

Apart because rules ask and packing decides, but only here is room taken.

Laws:
    - What is placed here never takes `free` of a standing bin, nor the frontier of a claim's class
      less `used`, below zero.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from libs.domain.pod import PodShape
from services.solver.core.claim_class import ClaimClass
from services.solver.core.exclusion import (
    Exclusive,
    Taken,
    add,
    by_name,
    exclusives,
    is_taken,
)
from services.solver.core.standing import Standing
from services.solver.core.vectors import UNBOUNDED, Ints, covering


@dataclass(frozen=True, slots=True)
class Placement:
    """So many pods of one group on one bin."""

    group: int
    bin: int
    count: int
    pods: tuple[int, ...] = ()
    """Which ones of the group; empty: whoever is next."""


class Bins:
    """What is free, what is taken and by whom."""

    __slots__ = (
        "_attached",
        "_cheapest",
        "_class_ids",
        "_headroom",
        "_pods",
        "_spare",
        "_taken",
        "_taken_by_name",
        "_used",
        "attachable",
        "claims",
        "free",
        "placements",
        "standing",
    )

    def __init__(self, standing: Standing, resources: int) -> None:
        self.standing = standing
        self.free = standing.free.copy()
        self.attachable = {driver: room.copy() for driver, room in standing.attachable.items()}
        self.claims: list[ClaimClass] = []
        """The class of each claim."""
        self.placements: list[Placement] = []
        self._taken: dict[int, list[Exclusive]] = defaultdict(list)
        self._taken_by_name: dict[int, Taken] = {}
        """What is taken on standing bins of which this was asked, by position."""
        self._attached: dict[str, set[int]] = defaultdict(set)
        """Standing bins that have a volume which several pods use, by its claim."""
        for claim, positions in standing.shared_volumes.items():
            self._attached[claim].update(positions)
        self._used = np.zeros((64, resources), np.int64)
        self._headroom = np.zeros((64, resources), np.int64)
        self._spare = np.zeros((64, resources), np.int64)
        self._cheapest = np.zeros(64, np.int64)
        self._pods = np.zeros(64, np.int64)
        self._class_ids = np.zeros(64, np.int64)

    def __len__(self) -> int:
        return len(self.standing) + len(self.claims)

    @property
    def used(self) -> Ints:
        """(n_claims, n_resources): what the pods of each claim request."""
        return self._used[: len(self.claims)]

    @property
    def headroom(self) -> Ints:
        """(n_claims, n_resources): in no resource is there more left on any type."""
        return self._headroom[: len(self.claims)]

    @property
    def pods(self) -> Ints:
        """(n_claims,): pods on each claim."""
        return self._pods[: len(self.claims)]

    @property
    def class_ids(self) -> Ints:
        """(n_claims,): the id of each claim's class."""
        return self._class_ids[: len(self.claims)]

    def spare(self, claims: Ints, known: ClaimClass) -> Ints:
        """Return (n, n_resources): what claims have left on the type that they are cheapest as.

        Args:
            claims: (n,).
            known: the class that they are to become; where it lacks the type, there is none left.
        """
        kept = known.rows[self._cheapest[claims]]
        spare: Ints = np.where(kept[:, None], self._spare[claims], -1)
        return spare

    def taken(self, position: int) -> tuple[Exclusive, ...]:
        """Return what pods have for themselves on a standing bin."""
        return (*self.standing.taken[position], *self._taken.get(position, ()))

    def excludes(self, position: int, own: Iterable[Exclusive]) -> bool:
        """Tell whether pods on a standing bin have for themselves what another pod would take."""
        known = self._taken_by_name.get(position)
        if known is None:
            known = self._taken_by_name[position] = by_name(self.taken(position))
        return is_taken(own, known)

    def attach_room(self, shape: PodShape, bins: Ints) -> Ints:
        """Return (n,): of how many such pods each standing bin can attach the volumes."""
        found = np.full(len(bins), UNBOUNDED, np.int64)
        for volume in shape.volume_attach_counts:
            room = self.attachable.get(volume.driver)
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
            room = self.attachable.get(volume.driver)
            if room is not None:
                once = int(self._new_shared(shape, volume.driver, here)[0])
                asked = volume.count - _shared_by(shape, volume.driver) + once
                left = int(room[position])
                if asked > max(left, 0):
                    return volume.driver, asked, left
        return None

    def _new_shared(self, shape: PodShape, driver: str, bins: Ints) -> Ints:
        """Return (n,): how many shared volumes of the pods are not attached there yet."""
        found = np.zeros(len(bins), np.int64)
        for one in shape.shared_volumes:
            if one.driver == driver:
                there = self._attached[one.claim]
                found += np.array([position not in there for position in bins.tolist()], np.int64)
        return found

    def take_standing(self, shape: PodShape, bins: Ints, counts: Ints, request: Ints) -> None:
        """Take room on standing bins, (n,), for so many pods each."""
        self.free[bins] -= counts[:, None] * request
        for volume in shape.volume_attach_counts:
            if volume.driver in self.attachable:
                own = volume.count - _shared_by(shape, volume.driver)
                once = self._new_shared(shape, volume.driver, bins)
                self.attachable[volume.driver][bins] -= counts * own + once
        for one in shape.shared_volumes:
            self._attached[one.claim].update(bins.tolist())
        if alone := exclusives(shape):
            for position in bins.tolist():
                self._taken[position].extend(alone)
                if position in self._taken_by_name:
                    add(self._taken_by_name[position], alone)

    def take_claims(
        self, claims: Ints, counts: Ints, request: Ints, become: list[ClaimClass]
    ) -> None:
        """Take room on claims, (n,), each of which becomes the class beside it."""
        self._used[claims] += counts[:, None] * request
        self._spare[claims] -= counts[:, None] * request
        self._pods[claims] += counts
        still = covering(self._spare[claims], 0).tolist()
        for claim, known, is_same in zip(claims.tolist(), become, still, strict=True):
            if not is_same or known is not self.claims[claim]:
                self._cheapest[claim] = row = known.cheapest_row(self._used[claim])
                self._spare[claim] = known.template.room[row] - self._used[claim]
            self.claims[claim] = known
            self._class_ids[claim] = known.id
            self._headroom[claim] = known.roof
        self._headroom[claims] -= self._used[claims]

    def become(self, claim: int, known: ClaimClass) -> None:
        """Let a claim be of another class, of fewer types, that has room for its pods."""
        nobody = np.zeros(1, np.int64)
        nothing = np.zeros(self._used.shape[1], np.int64)
        self.take_claims(np.array([claim], np.int64), nobody, nothing, [known])

    def open(self, known: ClaimClass, count: int) -> Ints:
        """Add empty claims of a class and return their numbers, (count,)."""
        first = len(self.claims)
        self.claims.extend([known] * count)
        while len(self.claims) > len(self._pods):
            self._used = np.concatenate([self._used, np.zeros_like(self._used)])
            self._headroom = np.concatenate([self._headroom, np.zeros_like(self._headroom)])
            self._spare = np.concatenate([self._spare, np.zeros_like(self._spare)])
            self._cheapest = np.concatenate([self._cheapest, np.zeros_like(self._cheapest)])
            self._pods = np.concatenate([self._pods, np.zeros_like(self._pods)])
            self._class_ids = np.concatenate([self._class_ids, np.zeros_like(self._class_ids)])
        return np.arange(first, first + count, dtype=np.int64)

    def note(self, group: int, bins: Ints, counts: Ints) -> None:
        """Write down who went where."""
        self.placements.extend(
            Placement(group, position, count)
            for position, count in zip(bins.tolist(), counts.tolist(), strict=True)
        )

    def note_expected(self, group: int, bins: Ints, pods: list[tuple[int, ...]]) -> None:
        """Write down which pods got where they were expected."""
        self.placements.extend(
            Placement(group, position, len(these), these)
            for position, these in zip(bins.tolist(), pods, strict=True)
        )


def first_bins(bins: Ints, counts: Ints, want: int) -> tuple[Ints, Ints]:
    """Return the first bins that together take `want` pods, and how many each."""
    taken = _first(counts, want)
    some = taken > 0
    return bins[some], taken[some]


def cheapest_bins(bins: Ints, counts: Ints, free: Ints, want: int) -> tuple[Ints, Ints]:
    """Return bins that together take `want` pods, and how many each: first those at no cost.

    Args:
        bins: (n,), in the order in which they are filled.
        counts: (n,): how many pods each takes.
        free: (n,): how many of them each takes without getting dearer.
        want: how many pods there are.
    """
    taken = _first(np.minimum(counts, free), want)
    taken += _first(counts - taken, want - int(taken.sum()))
    some = taken > 0
    return bins[some], taken[some]


def _first(counts: Ints, want: int) -> Ints:
    before = np.cumsum(counts) - counts
    found: Ints = np.minimum(counts, np.maximum(want - before, 0))
    return found


def _shared_by(shape: PodShape, driver: str) -> int:
    return sum(one.driver == driver for one in shape.shared_volumes)
