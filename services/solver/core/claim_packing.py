"""Packing on claims of this plan: pods join those that it has opened, or it opens new ones.

Apart because here everything is open: each pod narrows what its claim may still become, and what
a pool may buy narrows with each claim.

Source: `docs/sources.md` D5.3-4, D6.2-3, D12.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from libs.domain.requirements import Requirements
from services.solver.core import min_values
from services.solver.core.arrivals import Arrivals, either, reached
from services.solver.core.ask import Ask, Place
from services.solver.core.bearing import bears
from services.solver.core.bins import Bins, cheapest_bins
from services.solver.core.claim_class import Bounds, ClaimClass
from services.solver.core.devices.allocating import PlannedGrant
from services.solver.core.exclusion import conflict, exclusives
from services.solver.core.problem import Problem, Request
from services.solver.core.sizes import Sizes
from services.solver.core.tally import Opened
from services.solver.core.vectors import Ints, covering, most_that_fit
from services.solver.core.verdict import Verdict, stricter, verdict

_MOST_CHOICES = 64
"""Most combinations of spread domains that are tried for one pod."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """New nodes that are alike in who comes there before any pod."""

    arrivals: Arrivals
    where: Verdict
    """Where the pods may go once these are there."""
    root: ClaimClass
    """What the nodes may be."""


class ClaimPacker:
    """Places pods on claims of this plan, those that get no dearer first, then on new ones."""

    def __init__(self, problem: Problem, bins: Bins) -> None:
        self._problem = problem
        self._bins = bins
        self._sizes: Sizes | None = None
        self.deferred: set[int] = set()
        """Groups that wait for a reservation to be settled."""

    def join(self, request: Request, where: Verdict, want: int) -> int:
        """Place up to `want` pods on claims that are open and return how many found room."""
        bins = self._bins
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
        ids = self._bins.class_ids[candidates]
        found: list[Ints] = []
        counts: list[Ints] = []
        free: list[Ints] = []
        become: dict[int, ClaimClass] = {}
        for known_id in np.unique(ids).tolist():
            known = self._problem.classes.all[known_id]
            narrower = self._narrow(known, request, where, bounds, place)
            if narrower is None:
                continue
            here = candidates[ids == known_id]
            found.append(here)
            counts.append(self._fit(narrower, known, self._bins.used[here], request, want))
            spare = self._bins.spare(here, narrower)[:, request.columns]
            free.append(most_that_fit(spare, request.needed))
            become[known_id] = narrower
        if not found:
            return 0
        chosen, taken = np.concatenate(found), np.concatenate(counts)
        if where.caps is not None:
            taken = np.minimum(taken, where.caps[len(self._bins.standing) + chosen])
        order = np.lexsort((chosen, self._bins.pods[chosen]))
        if request.ask.shape.device_claims:
            return self._join_with_devices(request, where, chosen[order][taken[order] > 0], become)
        at_no_cost = np.concatenate(free)[order]
        chosen, taken = cheapest_bins(chosen[order], taken[order], at_no_cost, want)
        if not len(chosen):
            return 0
        classes = [become[self._bins.claims[claim].id] for claim in chosen.tolist()]
        self._take(request, chosen, taken, classes)
        if where.caps is not None:
            where.caps[len(self._bins.standing) + chosen] -= taken
        return int(taken.sum())

    def _join_with_devices(
        self, request: Request, where: Verdict, claims: Ints, become: dict[int, ClaimClass]
    ) -> int:
        """Place one pod on the first of these claims that has the devices that it claims."""
        for claim in claims.tolist():
            before = self._bins.claims[claim]
            used = self._bins.used[claim]
            grant = self._grant(request, claim, become[before.id], used)
            if grant is None or not self._fit(grant.known, before, used[None], request, 1)[0]:
                continue
            one = np.array([claim], np.int64)
            self._take(request, one, np.ones_like(one), [grant.known])
            self._hand_over(request, claim, grant)
            if where.caps is not None:
                where.caps[len(self._bins.standing) + one] -= 1
            return 1
        return 0

    def _grant(
        self, request: Request, claim: int | None, known: ClaimClass, used: Ints
    ) -> PlannedGrant | None:
        """Return the devices that a pod gets on a claim; None where there are none."""
        devices = self._problem.devices
        if devices is None:
            return None
        total = used + request.vector
        found = devices.on_planned(request.ask.shape, claim, known, total)
        return found if isinstance(found, PlannedGrant) else None

    def _hand_over(self, request: Request, claim: int, grant: PlannedGrant) -> None:
        if self._problem.devices is not None:
            self._problem.devices.take_planned(request.ask.shape, claim, grant)

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
        narrower = classes.narrow(known, place.requirements, exclusives(ask.shape), bounds)
        if narrower is None or not where.pins:
            return narrower
        return classes.pinned(narrower, where.pins, request.vector)

    def _fit(
        self, known: ClaimClass, before: ClaimClass | None, used: Ints, request: Request, want: int
    ) -> Ints:
        """Return (n,): how many pods fit on claims of a class.

        Args:
            known: the class that the claims become.
            before: the class that they are of; None for new ones.
            used: (n, n_resources): what their pods ask for.
            request: of the pods.
            want: how many pods there are.
        """
        counts: Ints
        room = known.frontier[None, :, :] - used[:, None, :]
        # Every column counts: the type must have what is used already, whatever this pod asks.
        enough = covering(room, request.vector)
        if want == 1:
            counts = np.array(enough.any(axis=1), np.int64)
        else:
            often = most_that_fit(room[:, :, request.columns], request.needed) * enough
            counts = np.array(often.max(axis=1), np.int64)
        if min_values.wanted(known):
            counts = np.array(
                [
                    self._most_that_keep(known, before, there, request, min(most, want))
                    for there, most in zip(used, counts.tolist(), strict=True)
                ],
                np.int64,
            )
        own = exclusives(request.ask.shape)
        if conflict(own, own):
            counts = np.minimum(counts, 1)
        return counts

    def _most_that_keep(
        self,
        known: ClaimClass,
        before: ClaimClass | None,
        used: Ints,
        request: Request,
        most: int,
    ) -> int:
        """Return how many pods, up to `most`, leave minValues that were reached within reach."""
        there = used + request.vector if before is None else used
        least = min_values.to_keep(before or known, there, self._problem.min_values)
        return min_values.most_that_keep(known, used, request.vector, most, least)

    def open(self, request: Request, where: Verdict | None, want: int) -> int:
        """Open claims for some pods and return how many found room.

        Args:
            request: of the pods.
            where: the verdict as long as no daemon that it is about comes with a new node.
            want: how many pods there are.
        """
        for pool in self._large_enough(request):
            limits = self._problem.limits[pool]
            if not limits.nodes_left:
                continue
            whole = self._problem.classes.root(limits.template, limits.rows())
            for kind in self._kinds(request, where, whole):
                opened = self._open_some(request, kind, want)
                if opened is not None:
                    return opened
        return 0

    def _large_enough(self, request: Request) -> list[int]:
        """Return the pools that have a type with room for a pod, whatever else it asks for."""
        if self._sizes is None:
            classes, pools = self._problem.classes, self._problem.templates
            self._sizes = Sizes([classes.root(one, None).frontier for one in pools])
        return self._sizes.suiting(request.vector)

    def _kinds(self, request: Request, where: Verdict | None, whole: ClaimClass) -> Iterator[_Kind]:
        """Yield the kinds of nodes that the pods may have of a class, by who comes there first."""
        topology = self._problem.topology
        found: dict[Requirements, list[_Kind]] = defaultdict(list)
        for arrivals in topology.arrivals(whole.template):
            there, root = where, reached(self._problem.classes, whole, arrivals)
            if arrivals.offerings is not None:
                there = verdict(topology, request.ask, arrivals)
            if there is not None and there.new_cap > 0 and root is not None:
                kind = _Kind(arrivals=arrivals, where=there, root=root)
                yield kind
                found[arrivals.settled].append(kind)
        if min_values.wanted(whole):
            # The types of each kind may be too few.
            for kinds in found.values():
                both = self._either(kinds, whole) if len(kinds) > 1 else None
                if both is not None:
                    yield both

    def _either(self, kinds: list[_Kind], whole: ClaimClass) -> _Kind | None:
        """Return the nodes of which it stays open of which of these kinds they are."""
        arrivals = either([one.arrivals for one in kinds])
        root = reached(self._problem.classes, whole, arrivals)
        where: Verdict | None = kinds[0].where
        for one in kinds[1:]:
            where = stricter(where, one.where) if where is not None else None
        if where is None or root is None:
            return None
        return _Kind(arrivals=arrivals, where=where, root=root)

    def _open_some(self, request: Request, kind: _Kind, want: int) -> int | None:
        """Open claims of one kind; None if no pod fits, 0 if it is better to wait.

        Of a gang nobody waits: no claim is made for a part of it that would settle a reservation.
        """
        where = kind.where
        for known in self._openings(request, where, kind.root):
            held = self._reserve(known, request)
            if held is None and not any(self._problem.groups[request.group].gangs):
                self.deferred.add(request.group)
                return 0
            opened = np.zeros(0, np.int64)
            if held is not None:
                opened = self._open(held, request, where, min(want, where.batch))
            if not len(opened) and held is not known:
                opened = self._open_beside(known, request, where, min(want, where.batch))
            if len(opened):
                self._arrive(kind.arrivals, opened)
                return int(self._bins.pods[opened].sum())
        return None

    def _openings(self, request: Request, where: Verdict, root: ClaimClass) -> Iterator[ClaimClass]:
        """Yield what a new claim may be: in the cheapest domains, then where minValues are met."""
        for bounds, place in _choices(request.ask, where):
            known = self._narrow(root, request, where, bounds, place)
            if known is None:
                continue
            yield known
            least = min_values.wanted(known)
            if where.pins and not min_values.met(known, request.vector, least):
                yield from self._elsewhere(request, where, root, (bounds, place))

    def _elsewhere(
        self, request: Request, where: Verdict, root: ClaimClass, choice: tuple[Bounds, Place]
    ) -> Iterator[ClaimClass]:
        """Yield a new claim in each domain that it could be tied to, cheapest first."""
        classes, (bounds, place) = self._problem.classes, choice
        free = classes.narrow(root, place.requirements, exclusives(request.ask.shape), bounds)
        if free is None:
            return
        for key in where.pins:
            for one in classes.split(free, key, request.vector):
                pinned = classes.pinned(one, where.pins, request.vector)
                if pinned is not None:
                    yield pinned

    def _open_beside(self, known: ClaimClass, request: Request, where: Verdict, want: int) -> Ints:
        """Open claims that are of no reservation, where those cannot be had."""
        free = self._problem.reservations.unreserved(known)
        if not free.any():
            return np.zeros(0, np.int64)
        return self._open(self._problem.classes.restrict(known, free), request, where, want)

    def _arrive(self, arrivals: Arrivals, claims: Ints) -> None:
        """Count the daemons that come with new claims."""
        bins = len(self._bins.standing) + claims
        opened = [Opened(self._bins.claims[one], self._bins.used[one]) for one in claims.tolist()]
        one_each = np.ones_like(bins)
        for shape in arrivals.shapes:
            self._problem.topology.record(shape, bins, one_each, opened)
        for shape in arrivals.perhaps:
            self._problem.topology.record(shape, bins, one_each, opened, certain=False)

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
        grant = None
        if request.ask.shape.device_claims:
            grant = self._grant(request, None, known, nothing[0])
            if grant is None:
                return np.zeros(0, np.int64)
            known, want = grant.known, 1
        most = min(int(self._fit(known, None, nothing, request, want)[0]), where.new_cap)
        if most <= 0:
            return np.zeros(0, np.int64)
        single = limits.limited or bool(self._problem.reservations.left)
        count = 1 if single else -(-want // most)
        claims = self._bins.open(known, count)
        self._problem.topology.grow(len(self._bins))
        taken = np.full(count, most, np.int64)
        taken[-1] = min(most, want - most * (count - 1))
        limits.charge(claims.tolist(), known.rows_for(request.vector))
        self._take(request, claims, taken, [known] * count)
        if grant is not None:
            self._hand_over(request, int(claims[0]), grant)
        return claims

    def _take(self, request: Request, claims: Ints, counts: Ints, become: list[ClaimClass]) -> None:
        self._bins.take_claims(claims, counts, request.vector, become)
        if self._problem.reservations.left:
            for claim, known in zip(claims.tolist(), become, strict=True):
                rows = known.rows_for(self._bins.used[claim])
                self._problem.reservations.hold(claim, known, rows)
        opened = [
            Opened(known, self._bins.used[claim])
            for claim, known in zip(claims.tolist(), become, strict=True)
        ]
        bins = len(self._bins.standing) + claims
        self._bins.note(request.group, bins, counts)
        self._problem.topology.record(request.ask.shape, bins, counts, opened)


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
