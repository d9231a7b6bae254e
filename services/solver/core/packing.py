"""The fast stage: first-fit-decreasing by groups of equal pods.

First every pod goes where an earlier plan put it, if it still can: asked again, nothing moves and
nothing is bought. Then, for each group, most demanding first: standing bins in their order, then
this plan's claims, those with fewest pods first, then a new claim of the first pool that can.
Groups without topology terms are placed whole; the others in batches as large as their verdict
stays true, often a pod at a time. Groups that other pods may still help are tried again until a
full round places none.

Source: `docs/sources.md` D4, D5, D10, D12.
"""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from libs.domain.solution import MinValuesPolicy
from services.solver.core import min_values
from services.solver.core.ask import Ask, Place
from services.solver.core.bearing import bears
from services.solver.core.bins import Bins
from services.solver.core.claim_class import Bounds, ClaimClass
from services.solver.core.ports import conflict
from services.solver.core.problem import Problem, Request, a_request
from services.solver.core.rules import Arrivals
from services.solver.core.tally import Opened
from services.solver.core.targets import Targets, in_order_of_placement
from services.solver.core.vectors import Bools, Ints, covering, most_that_fit
from services.solver.core.verdict import Verdict, verdict
from services.solver.core.workload import Group

_MOST_CHOICES = 64
"""Most combinations of spread domains that are tried for one pod."""


