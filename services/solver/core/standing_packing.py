"""Packing on standing bins: nodes that exist and claims in flight.

Apart because here everything is given: a pod fits as things are, or it does not.

Source: `docs/sources.md` D5.2, D6.
"""

import numpy as np

from services.solver.core.ask import Ask
from services.solver.core.bins import Bins, first_bins
from services.solver.core.devices.allocating import Grant
from services.solver.core.exclusion import conflict, exclusives
from services.solver.core.problem import Problem, Request
from services.solver.core.vectors import UNBOUNDED, Bools, Ints, covering, most_that_fit
from services.solver.core.verdict import Verdict


class StandingPacker:
    """Places pods on standing bins, in their order."""

    def __init__(self, problem: Problem, bins: Bins) -> None:
        self._problem = problem
        self._bins = bins
        self._compatible: dict[int, Bools] = {}

    def place(self, request: Request, where: Verdict, want: int) -> int:
        """Place up to `want` pods and return how many found room."""
        candidates, counts = self.room(request, where)
        chosen, counts = self.choose(request, candidates, counts, want)
        if not len(chosen):
            return 0
        self._bins.note(request.group, chosen, counts)
        self.take(request, chosen, counts)
        return int(counts.sum())

    def choose(
        self, request: Request, candidates: Ints, counts: Ints, want: int
    ) -> tuple[Ints, Ints]:
        """Return the first bins with room for up to `want` pods, and how many go where.

        Of pods with claims of devices one is placed at a time, and what it claims is taken at once.
        """
        shape, devices = request.ask.shape, self._problem.devices
        if not shape.device_claims or devices is None:
            return first_bins(candidates, counts, want)
        for position in candidates[counts > 0].tolist() if want else ():
            grant = devices.on_standing(shape, position)
            if isinstance(grant, Grant):
                devices.take_standing(shape, position, grant)
                return np.array([position], np.int64), np.ones(1, np.int64)
        return np.zeros(0, np.int64), np.zeros(0, np.int64)

    def take(self, request: Request, bins: Ints, counts: Ints) -> None:
        """Take room on these bins, (n,), for so many pods each, (n,)."""
        self._bins.take_standing(request.ask.shape, bins, counts, request.vector)
        self._problem.topology.record(request.ask.shape, bins, counts, [])

    def room(self, request: Request, where: Verdict) -> tuple[Ints, Ints]:
        """Return standing bins that a pod may run on, and how many such pods fit on each."""
        bins = self._bins
        shape = request.ask.shape
        candidates = self._candidates(request, where)
        counts = most_that_fit(bins.free[candidates][:, request.columns], request.needed)
        if where.caps is not None:
            counts = np.minimum(counts, where.caps[candidates])
        if shape.volume_attach_counts:
            counts = np.minimum(counts, bins.attach_room(shape, candidates))
        if own := exclusives(shape):
            most = 1 if conflict(own, own) else UNBOUNDED
            clear = [0 if bins.excludes(one, own) else most for one in candidates.tolist()]
            counts = np.minimum(counts, np.array(clear, np.int64))
        return candidates, counts

    def _candidates(self, request: Request, where: Verdict) -> Ints:
        bins = self._bins
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
            found = self._compatible[id(ask)] = compatible(self._bins, ask)
        return found


def compatible(bins: Bins, ask: Ask) -> Bools:
    """Return (n_standing,): bins whose labels, name, taints and features suit, room apart."""
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
    if ask.lacking:
        found &= np.array([name not in ask.lacking for name in standing.names], np.bool_)
    return found
