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
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What the claims of one pod get at a place."""

    volumes: tuple[_Spot, ...] = ()
    usable: tuple[tuple[str, Terms], ...] = ()
    """Where claims that other pods use, too, can be used from then on."""
    known: ClaimClass | None = None
    """What a planned claim becomes; None on a standing bin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A node as volumes see it."""

    reaches: Callable[[Terms], bool]
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
        self._standing = standing
        self._index = ClassIndex(standing.classes)
        self._classes = classes
        self._nodes = nodes
        self._usable: dict[str, Terms] = {}
        """Where claims that several pods use can be used, once one of these has a place."""
        self._reached: dict[Terms, Bools] = {}
        self._there: dict[str, Ints] = {}
        self._made: dict[UnboundClaim, Bools] = {}
        self._for_new: dict[str, tuple[int, ...]] = {}

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
            place = _New(self._classes, self._nodes, decided)
            found = self._bind(
                shape, _Place(reaches=place.reaches, makes=place.makes, planned=True)
            )
            if found is not None:
                return Binding(volumes=found.volumes, usable=found.usable, known=place.known)
        return None

    def take(self, binding: Binding) -> None:
        """Give a pod what was found for it."""
        for key, number in binding.volumes:
            self._left[key][number] -= 1
            if key in self._there:
                self._there[key] -= self._reach(self._kinds[key].places[number].terms)
        self._usable.update(binding.usable)

    def shortage_on(self, shape: PodShape, position: int) -> str:
        """Return why the claims of a pod cannot be bound on a standing bin, in numbers."""
        return self._shortage(shape, self._standing_place(position))

    def shortage_on_new(self, shape: PodShape, known: ClaimClass) -> str:
        """Return why they cannot be bound on a new node, in numbers."""
        place = _New(self._classes, self._nodes, known)
        return self._shortage(
            shape, _Place(reaches=place.reaches, makes=lambda claim: False, planned=True)
        )

    def _standing_place(self, position: int) -> _Place:
        return _Place(
            reaches=lambda terms: bool(self._reach(terms)[position]),
            makes=lambda claim: bool(self._makes(claim)[position]),
        )

    def _bind(self, shape: PodShape, place: _Place) -> Binding | None:
        taken: Counter[_Spot] = Counter()
        usable: list[tuple[str, Terms]] = []
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
                usable.append((claim.claim, (ANYTHING,) if spot is None else self._terms(spot)))
        return Binding(volumes=tuple(taken.elements()), usable=tuple(usable))

    def _best(self, claim: UnboundClaim, place: _Place, taken: Counter[_Spot]) -> _Spot | None:
        """Return the volume that a claim takes, None if there is none for it."""
        for spot in self._spots(claim, planned=place.planned):
            left = self._left[spot[0]][spot[1]] - taken[spot]
            if left > 0 and place.reaches(self._terms(spot)):
                return spot
        return None

    def _spots(self, claim: UnboundClaim, *, planned: bool) -> Iterator[_Spot]:
        for key in claim.kinds:
            if key in self._kinds:
                numbers = self._open_to_new(key) if planned else range(len(self._left[key]))
                yield from ((key, number) for number in numbers)

    def _terms(self, spot: _Spot) -> Terms:
        return self._kinds[spot[0]].places[spot[1]].terms

    # Standing bins.

    def _reach(self, terms: Terms) -> Bools:
        """Return (n_standing,): bins that can use what these terms are about."""
        found = self._reached.get(terms)
        if found is None:
            by_class = np.zeros(len(self._index.every), np.bool_)
            for term in terms:
                by_class |= self._index.allowing(term)
            found = self._reached[terms] = by_class[self._standing.class_of]
        return found

    def _makes(self, claim: UnboundClaim) -> Bools:
        """Return (n_standing,): bins where a volume can be made for a claim."""
        found = self._made.get(claim)
        if found is None:
            coming = tuple(at_start(one, self._nodes) for one in claim.made_at_start)
            found = self._reach(claim.made)
            if claim.made_at_start:
                names = self._standing.names
                starting = np.array([one not in self._nodes.started for one in names], np.bool_)
                found = found | (self._reach(coming) & starting)
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
                found += left * self._reach(place.terms)
        return found

    # Planned claims.

    def _open_to_new(self, key: str) -> tuple[int, ...]:
        """Return which places of a kind a node may reach that has no name yet."""
        found = self._for_new.get(key)
        if found is None:
            found = self._for_new[key] = tuple(
                number
                for number, place in enumerate(self._kinds[key].places)
                if any(apart_from_hostname(term) is not None for term in place.terms)
            )
        return found

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
        for terms in self._in_play(shape):
            narrowed = [self._classes.narrow(known, term) for term in terms]
            if known in narrowed:
                continue
            for term, one in zip(terms, narrowed, strict=True):
                if one is not None:
                    return term
        return None

    def _in_play(self, shape: PodShape) -> Iterable[Terms]:
        """Return the terms of the volumes that the claims of a pod may get, each once."""
        found: dict[Terms, None] = {}
        for claim in shape.unbound_claims:
            known = self._usable.get(claim.claim)
            if known is not None:
                found[known] = None
                continue
            for key, number in self._spots(claim, planned=True):
                if self._left[key][number] > 0:
                    found[self._kinds[key].places[number].terms] = None
        return found

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
        spots = list(self._spots(claim, planned=False))
        fitting = sum(self._kinds[key].places[number].count for key, number in spots)
        here = [one for one in spots if place.reaches(self._terms(one))]
        in_reach = sum(self._kinds[key].places[number].count for key, number in here)
        free = sum(self._left[key][number] for key, number in here)
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

    def reaches(self, terms: Terms) -> bool:
        """Tell whether such a node can use what these terms are about."""
        return any(self._classes.narrow(self.known, term) is not None for term in terms)

    def makes(self, claim: UnboundClaim) -> bool:
        """Tell whether a volume can be made for a claim, and go where it is."""
        for one in (*claim.made, *(at_start(each, self._nodes) for each in claim.made_at_start)):
            narrower = self._classes.narrow(self.known, one)
            if narrower is not None:
                self.known = narrower
                return True
        return False
