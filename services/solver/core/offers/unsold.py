"""Which instance type would do for a pod, were it sold as the pod asks, in words.

Apart from the reasons of pools because it looks at what a pool cannot buy.

Source: `docs/sources.md` D7: requirements and resources are met, and no offering is there.
"""

from dataclasses import dataclass

import numpy as np

from libs.domain.requirement import Requirement
from services.solver.core.offers.catalogue import CatalogueColumns
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.vectors import Bools, Ints, covering


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsold:
    """A type that would do, and what of it is not sold."""

    message: str
    key: str
    """Label that an offering would have to have; empty where none is available."""


def unsold(known: ClaimClass, asked: Ints) -> Unsold | None:
    """Return which type has room for `asked`, (n_resources,), and all that is required of types.

    Not one that can be bought: that is too small where it can be, whatever it is elsewhere. Of
    several it is that with the cheapest offering; before all others one that is sold as it is
    asked for and is not available. None if there is no such type.
    """
    columns = known.template.columns
    kinds = columns.row_type[columns.row]
    too_small = np.isin(kinds, columns.row_type[known.rows])
    by_type, of_offerings = wanted(known)
    would_do = covering(known.template.room, asked)[columns.row] & ~too_small & by_type
    if not would_do.any():
        return None
    met = would_do.copy()
    for _, mask in of_offerings:
        met &= mask
    if met.any():
        name, _ = _cheapest(columns, met)
        return Unsold(message=f"{name} would do, but is not available", key="")
    name, own = _cheapest(columns, would_do)
    lacking = [one for one, mask in of_offerings if not (own & mask).any()]
    if not lacking:
        both = " and ".join(str(one) for one, mask in of_offerings if not mask[own].all())
        return Unsold(message=f"{name} would do, but is not sold with {both} at once", key="")
    return Unsold(message=f"{name} would do, but is not sold with {lacking[0]}", key=lacking[0].key)


def wanted(known: ClaimClass) -> tuple[Bools, list[tuple[Requirement, Bools]]]:
    """Return which offerings are of types that would do by label, room and price apart.

    Returns:
        (n_offerings,) of what is required of types, and what is required of offerings with the
        offerings that meet it, (n_offerings,).
    """
    columns = known.template.columns
    of_types = np.ones(len(columns.offerings), np.bool_)
    of_offerings: list[tuple[Requirement, Bools]] = []
    for one in known.requirements:
        mask = columns.mask(one, lenient=one.key in known.template.requirements)
        if one.key in columns.offering_keys:
            of_offerings.append((one, mask))
        else:
            of_types &= mask
    return of_types, of_offerings


def _cheapest(columns: CatalogueColumns, offerings: Bools) -> tuple[str, Bools]:
    """Return the type of the cheapest of these offerings, and those of them that are of it."""
    numbers = np.flatnonzero(offerings)
    kind = int(columns.row_type[columns.row[numbers[columns.rank[numbers].argmin()]]])
    own: Bools = offerings & (columns.row_type == kind)[columns.row]
    return columns.types[kind].name, own
