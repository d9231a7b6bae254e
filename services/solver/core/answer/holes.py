"""Keeps a claim from allowing what does not fit.

Apart because a claim says types, zones and capacity types each on its own, and a provider may
combine them: a type that has room in one zone only would be bought in another one, where an
override or a daemon takes that room. Such a combination is a hole. Types are left out, or zones or
capacity types are, until there is none.
"""

from collections.abc import Callable, Sequence

import numpy as np

from services.solver.core.offers.catalogue import CatalogueColumns
from services.solver.core.vectors import Bools, Ints

_Spot = tuple[int, str, str, str]
"""Type, zone, capacity type and reservation, which a claim names if it is for any."""
_KIND, _ZONE, _CAPACITY_TYPE, _RESERVATION = range(4)
_KEYS = (_KIND, _ZONE, _CAPACITY_TYPE, _RESERVATION)
_NARROWED: tuple[tuple[int, ...], ...] = (
    (),
    (_ZONE,),
    (_CAPACITY_TYPE,),
    (_ZONE, _CAPACITY_TYPE),
    _KEYS,
)


def without_holes(
    columns: CatalogueColumns, found: Ints, bad: Bools, kept: Callable[[Ints], bool]
) -> Ints:
    """Return the offerings that a claim may allow, in order, some left out if need be.

    Of several ways that one is taken that keeps the cheapest, then that leaves most to fall back
    on.

    Args:
        columns: what is sold.
        found: positions of offerings that would do, cheapest first.
        bad: (n_offerings,): the others that claims for these types could become.
        kept: whether so few offerings still have values enough to choose from.
    """
    if not bad.any():
        return found
    spots = [_spot(columns, one) for one in found.tolist()]
    holes = [_spot(columns, one) for one in np.flatnonzero(bad).tolist()]
    if not _reached(spots, holes):
        return found
    ways = [found[_narrowed(spots, holes, keys)] for keys in _NARROWED]
    price = columns.price
    return max(
        (one for one in ways if len(one)),
        key=lambda one: (kept(one), -int(price[one[0]]), len(one)),
        default=found,
    )


def _spot(columns: CatalogueColumns, position: int) -> _Spot:
    offering = columns.offerings[position]
    kind = int(columns.row_type[columns.row[position]])
    return kind, offering.zone, offering.capacity_type, offering.reservation_id


def _reached(spots: Sequence[_Spot], holes: Sequence[_Spot]) -> list[_Spot]:
    """Return the holes that a claim for all these spots allows."""
    values = [{one[key] for one in spots} for key in _KEYS]
    return [one for one in holes if all(one[key] in values[key] for key in _KEYS)]


def _narrowed(spots: Sequence[_Spot], holes: Sequence[_Spot], keys: tuple[int, ...]) -> Bools:
    """Return (n,): the spots that are left once the claim says more of these keys.

    Of one key: what the cheapest type has no hole at; of several: what the cheapest spot is.
    Then types that still have a hole are left out.
    """
    first = spots[0]
    own = [one for one in _reached(spots, holes) if one[_KIND] == first[_KIND]]
    if len(keys) == 1:
        refused = {one[keys[0]] for one in own}
        keep = [one[keys[0]] not in refused for one in spots]
    else:
        keep = [all(one[key] == first[key] for key in keys) for one in spots]
    left = [one for one, stays in zip(spots, keep, strict=True) if stays]
    kinds = {one[_KIND] for one in _reached(left, holes)}
    stays = [kept and one[_KIND] not in kinds for one, kept in zip(spots, keep, strict=True)]
    return np.array(stays, np.bool_)
