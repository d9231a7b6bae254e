"""Kinds of instance types: those that bring the same devices, for which one search is enough.

Apart because a catalogue has hundreds of types and few kinds.
"""

from dataclasses import dataclass

import numpy as np

from libs.domain.device import DevicePool
from services.solver.core.devices.offer import Offer, template_offer
from services.solver.core.offers.catalogue import CatalogueColumns
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.vectors import Bools, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Rows of one kind."""

    number: int
    rows: Bools
    """(n_rows,)."""
    example: str
    """Name of the cheapest of the types."""


class Kinds:
    """Numbers the kinds that it meets."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[DevicePool, ...], int] = {}
        self._offers: list[Offer] = []
        self._of_rows: dict[int, tuple[CatalogueColumns, Ints]] = {}

    def offer(self, number: int) -> Offer:
        """Return what nodes of a kind bring."""
        return self._offers[number]

    def of(self, known: ClaimClass, rows: Bools) -> list[Kind]:
        """Return the kinds among these rows, (n_rows,), that with the cheapest offering first."""
        columns = known.template.columns
        numbers = self._rows(columns)
        offerings = np.flatnonzero(known.narrowed_rows(rows))
        offerings = offerings[columns.rank[offerings].argsort()]
        by_row = columns.row[offerings]
        found = []
        for number in dict.fromkeys(numbers[by_row].tolist()):
            cheapest = int(by_row[numbers[by_row] == number][0])
            name = columns.types[int(columns.row_type[cheapest])].name
            found.append(Kind(number=number, rows=rows & (numbers == number), example=name))
        return found

    def _rows(self, columns: CatalogueColumns) -> Ints:
        """Return (n_rows,): the kind of each row's type."""
        known = self._of_rows.get(id(columns))
        if known is None:
            by_type = np.array([self._number(one.device_pools) for one in columns.types], np.int64)
            known = self._of_rows[id(columns)] = columns, by_type[columns.row_type]
        return known[1]

    def _number(self, pools: tuple[DevicePool, ...]) -> int:
        found = self._numbers.get(pools)
        if found is None:
            found = self._numbers[pools] = len(self._offers)
            self._offers.append(template_offer(pools))
        return found
