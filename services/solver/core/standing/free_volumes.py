"""Free volumes: which of those that are there the claims of pods get as these get places.

Apart from holdings because a volume that is taken at one place is gone everywhere.

Laws:
    - Claims choose in their order, each the first volume that its node reaches; only who finds none
      gets a new one, where one can be made.
    - A planned claim on which a pod counts on a volume is narrowed until it is known which volumes
      its node reaches.

Source: kube-scheduler's VolumeBinding. Difference on purpose from Karpenter, which looks at the
places of volumes alone.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from libs.domain.pod import PodShape
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.volume import UnboundClaim, VolumeKind
from services.solver.core.domains import apart_from_hostname
from services.solver.core.offers.claim_class import ClaimClass, ClaimClasses
from services.solver.core.pods.ask import KnownNodes, at_start
from services.solver.core.standing.class_index import ClassIndex
from services.solver.core.standing.standing import Standing
from services.solver.core.vectors import Bools, Ints

Terms = tuple[Requirements, ...]
"""Nodes of which any one term suffices."""
_Spot = tuple[str, int]
"""A kind, and which of its places."""
_Reach = int
"""The number of some terms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What the claims of one pod get at a place."""

    volumes: tuple[_Spot, ...] = ()
    usable: tuple[tuple[str, _Reach], ...] = ()
    """Where claims that other pods use, too, can be used from then on."""
    found: tuple[str, ...] = ()
    """Those of these claims that get a volume that is there."""
    known: ClaimClass | None = None
    """What a planned claim becomes; None on a standing bin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A node as volumes see it."""

    reaches: Callable[[_Reach], bool]
    makes: Callable[[UnboundClaim], bool]
    """Tells whether a volume can be made for a claim."""
    planned: bool = False


class FreeVolumes:
    """The volumes of one plan that claims may still take."""

    def __init__(
        self,
        kinds: Mapping[str, VolumeKind],
        standing: Standing,
        classes: ClaimClasses,
        nodes: KnownNodes,
    ) -> None:
        self._kinds = kinds
        self._left = {key: [one.count for one in kind.places] for key, kind in kinds.items()}
        self._terms: list[Terms] = []
        self._numbers: dict[Terms, _Reach] = {}
        self._by_reach = {key: self._ordered(kind) for key, kind in kinds.items()}
        """Which places of a kind have volumes left, those to take first at the end."""
        self._standing = standing
        self._index = ClassIndex(standing.classes)
        self._classes = classes
        self._nodes = nodes
        self._usable: dict[str, _Reach] = {}
        """Where claims that several pods use can be used, once one of these has a place."""
        self._found: set[str] = set()
        """Those of these claims that got a volume that is there."""
        self._reached: dict[_Reach, Bools] = {}
        self._there: dict[str, Ints] = {}
        self._made: dict[UnboundClaim, Bools] = {}
        self._for_new: dict[str, tuple[_Reach, ...]] = {}
        self._narrowed: dict[tuple[int, _Reach], tuple[ClaimClass | None, ...]] = {}

    def available(self, shape: PodShape, bins: Ints) -> Bools:
        """Return (n,): whether each claim of a pod, looked at alone, finds a volume on each bin."""
        found = np.ones(len(bins), np.bool_)
        for claim in shape.unbound_claims:
            found &= self._finds_one(claim)[bins]
        return found

    def on_standing(self, shape: PodShape, position: int) -> Binding | None:
        """Return what the next pod of a shape gets on a standing bin; None if too little."""
        return self._bind(shape, self._standing_place(position))

    def on_planned(self, shape: PodShape, known: ClaimClass, total: Ints) -> Binding | None:
        """Return what the next pod of a shape gets on a planned claim; None if it is too little.

        Args:
            shape: of the pod.
            known: what the claim becomes with the pod, volumes apart.
            total: (n_resources,): what all its pods then request.
        """
        for decided in self._decided(shape, known, total):
            there = _New(self._classes, self._nodes, decided)
            found = self._bind(shape, self._new_place(decided, there.makes))
            if found is not None:
                return replace(found, known=there.known)
        return None

    def take(self, binding: Binding) -> None:
        """Give a pod what was found for it."""
        for key, number in binding.volumes:
            self._left[key][number] -= 1
            if key in self._there:
                self._there[key] -= self._reach(self._number(self._kinds[key].places[number].terms))
        self._usable.update(binding.usable)
        self._found.update(binding.found)

    def was_there(self, claim: str) -> bool:
        """Tell whether a claim that several pods use got a volume that was there before."""
        return claim in self._found

    def shortage_on(self, shape: PodShape, position: int) -> str:
        """Return why the claims of a pod cannot be bound on a standing bin, in numbers."""
        return self._shortage(shape, self._standing_place(position))

    def shortage_on_new(self, shape: PodShape, known: ClaimClass) -> str:
        """Return why they cannot be bound on a new node, in numbers."""
        return self._shortage(shape, self._new_place(known, lambda claim: False))

    def _standing_place(self, position: int) -> _Place:
        return _Place(
            reaches=lambda reach: bool(self._reach(reach)[position]),
            makes=lambda claim: bool(self._makes(claim)[position]),
        )

    def _new_place(self, known: ClaimClass, makes: Callable[[UnboundClaim], bool]) -> _Place:
        return _Place(
            reaches=lambda reach: any(one is not None for one in self._narrow(known, reach)),
            makes=makes,
            planned=True,
        )

    def _number(self, terms: Terms) -> _Reach:
        found = self._numbers.get(terms)
        if found is None:
            found = self._numbers[terms] = len(self._terms)
            self._terms.append(terms)
        return found

    def _ordered(self, kind: VolumeKind) -> dict[_Reach, list[int]]:
        found: dict[_Reach, list[int]] = {}
        for number in reversed(range(len(kind.places))):
            found.setdefault(self._number(kind.places[number].terms), []).append(number)
        return found

    def _bind(self, shape: PodShape, place: _Place) -> Binding | None:
        taken: Counter[_Spot] = Counter()
        usable: list[tuple[str, _Reach]] = []
        found: list[str] = []
        for claim in shape.unbound_claims:
            known = self._usable.get(claim.claim)
            if known is not None:
                if not place.reaches(known):
                    return None
                continue
            spot = self._best(claim, place, taken)
            if spot is not None:
                taken[spot] += 1
            elif not place.makes(claim):
                return None
            if claim.claim:
                # Where a new volume is made, others follow by their own rule (`SharedVolume`).
                usable.append((claim.claim, self._reach_of(spot)))
                found += [claim.claim] if spot is not None else []
        return Binding(volumes=tuple(taken.elements()), usable=tuple(usable), found=tuple(found))

    def _best(self, claim: UnboundClaim, place: _Place, taken: Counter[_Spot]) -> _Spot | None:
        """Return the volume that a claim takes, None if there is none for it."""
        best: tuple[int, _Spot] | None = None
        for key in claim.kinds:
            for reach in self._reaches(key, planned=place.planned):
                number = self._first(key, reach, taken) if place.reaches(reach) else None
                if number is not None:
                    one = self._kinds[key].places[number].rank, (key, number)
                    best = one if best is None else min(best, one)
        return None if best is None else best[1]

    def _first(self, key: str, reach: _Reach, taken: Counter[_Spot]) -> int | None:
        """Return the first place with volumes of a kind left of those with the same reach."""
        for number in reversed(self._open(key, reach)):
            if self._left[key][number] > taken[key, number]:
                return number
        return None

    def _open(self, key: str, reach: _Reach) -> list[int]:
        """Return the places of a kind with the same reach that have volumes left, last first."""
        found = self._by_reach[key][reach]
        while found and not self._left[key][found[-1]]:
            found.pop()
        return found

    def _reaches(self, key: str, *, planned: bool) -> Iterable[_Reach]:
        """Return the reaches of a kind, of planned claims those that such may have."""
        if key not in self._kinds:
            return ()
        return self._open_to_new(key) if planned else self._by_reach[key]

    def _reach_of(self, spot: _Spot | None) -> _Reach:
        """Return where a volume can be used; None is one that is made where its pod goes."""
        key, number = spot or ("", 0)
        return self._number(self._kinds[key].places[number].terms if spot else (ANYTHING,))

    # Standing bins.

    def _reach(self, reach: _Reach) -> Bools:
        """Return (n_standing,): bins that can use what some terms are about."""
        found = self._reached.get(reach)
        if found is None:
            found = self._reached[reach] = self._allowing(self._terms[reach])
        return found

    def _allowing(self, terms: Terms) -> Bools:
        by_class = np.zeros(len(self._index.every), np.bool_)
        for term in terms:
            by_class |= self._index.allowing(term)
        return by_class[self._standing.class_of]

    def _makes(self, claim: UnboundClaim) -> Bools:
        """Return (n_standing,): bins where a volume can be made for a claim."""
        found = self._made.get(claim)
        if found is None:
            coming = tuple(at_start(one, self._nodes) for one in claim.made_at_start)
            found = self._allowing(claim.made)
            if claim.made_at_start:
                names = self._standing.names
                starting = np.array([one not in self._nodes.started for one in names], np.bool_)
                found |= self._allowing(coming) & starting
            self._made[claim] = found
        return found

    def _finds_one(self, claim: UnboundClaim) -> Bools:
        known = self._usable.get(claim.claim)
        if known is not None:
            return self._reach(known)
        found = self._makes(claim).copy()
        for key in claim.kinds:
            if key in self._kinds:
                found |= self._left_there(key) > 0
        return found

    def _left_there(self, key: str) -> Ints:
        """Return (n_standing,): how many volumes of a kind that are left each bin reaches."""
        found = self._there.get(key)
        if found is None:
            found = self._there[key] = np.zeros(len(self._standing), np.int64)
            for place, left in zip(self._kinds[key].places, self._left[key], strict=True):
                found += left * self._reach(self._number(place.terms))
        return found

    # Planned claims.

    def _open_to_new(self, key: str) -> tuple[_Reach, ...]:
        """Return the reaches of a kind that a node may have that has no name yet."""
        found = self._for_new.get(key)
        if found is None:
            found = self._for_new[key] = tuple(
                reach
                for reach in self._by_reach[key]
                if any(apart_from_hostname(term) is not None for term in self._terms[reach])
            )
        return found

    def _narrow(self, known: ClaimClass, reach: _Reach) -> tuple[ClaimClass | None, ...]:
        """Return what a class becomes by each of some terms."""
        memo = known.id, reach
        if memo not in self._narrowed:
            narrow = self._classes.narrow
            self._narrowed[memo] = tuple(narrow(known, term) for term in self._terms[reach])
        return self._narrowed[memo]

    def _decided(self, shape: PodShape, known: ClaimClass, total: Ints) -> Iterator[ClaimClass]:
        """Yield the class where it is known which volumes its nodes reach, the cheapest first."""
        open_term = self._open_term(shape, known)
        if open_term is None:
            yield known
            return
        for one in open_term:
            alone = self._classes.narrow(known, Requirements((one,)))
            if alone is None or alone is known:
                continue
            for narrower in [*self._classes.split(known, one.key, total)] or [alone]:
                yield from self._decided(shape, narrower, total)
            return

    def _open_term(self, shape: PodShape, known: ClaimClass) -> Requirements | None:
        """Return a term of volumes that nodes of a class may or may not meet."""
        for reach in self._in_play(shape):
            narrowed = self._narrow(known, reach)
            if known in narrowed:
                continue
            for term, one in zip(self._terms[reach], narrowed, strict=True):
                if one is not None:
                    return term
        return None

    def _in_play(self, shape: PodShape) -> Iterator[_Reach]:
        """Yield the reaches of the volumes that the claims of a pod may get."""
        for claim in shape.unbound_claims:
            known = self._usable.get(claim.claim)
            if known is not None:
                yield known
                continue
            for key in claim.kinds:
                for reach in self._reaches(key, planned=True):
                    if self._open(key, reach):
                        yield reach

    # Words.

    def _shortage(self, shape: PodShape, place: _Place) -> str:
        taken: Counter[_Spot] = Counter()
        for claim in shape.unbound_claims:
            known = self._usable.get(claim.claim)
            if known is not None:
                if not place.reaches(known):
                    return f"claim {claim.claim} gets a volume that cannot be used there"
                continue
            spot = self._best(claim, place, taken)
            if spot is not None:
                taken[spot] += 1
            elif not place.makes(claim):
                return self._count(claim, place)
        return "no available persistent volumes to bind for all claims together"

    def _count(self, claim: UnboundClaim, place: _Place) -> str:
        places = [
            (one.count, left, place.reaches(self._number(one.terms)))
            for key in claim.kinds
            if key in self._kinds
            for one, left in zip(self._kinds[key].places, self._left[key], strict=True)
        ]
        fitting = sum(count for count, _, _ in places)
        in_reach = sum(count for count, _, reached in places if reached)
        free = sum(left for _, left, reached in places if reached)
        told = [f"{fitting} would do", f"{in_reach} of them in reach"]
        if in_reach:
            told.append(f"{in_reach - free} of those taken by other claims")
        return f"no available persistent volumes to bind: {', '.join(told)}"


class _New:
    """A node that is yet to be bought; what is made on it narrows what it may become."""

    def __init__(self, classes: ClaimClasses, nodes: KnownNodes, known: ClaimClass) -> None:
        self._classes = classes
        self._nodes = nodes
        self.known = known

    def makes(self, claim: UnboundClaim) -> bool:
        """Tell whether a volume can be made for a claim, and go where it is."""
        for one in (*claim.made, *(at_start(each, self._nodes) for each in claim.made_at_start)):
            narrower = self._classes.narrow(self.known, one)
            if narrower is not None:
                self.known = narrower
                return True
        return False
