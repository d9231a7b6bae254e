"""`begin`: the local search, which is the kernel's.

Apart because this is the seam: which claims there are, what each may be and what pods are worth
goes to the kernel; claims and who is on them come back and are made an answer.
"""

from dataclasses import dataclass

import joiner_kernel
import numpy as np

from libs.domain.capacity import CapacityType
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.offers.template import Template
from services.solver.core.packed import Packed
from services.solver.core.packing.bins import Placement
from services.solver.core.refining.replacing import Replacement, with_claims
from services.solver.core.refining.start import Search, Start
from services.solver.core.vectors import Bools, Ints, covering

_LEAST_WORTH = 1e-6
"""Share of what the dearest pods are worth that every pod is worth."""

_PODS_WEIGH = 0.15
"""What the number of pods counts for in their size, beside 1 for each other resource."""

_PODS = 2
"""The column of `pods`."""

_NO_MORE = 1e-6
"""Share of a lower bound above which an answer is not worth looking for a better one."""

_SAME = -1


@dataclass(frozen=True, slots=True, eq=False)
class _Allowances:
    """Rows that claims of pools with limits may be, each set once."""

    rows: list[tuple[int, Bools]]
    of_claim: list[int]


def begin(start: Start) -> Search | None:
    """Return a search that begins at this answer; None where no pod may move."""
    packed = start.packed
    problem, bins = packed.problem, packed.packer.bins
    templates = start.encoded.templates
    allowances = _allowances(templates, bins.claims, bins.used)
    problem.algebra.make_known()
    weight = np.ones(len(problem.dimensions.names))
    weight[_PODS] = _PODS_WEIGH
    native = joiner_kernel.Search(
        problem.algebra.packing,
        [template.room for template in templates],
        [template.pool.weight for template in templates],
        [known.id for known in bins.claims],
        allowances.of_claim,
        allowances.rows,
        _worth(start),
        weight.tolist(),
        start.seed % 2**64,
    )
    if not native.any():
        return None
    others = packed.answer.weight - native.price()
    return _Native(start, allowances, native, start.least * (1 + _NO_MORE) - others)


@dataclass(frozen=True, slots=True, eq=False)
class _Native:
    """A search of the kernel's."""

    start: Start
    allowances: _Allowances
    native: joiner_kernel.Search
    least: float
    """What the claims that may change cost, in nano-dollars per hour, when nothing is left to gain.
    """

    def advance(self, iterations: int) -> int:
        """Try so many changes; none where nothing is left to gain."""
        if self.native.price() <= self.least:
            return 0
        self.native.advance(iterations)
        return iterations

    def best(self) -> Packed:
        """Return the best answer so far: none was ever kept that is dearer."""
        packed = self.start.packed
        if not self.native.changed():
            return packed
        return with_claims(self.start.encoded, packed, self._replacement())

    def _replacement(self) -> Replacement:
        bins = self.start.packed.packer.bins
        standing = len(bins.standing)
        known: dict[tuple[int, int], ClaimClass] = {}
        claims = []
        for origin, number, allowance in self.native.claims():
            if origin != _SAME:
                claims.append(bins.claims[origin])
                continue
            key = number, allowance
            if key not in known:
                known[key] = self._class(number, allowance)
            claims.append(known[key])
        return Replacement(
            claims=claims,
            placements=[
                *(one for one in bins.placements if one.bin < standing),
                *(
                    Placement(group, standing + claim, count)
                    for group, claim, count in self.native.placements()
                ),
            ],
        )

    def _class(self, number: int, allowance: int) -> ClaimClass:
        """Return the class with the room that its pool really has, and what is not reserved."""
        problem = self.start.packed.problem
        known = problem.classes.all[number]
        template = self.start.encoded.templates[known.template.index]
        offerings = known.offerings.copy()
        if allowance >= 0:
            offerings &= self.allowances.rows[allowance][1][template.columns.row]
        for position in np.flatnonzero(offerings).tolist() if problem.reservations else ():
            offering = template.columns.offerings[position]
            if offering.capacity_type == CapacityType.RESERVED:
                offerings[position] = offering.reservation_id not in problem.reservations
        return known.sold_by(template, offerings)


def _worth(start: Start) -> list[float]:
    """Return by group what a pod costs at least; what nothing is known of is worth little."""
    least = _LEAST_WORTH * max(start.worth.values(), default=0) or 1.0
    groups = start.packed.problem.groups
    return [max(start.worth.get(group.shape.id, 0), least) for group in groups]


def _allowances(
    templates: tuple[Template, ...], claims: tuple[ClaimClass, ...], used: Ints
) -> _Allowances:
    """Return the rows that each claim may be for the limits of its pool to hold.

    A claim is charged with the largest that it may be, so that one that takes its place, and is no
    larger, is paid for.
    """
    known: dict[tuple[int, bytes], int] = {}
    found = _Allowances(rows=[], of_claim=[])
    for position, claim in enumerate(claims):
        template = templates[claim.template.index]
        if not template.pool.limits:
            found.of_claim.append(-1)
            continue
        most = template.capacities[claim.rows_for(used[position])].max(axis=0)
        number = known.setdefault((template.index, most.tobytes()), len(found.rows))
        if number == len(found.rows):
            found.rows.append((template.index, covering(most, template.capacities)))
        found.of_claim.append(number)
    return found