class Packer:
    """Packs one problem; afterwards `bins` holds the answer and `left` who has no place."""

    def __init__(self, problem: Problem, bins: Bins, cancelled: Callable[[], bool]) -> None:
        self._problem = problem
        self._cancelled = cancelled
        self._compatible: dict[int, Bools] = {}
        self._targets = Targets(problem.groups, bins.standing)
        self.bins = bins
        self.left = [len(group.uids) for group in problem.groups]
        self.deferred: set[int] = set()
        """Groups that wait for a reservation to be settled."""

    def run(self) -> bool:
        """Place all that has a place; False if it was cancelled in between."""
        groups = range(len(self.left))
        real = [index for index in groups if not self._problem.groups[index].virtual]
        virtual = [index for index in groups if self._problem.groups[index].virtual]
        return all(self._keep_all(part) and self._rounds(part) for part in (real, virtual))

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, their pods in the order of the placements; those without a place last."""
        return in_order_of_placement(self._problem.groups, self.bins.placements)

    def _keep_all(self, groups: list[int]) -> bool:
        """Place pods where they are expected, until no pod can any more; False if cancelled."""
        while groups:
            progress = False
            for index in groups:
                if self._cancelled():
                    return False
                progress |= self._keep(index)
            groups = [
                index
                for index in groups
                if progress and self._targets.any(index) and self._hard(index).topological
            ]
        return True

    def _keep(self, index: int) -> bool:
        """Place pods of a group where they are expected; what is only preferred does not count."""
        if not self._targets.any(index) or self._problem.groups[index].shape.device_claims:
            return False
        before = self.left[index]
        request = a_request(index, self._hard(index), self._problem.dimensions)
        while (where := verdict(self._problem.topology, request.ask)) is not None:
            candidates, counts = self.standing_room(request, where)
            counts = np.minimum(counts, self._targets.counts(index)[candidates])
            chosen, counts = _first(candidates, counts, min(self.left[index], where.batch))
            if not len(chosen):
                break
            self.bins.note_expected(index, chosen, self._targets.take(index, chosen, counts))
            self._take_standing(request, chosen, counts)
            self.left[index] -= int(counts.sum())
        return self.left[index] < before

    def _hard(self, index: int) -> Ask:
        return self._problem.asks[index][-1]

    def _rounds(self, groups: list[int]) -> bool:
        """Try all groups, then again those that others may have helped, until nothing changes."""
        while groups:
            progress = False
            for index in groups:
                if self._cancelled():
                    return False
                progress |= self._place_group(index)
            groups = [
                index
                for index in groups
                if self.left[index] and self._problem.asks[index][0].topological
            ]
            if groups and not progress:
                self._problem.topology.settle(self._opened())
                # Only now: what others open makes domains real.
                groups = [index for index in groups if self._give_up_domains(index)]
        return True

    def _opened(self) -> list[Opened]:
        bins = self.bins
        return [Opened(known, used) for known, used in zip(bins.claims, bins.used, strict=True)]

    def _give_up_domains(self, index: int) -> bool:
        """Forget domains that cannot be had; False if it is only limits that this plan used up.

        Its claims are charged with the most that they may become: the next plan knows better.
        """
        vector = self._problem.dimensions.requests(self._problem.groups[index].shape.requests)
        for limits in self._problem.limits:
            if limits.used_up(self._problem.classes.root(limits.template, None).rows_for(vector)):
                return False
        topology = self._problem.topology
        given_up = [topology.give_up_unreachable(ask) for ask in self._problem.asks[index]]
        return any(given_up)

    def _place_group(self, index: int) -> bool:
        before = self.left[index]
        if self._problem.groups[index].shape.device_claims:
            # Devices are not counted yet: rather wait than buy what may not have them.
            return False
        self._keep(index)
        for ask in self._problem.asks[index]:
            request = a_request(index, ask, self._problem.dimensions)
            while self.left[index]:
                placed = self._place_some(request, self.left[index])
                self.left[index] -= placed
                if not placed:
                    break
            if not self.left[index]:
                break
        return self.left[index] < before

    def _place_some(self, request: Request, want: int) -> int:
        if not request.ask.places:
            return 0
        where = verdict(self._problem.topology, request.ask)
        placed = 0
        if where is not None:
            want = min(want, where.batch)
            placed = self._on_standing(request, where, want)
            if placed < want and self._problem.templates:
                placed += self._on_claims(request, where, want - placed)
        while placed < want:
            opened = self._on_new_claims(request, where, want - placed)
            if not opened:
                break
            placed += opened
        return placed

    # Standing bins.

    def _on_standing(self, request: Request, where: Verdict, want: int) -> int:
        candidates, counts = self.standing_room(request, where)
        chosen, counts = _first(candidates, counts, want)
        if not len(chosen):
            return 0
        self.bins.note(request.group, chosen, counts)
        self._take_standing(request, chosen, counts)
        return int(counts.sum())

    def _take_standing(self, request: Request, bins: Ints, counts: Ints) -> None:
        self.bins.take_standing(request.ask.shape, bins, counts, request.vector)
        self._problem.topology.record(request.ask.shape, bins, counts, [])

    def standing_room(self, request: Request, where: Verdict) -> tuple[Ints, Ints]:
        """Return standing bins that a pod may run on, and how many such pods fit on each."""
        bins = self.bins
        shape = request.ask.shape
        candidates = self._standing_candidates(request, where)
        counts = most_that_fit(bins.free[candidates][:, request.columns], request.needed)
        if where.caps is not None:
            counts = np.minimum(counts, where.caps[candidates])
        if shape.volume_attach_counts:
            counts = np.minimum(counts, bins.attach_room(shape, candidates))
        if shape.host_ports:
            clear = [not conflict(bins.ports(one), shape.host_ports) for one in candidates.tolist()]
            counts = np.minimum(counts, np.array(clear, np.int64))
        return candidates, counts

    def _standing_candidates(self, request: Request, where: Verdict) -> Ints:
        bins = self.bins
        if not len(bins.standing):
            return np.zeros(0, np.int64)
        allowed = self.compatible(request.ask)
        topology = self._problem.topology
        for key, bits in where.bounds:
            allowed = allowed & topology.ground.within(key, bits)
        for key in where.pins:
            allowed = allowed & (topology.ground.domain_of(key) >= 0)
        enough = covering(bins.free[:, request.columns], request.needed)
        return np.flatnonzero(allowed & enough)

    def compatible(self, ask: Ask) -> Bools:
        """Return (n_standing,): bins whose labels, name and taints suit the ask."""
        found = self._compatible.get(id(ask))
        if found is None:
            found = self._compatible[id(ask)] = compatible(self.bins, ask)
        return found

    # Claims of this plan.

    def _on_claims(self, request: Request, where: Verdict, want: int) -> int:
        bins = self.bins
        enough = covering(bins.headroom[:, request.columns], request.needed)
        if where.caps is not None:
            enough &= where.caps[len(bins.standing) :] > 0
        candidates = np.flatnonzero(enough)
        placed = 0
        for bounds, place in _choices(request.ask, where):
            if placed >= want or not len(candidates):
                break
            placed += self._join(request, where, candidates, bounds, place, want - placed)
        return placed

    def _join(
        self,
        request: Request,
        where: Verdict,
        candidates: Ints,
        bounds: Bounds,
        place: Place,
        want: int,
    ) -> int:
        ids = self.bins.class_ids[candidates]
        found: list[Ints] = []
        counts: list[Ints] = []
        become: dict[int, ClaimClass] = {}
        for known_id in np.unique(ids).tolist():
            known = self._problem.classes.all[known_id]
            narrower = self._narrow(known, request, where, bounds, place)
            if narrower is None:
                continue
            here = candidates[ids == known_id]
            found.append(here)
            counts.append(self._fit(narrower, self.bins.used[here], request, want))
            become[known_id] = narrower
        if not found:
            return 0
        chosen, taken = np.concatenate(found), np.concatenate(counts)
        if where.caps is not None:
            taken = np.minimum(taken, where.caps[len(self.bins.standing) + chosen])
        order = np.lexsort((chosen, self.bins.pods[chosen]))
        chosen, taken = _first(chosen[order], taken[order], want)
        if not len(chosen):
            return 0
        classes = [become[self.bins.claims[claim].id] for claim in chosen.tolist()]
        self._take(request, chosen, taken, classes)
        if where.caps is not None:
            where.caps[len(self.bins.standing) + chosen] -= taken
        return int(taken.sum())

    def _narrow(
        self,
        known: ClaimClass,
        request: Request,
        where: Verdict,
        bounds: Bounds,
        place: Place,
    ) -> ClaimClass | None:
        classes = self._problem.classes
        ask = request.ask
        if not bears(ask.shape, known.template.pool.template.taints, ask.effects):
            return None
        narrower = classes.narrow(known, place.requirements, ask.shape.host_ports, bounds)
        if narrower is None or not where.pins:
            return narrower
        return classes.pinned(narrower, where.pins, request.vector)

    def _fit(self, known: ClaimClass, used: Ints, request: Request, want: int) -> Ints:
        """Return (n,): how many pods fit on claims of this class with so much used, (n, m)."""
        counts: Ints
        room = known.frontier[None, :, :] - used[:, None, :]
        # Every column counts: the type must have what is used already, whatever this pod asks.
        enough = covering(room, request.vector)
        if want == 1:
            counts = np.array(enough.any(axis=1), np.int64)
        else:
            often = most_that_fit(room[:, :, request.columns], request.needed) * enough
            counts = np.array(often.max(axis=1), np.int64)
        if self._problem.min_values is MinValuesPolicy.STRICT and min_values.wanted(known):
            counts = np.array(
                [
                    min_values.most_that_keep(known, there, request.vector, min(most, want))
                    for there, most in zip(used, counts.tolist(), strict=True)
                ],
                np.int64,
            )
        if request.ask.shape.host_ports:
            counts = np.minimum(counts, 1)
        return counts

    # New claims.

    def _on_new_claims(self, request: Request, where: Verdict | None, want: int) -> int:
        """Open claims for some pods.

        Args:
            request: of the pods.
            where: the verdict as long as no daemon that it is about comes with a new node.
            want: how many pods there are.
        """
        topology, classes = self._problem.topology, self._problem.classes
        for limits in self._problem.limits:
            if not limits.nodes_left:
                continue
            root = classes.root(limits.template, limits.rows())
            for arrivals in topology.arrivals(limits.template):
                there = where
                if arrivals.offerings is not None:
                    there = verdict(topology, request.ask, arrivals)
                    root = classes.restrict(
                        classes.root(limits.template, limits.rows()), arrivals.offerings
                    )
                if there is None or there.new_cap <= 0 or not root.offerings.any():
                    continue
                opened = self._on_new_claim(request, there, root, arrivals, want)
                if opened is not None:
                    return opened
        return 0

    def _on_new_claim(
        self, request: Request, where: Verdict, root: ClaimClass, arrivals: Arrivals, want: int
    ) -> int | None:
        """Open claims of one class; None if no pod fits, 0 if it is better to wait."""
        for bounds, place in _choices(request.ask, where):
            known = self._narrow(root, request, where, bounds, place)
            if known is None:
                continue
            known = self._reserve(known, request)
            if known is None:
                self.deferred.add(request.group)
                return 0
            opened = self._open(known, request, where, min(want, where.batch))
            if len(opened):
                self._arrive(arrivals, opened)
                return int(self.bins.pods[opened].sum())
        return None

    def _arrive(self, arrivals: Arrivals, claims: Ints) -> None:
        """Count the daemons that come with new claims."""
        bins = len(self.bins.standing) + claims
        opened = [Opened(self.bins.claims[one], self.bins.used[one]) for one in claims.tolist()]
        for shape in arrivals.shapes:
            self._problem.topology.record(shape, bins, np.ones_like(bins), opened)

    def _reserve(self, known: ClaimClass, request: Request) -> ClaimClass | None:
        """Return the class on reserved capacity if it has any; None if all of it is promised."""
        reservations = self._problem.reservations
        if not reservations.left:
            return known
        usable = reservations.usable(known, known.rows_for(request.vector))
        if usable is None:
            return known
        return self._problem.classes.restrict(known, usable) if usable.any() else None

    def _open(
        self,
        known: ClaimClass,
        request: Request,
        where: Verdict,
        want: int,
    ) -> Ints:
        """Open as many claims of a class as the pods need, one where there is anything to count."""
        limits = self._problem.limits[known.template.index]
        nothing = np.zeros((1, len(request.vector)), np.int64)
        most = min(int(self._fit(known, nothing, request, want)[0]), where.new_cap)
        if most <= 0:
            return np.zeros(0, np.int64)
        single = limits.limited or bool(self._problem.reservations.left)
        count = 1 if single else -(-want // most)
        claims = self.bins.open(known, count)
        self._problem.topology.grow(len(self.bins))
        taken = np.full(count, most, np.int64)
        taken[-1] = min(most, want - most * (count - 1))
        limits.charge(known, known.rows_for(request.vector), count)
        self._take(request, claims, taken, [known] * count)
        return claims

    def _take(self, request: Request, claims: Ints, counts: Ints, become: list[ClaimClass]) -> None:
        self.bins.take_claims(claims, counts, request.vector, become)
        if self._problem.reservations.left:
            for claim, known in zip(claims.tolist(), become, strict=True):
                rows = known.rows_for(self.bins.used[claim])
                self._problem.reservations.hold(claim, known, rows)
        opened = [
            Opened(known, self.bins.used[claim])
            for claim, known in zip(claims.tolist(), become, strict=True)
        ]
        bins = len(self.bins.standing) + claims
        self.bins.note(request.group, bins, counts)
        self._problem.topology.record(request.ask.shape, bins, counts, opened)


def compatible(bins: Bins, ask: Ask) -> Bools:
    """Return (n_standing,): bins whose labels, name and taints suit the ask, room apart."""
    standing = bins.standing
    tolerated = [one.tolerated(ask) for one in standing.classes]
    found = np.zeros(len(standing), np.bool_)
    for place in ask.places:
        by_class = [
            ok and one.allows(place.requirements)
            for ok, one in zip(tolerated, standing.classes, strict=True)
        ]
        here = np.array(by_class, np.bool_)[standing.class_of]
        if place.node_names is not None or place.excluded_node_names:
            here &= np.array([place.names_allow(name) for name in standing.names], np.bool_)
        found |= here
    return found


def _first(bins: Ints, counts: Ints, want: int) -> tuple[Ints, Ints]:
    """Return the first bins that together take `want` pods, and how many each."""
    before = np.cumsum(counts) - counts
    taken = np.minimum(counts, np.maximum(want - before, 0))
    some = taken > 0
    return bins[some], taken[some]


def _choices(ask: Ask, where: Verdict) -> Iterator[tuple[Bounds, Place]]:
    """Yield the ways in which a claim may be narrowed for a pod, best balanced first."""
    places = [place for place in ask.places if place.node_names is None]
    if not where.ranked:
        for place in places:
            yield where.bounds, place
        return
    keys = [key for key, _ in where.ranked]
    combinations = product(*(order for _, order in where.ranked))
    for _, combination in zip(range(_MOST_CHOICES), combinations, strict=False):
        bounds = dict(where.bounds) | dict(zip(keys, combination, strict=True))
        for place in places:
            yield tuple(sorted(bounds.items())), place
