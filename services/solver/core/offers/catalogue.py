"""A catalogue as columns: offerings by label key, rows of allocatable resources, prices.

Apart because it is built once per catalogue and shared by all solves of a process, whatever their
threads: the columns of keys and the masks that it fills in later are the same whoever does.

Words: a *row* is an instance type with one allocatable; most types have one row, a type whose
offerings override capacity or overhead has one more per distinct override, and in the columns of a
pool one more per set of daemons that come to some of its offerings only. Offerings are flat
(n_offerings,): type by zone by capacity type by reservation, in the catalogue's order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.allocatable import allocatable, full_capacity
from libs.domain.capacity import CapacityType, Catalogue, InstanceType, Offering
from libs.domain.requirement import Requirement
from libs.domain.resources import Resources
from services.solver.core.vectors import MOST, Bools, Ints

_MOST_MASKS = 2048
_PRECEDENCE = {str(kind): place for place, kind in enumerate(CapacityType)}


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """One label key over the offerings: what the type says and what the offering says."""

    distinct: tuple[tuple[Requirement | None, Requirement | None], ...]
    """The pairs (type's, offering's) that occur."""
    index: Ints
    """(n_offerings,): which pair."""

    def where(self, test: Callable[[Requirement | None, Requirement | None], bool]) -> Bools:
        """Return (n_offerings,): whether the pair passes the test, which runs once per pair."""
        return np.array([test(*pair) for pair in self.distinct], np.bool_)[self.index]


@dataclass(frozen=True, slots=True)
class _Spots:
    """Zone and capacity type of the offerings."""

    distinct: tuple[tuple[str, str], ...]
    index: Ints
    """(n_offerings,): which pair."""


@dataclass(frozen=True, slots=True, eq=False)
class CatalogueColumns:
    """Instance types of one node class; arrays are read-only by convention."""

    source: Catalogue
    types: tuple[InstanceType, ...]
    names: tuple[str, ...]
    """Those of the types."""
    row_type: Ints
    """(n_rows,): index of the row's type."""
    rows: tuple[Resources, ...]
    """Allocatable of each row."""
    capacities: tuple[Resources, ...]
    """Full capacity of each row."""
    offerings: tuple[Offering, ...]
    row: Ints
    """(n_offerings,)."""
    price: Ints
    """(n_offerings,) nano-dollars per hour."""
    rank: Ints
    """(n_offerings,): position in order of price, capacity type precedence, type and zone."""
    ranked: Ints
    """(n_offerings,): the offerings in that order."""
    available: Bools
    """(n_offerings,)."""
    well_known: frozenset[str]
    """Keys that a pod may ask for though a pool does not mention them."""
    offering_keys: frozenset[str]
    reservations: Mapping[str, int]
    """Instances left per reservation id: the least that any offering states."""
    _spots: list[_Spots] = field(default_factory=list)
    """Once they were asked for."""
    _keys: dict[str, KeyColumn] = field(default_factory=dict)
    _masks: dict[tuple[Requirement, bool], Bools] = field(default_factory=dict)

    def spots(self, offerings: Ints) -> list[tuple[str, str]]:
        """Return zone and capacity type of offerings, (n,) by position: each pair once."""
        if not self._spots:
            self._spots.append(_spots_of(self.offerings))
        spots = self._spots[0]
        there = np.bincount(spots.index[offerings])
        return [spots.distinct[number] for number in np.flatnonzero(there).tolist()]

    def key(self, key: str) -> KeyColumn:
        """Return the column of a label key."""
        found = self._keys.get(key)
        if found is None:
            found = self._keys[key] = _key_column(self, key)
        return found

    def states(self, key: str, offerings: Bools) -> bool:
        """Tell whether one of these offerings, (n_offerings,), or its type states a key."""
        column = self.key(key)
        there = np.flatnonzero(np.bincount(column.index[offerings])).tolist()
        return any(one is not None for number in there for one in column.distinct[number])

    def mask(self, asked: Requirement, *, lenient: bool) -> Bools:
        """Return (n_offerings,): which offerings can meet a requirement.

        Args:
            asked: the requirement.
            lenient: whether an offering that says nothing of the key passes all the same, because
                the pool says it.
        """
        found = self._masks.get((asked, lenient))
        if found is None:
            if len(self._masks) >= _MOST_MASKS:
                self._masks.clear()
            silent = lenient or asked.absent
            found = self.key(asked.key).where(lambda kind, own: _meets(kind, own, asked, silent))
            self._masks[asked, lenient] = found
        return found

    def matrix(self, names: tuple[str, ...]) -> Ints:
        """Return (n_rows, n_resources): the allocatable of each row, saturated."""
        return matrix(self.rows, names)


