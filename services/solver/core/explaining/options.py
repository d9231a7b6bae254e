"""Offerings by price, as they are told: what a claim may be bought as, the cheapest of a pool."""

from collections.abc import Iterable

import numpy as np

from libs.domain.plan import LaunchOption, PlannedNodeClaim
from services.solver.core.offers.catalogue import CatalogueColumns
from services.solver.core.vectors import Bools, Ints

MOST_OPTIONS = 20


def options_of(columns: CatalogueColumns, mask: Bools) -> tuple[LaunchOption, ...]:
    """Return the offerings of a mask, (n_offerings,), cheapest first, at most `MOST_OPTIONS`."""
    found = np.flatnonzero(mask)
    ordered = found[columns.rank[found].argsort()]
    return tuple(_option(columns, one) for one in ordered[:MOST_OPTIONS].tolist())


def options_of_claim(columns: CatalogueColumns, claim: PlannedNodeClaim) -> Bools:
    """Return (n_offerings,): what a planned claim may be bought as."""
    listed = frozenset(claim.instance_types)
    mask = (
        columns.available
        & np.array([kind.name in listed for kind in columns.types], np.bool_)[
            columns.row_type[columns.row]
        ]
    )
    for one in claim.requirements:
        mask = mask & columns.mask(one, lenient=True)
    return mask


def cheapest_by_capacity_type(columns: CatalogueColumns, mask: Bools) -> tuple[LaunchOption, ...]:
    """Return the cheapest offering of each capacity type in a mask, cheapest first."""
    found: dict[str, LaunchOption] = {}
    positions: Ints = np.flatnonzero(mask)
    ordered: Iterable[int] = positions[columns.rank[positions].argsort()].tolist()
    for one in ordered:
        found.setdefault(columns.offerings[one].capacity_type, _option(columns, one))
    return tuple(found.values())


def _option(columns: CatalogueColumns, position: int) -> LaunchOption:
    offering = columns.offerings[position]
    return LaunchOption(
        instance_type=columns.types[int(columns.row_type[columns.row[position]])].name,
        zone=offering.zone,
        capacity_type=offering.capacity_type,
        price_nanos_per_hour=offering.price_nanos_per_hour,
    )
