"""Reserved capacity: how many instances of each reservation this plan may still count on.

Source: `docs/sources.md` D12, strict mode: a claim takes one instance of every reservation that it
may become until it is narrowed; a pod that could use a reservation waits for the next solve rather
than buy on-demand beside it while all instances are promised. Only where minValues are strict and
want more of a choice than a reservation is, the claim is bought beside it.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from libs.domain.capacity import CapacityType
from services.solver.core.claim_class import ClaimClass
from services.solver.core.template import Template
from services.solver.core.vectors import Bools


@dataclass(slots=True)
class Reservations:
    """Instances left per reservation id, and who holds them."""

    left: dict[str, int]
    _held: dict[int, frozenset[str]] = field(default_factory=lambda: defaultdict(frozenset))

    @classmethod
    def of(cls, templates: Iterable[Template]) -> "Reservations":
        """Return the reservations that the catalogues of these pools offer."""
        left: dict[str, int] = {}
        for template in templates:
            for name, count in template.columns.reservations.items():
                left[name] = min(left.get(name, count), count)
        return cls(left)

    def usable(self, known: ClaimClass, rows: Bools) -> Bools | None:
        """Return (n_offerings,): reserved offerings of these rows with an instance left.

        Returns:
            None where the class has no reserved offering at all; all False where none is left.
        """
        if not self.left:
            return None
        columns = known.template.columns
        found = np.zeros(len(columns.offerings), np.bool_)
        any_reserved = False
        for position in np.flatnonzero(known.narrowed_rows(rows)).tolist():
            offering = columns.offerings[position]
            if offering.capacity_type == CapacityType.RESERVED:
                any_reserved = True
                found[position] = self.left.get(offering.reservation_id, 0) > 0
        return found if any_reserved else None

    def unreserved(self, known: ClaimClass) -> Bools:
        """Return (n_offerings,): offerings of a class that are of no reservation."""
        offerings = known.template.columns.offerings
        free = [one.capacity_type != CapacityType.RESERVED for one in offerings]
        return known.offerings & np.array(free, np.bool_)

    def hold(self, claim: int, known: ClaimClass, rows: Bools) -> None:
        """Let a claim hold just what it may still become, and release the rest."""
        if not self.left:
            return
        columns = known.template.columns
        now = frozenset(
            columns.offerings[position].reservation_id
            for position in np.flatnonzero(known.narrowed_rows(rows)).tolist()
            if columns.offerings[position].capacity_type == CapacityType.RESERVED
        )
        before = self._held[claim]
        for name in before - now:
            self.left[name] += 1
        for name in now - before:
            self.left[name] -= 1
        self._held[claim] = now