def build(catalogue: Catalogue) -> CatalogueColumns:
    """Return the columns of a catalogue."""
    types = catalogue.instance_types
    row_type: list[int] = []
    rows: list[Resources] = []
    capacities: list[Resources] = []
    offerings: list[Offering] = []
    row_of: list[int] = []
    for index, kind in enumerate(types):
        known: dict[tuple[Resources, Resources], int] = {}
        for offering in kind.offerings:
            override = (offering.capacity_override, offering.overhead_override)
            if override not in known:
                known[override] = len(rows)
                row_type.append(index)
                rows.append(allocatable(kind, offering))
                capacities.append(full_capacity(kind, offering))
            offerings.append(offering)
            row_of.append(known[override])
    row = np.array(row_of, np.int64)
    reservations = _reservations(offerings)
    price = np.array([offering.price_nanos_per_hour for offering in offerings], np.int64)
    ranked = _ranked(offerings, price, np.array(row_type, np.int64)[row])
    return CatalogueColumns(
        source=catalogue,
        types=types,
        names=tuple(kind.name for kind in types),
        row_type=np.array(row_type, np.int64),
        rows=tuple(rows),
        capacities=tuple(capacities),
        offerings=tuple(offerings),
        row=row,
        price=price,
        rank=_inverse(ranked),
        ranked=ranked,
        available=np.array(
            [_is_available(offering, reservations) for offering in offerings], np.bool_
        ),
        well_known=label_keys.WELL_KNOWN | frozenset(catalogue.well_known_keys),
        offering_keys=frozenset(
            one.key for own in {offering.requirements for offering in offerings} for one in own
        ),
        reservations=reservations,
    )


def _spots_of(offerings: Sequence[Offering]) -> _Spots:
    numbers: dict[tuple[str, str], int] = {}
    each = ((one.zone, one.capacity_type) for one in offerings)
    index = [numbers.setdefault(one, len(numbers)) for one in each]
    return _Spots(tuple(numbers), np.array(index, np.int64))


def told_apart(columns: CatalogueColumns, marks: Ints) -> CatalogueColumns:
    """Return columns in which all offerings of a row have one mark, (n_offerings,).

    All else is shared with the columns given.
    """
    pairs, row = np.unique(np.stack((columns.row, marks)), axis=1, return_inverse=True)
    was: Ints = pairs[0]
    if len(was) == len(columns.rows):
        return columns
    return replace(
        columns,
        row_type=columns.row_type[was],
        rows=tuple(columns.rows[one] for one in was.tolist()),
        capacities=tuple(columns.capacities[one] for one in was.tolist()),
        row=row.reshape(-1),
    )


def priced(columns: CatalogueColumns, price: Ints) -> CatalogueColumns:
    """Return columns in which offerings have another price, (n_offerings,), to choose by.

    All else is shared with the columns given.
    """
    ranked = _ranked(columns.offerings, price, columns.row_type[columns.row])
    return replace(columns, price=price, rank=_inverse(ranked), ranked=ranked)


def resold(columns: CatalogueColumns, catalogue: Catalogue) -> CatalogueColumns | None:
    """Return the columns of a catalogue that differs in prices and availability alone.

    What its labels and sizes tell is shared with the columns given, also what is filled in later.
    Whether they are the same is told by identity, as edits leave them.

    Returns:
        None: more is different, or may be.
    """
    pairs = zip(columns.types, catalogue.instance_types, strict=False)
    if (
        catalogue.well_known_keys != columns.source.well_known_keys
        or len(catalogue.instance_types) != len(columns.types)
        or not all(old is new or _sells_alike(old, new) for old, new in pairs)
    ):
        return None
    offerings = tuple(one for kind in catalogue.instance_types for one in kind.offerings)
    reservations = _reservations(offerings)
    price = np.array([one.price_nanos_per_hour for one in offerings], np.int64)
    ranked = columns.ranked
    if not (price == columns.price).all():
        ranked = _ranked(offerings, price, columns.row_type[columns.row])
    return replace(
        columns,
        source=catalogue,
        types=catalogue.instance_types,
        offerings=offerings,
        price=price,
        rank=_inverse(ranked),
        ranked=ranked,
        available=np.array([_is_available(one, reservations) for one in offerings], np.bool_),
        reservations=reservations,
    )


def _sells_alike(old: InstanceType, new: InstanceType) -> bool:
    """Tell whether two types differ in prices and availability of their offerings alone."""
    return (
        old.requirements is new.requirements
        and old.capacity is new.capacity
        and old.overhead is new.overhead
        and old.device_pools is new.device_pools
        and len(old.offerings) == len(new.offerings)
        and all(
            one is other
            or (
                one.requirements is other.requirements
                and one.capacity_override is other.capacity_override
                and one.overhead_override is other.overhead_override
                and one.reservation_id == other.reservation_id
            )
            for one, other in zip(old.offerings, new.offerings, strict=True)
        )
    )


def _is_available(offering: Offering, reservations: Mapping[str, int]) -> bool:
    """Tell whether any can be had; of a reservation without instances left none is promised."""
    reserved = offering.capacity_type == CapacityType.RESERVED and offering.reservation_id
    empty = reserved and reservations.get(offering.reservation_id, 0) == 0
    return offering.available and not empty


def matrix(many: tuple[Resources, ...], names: tuple[str, ...]) -> Ints:
    """Return (n, n_resources): amounts by name, saturated."""
    columns = [[min(one.get(name), MOST - 1) for one in many] for name in names]
    return np.array(columns, np.int64).reshape(len(names), len(many)).T.copy()


def _key_column(columns: CatalogueColumns, key: str) -> KeyColumn:
    numbers: dict[Requirement | None, int] = {}
    by_type = [
        numbers.setdefault(kind.requirements.get(key), len(numbers)) for kind in columns.types
    ]
    # Thousands of offerings share their requirements: one for each zone and capacity type.
    shared: dict[int, int] = {}
    by_offering = np.empty(len(columns.offerings), np.int64)
    for position, offering in enumerate(columns.offerings):
        requirements = offering.requirements
        number = shared.get(id(requirements))
        if number is None:
            number = numbers.setdefault(requirements.get(key), len(numbers))
            shared[id(requirements)] = number
        by_offering[position] = number
    of_type = np.array(by_type, np.int64)[columns.row_type[columns.row]]
    _, first, index = np.unique(
        of_type * len(numbers) + by_offering, return_index=True, return_inverse=True
    )
    order = first.argsort()
    stated = tuple(numbers)
    return KeyColumn(
        distinct=tuple(
            (stated[of_type[one]], stated[by_offering[one]]) for one in first[order].tolist()
        ),
        index=_inverse(order)[index.reshape(-1)],
    )


def _meets(
    kind: Requirement | None, own: Requirement | None, asked: Requirement, silent: bool
) -> bool:
    if kind is None and own is None:
        return silent
    if kind is not None and own is not None:
        asked = asked.intersection(kind)
        return asked.has_intersection(own)
    there = kind if own is None else own
    return there is not None and there.has_intersection(asked)


def _ranked(offerings: Sequence[Offering], price: Ints, kinds: Ints) -> Ints:
    unknown = len(_PRECEDENCE)
    precedence = np.array(
        [_PRECEDENCE.get(one.capacity_type, unknown) for one in offerings], np.int64
    )
    zones = sorted({one.zone for one in offerings})
    place = {zone: index for index, zone in enumerate(zones)}
    zone = np.array([place[one.zone] for one in offerings], np.int64)
    return np.lexsort((zone, kinds, precedence, price))


def _inverse(ranked: Ints) -> Ints:
    """Return (n,): the rank of each."""
    found = np.empty_like(ranked)
    found[ranked] = np.arange(len(ranked))
    return found


def _reservations(offerings: Sequence[Offering]) -> dict[str, int]:
    left: dict[str, int] = {}
    for one in offerings:
        if one.capacity_type == CapacityType.RESERVED and one.available:
            known = left.get(one.reservation_id, one.reservation_capacity)
            left[one.reservation_id] = min(known, one.reservation_capacity)
    return left
