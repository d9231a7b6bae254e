"""What overlays give the types of one catalogue, noted overlay by overlay, weightiest first.

Apart from `overlay` because it is the rule for one catalogue: what an overlay selects, where two of
them clash, who is heard first.

Source: `docs/sources.md` 1.6, D16.2-5.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue
from libs.domain.price_change import bounded, changed
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.workload import NodeOverlay

Matched = list[tuple[int, list[int]]]
"""Positions of types, each with the positions of some of its offerings."""
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class _Given:
    """What the first overlay gave, and which one spoke of it last: the one of the least weight."""

    amount: int
    last: NodeOverlay


class Stock:
    """A catalogue whose types and offerings are known by the labels that they have, each once.

    Types by those labels only that overlays read: there are few such sets, and many types.
    """

    __slots__ = ("catalogue", "kinds", "of_kind", "of_offering", "offerings", "well_known")

    def __init__(self, catalogue: Catalogue, keys: Iterable[str]) -> None:
        read = frozenset(keys)
        kinds: dict[Requirements, int] = {}
        offerings: dict[Requirements, int] = {}
        self.catalogue = catalogue
        self.well_known = label_keys.WELL_KNOWN | frozenset(catalogue.well_known_keys)
        self.of_kind = tuple(
            kinds.setdefault(
                Requirements(one for one in kind.requirements if one.key in read), len(kinds)
            )
            for kind in catalogue.instance_types
        )
        """Per type: position in `kinds`."""
        self.of_offering = tuple(
            tuple(offerings.setdefault(one.requirements, len(offerings)) for one in kind.offerings)
            for kind in catalogue.instance_types
        )
        """Per type and offering: position in `offerings`."""
        self.kinds = tuple(kinds)
        self.offerings = tuple(offerings)


@dataclass(slots=True, kw_only=True)
class Ledger:
    """What overlays give, for pools that they cannot tell apart."""

    stock: Stock
    pools: list[str]
    own: Requirements
    """Labels that the pools give their nodes, of those that overlays read."""
    _prices: dict[int, dict[int, _Given]] = field(default_factory=dict)
    """By position of the type and of its offering."""
    _capacities: dict[int, dict[str, _Given]] = field(default_factory=dict)
    """By position of the type, then by resource."""

    @property
    def prices(self) -> dict[int, dict[int, int]]:
        """Return the prices that were given, by positions of type and offering."""
        return {
            position: {index: given.amount for index, given in offerings.items()}
            for position, offerings in self._prices.items()
        }

    @property
    def capacities(self) -> dict[int, Resources]:
        """Return the amounts that were given, by position of the type."""
        return {
            position: Resources({name: given.amount for name, given in amounts.items()})
            for position, amounts in self._capacities.items()
        }

    def matches(self, overlay: NodeOverlay) -> Matched:
        """Return what the overlay selects: types, and of each the offerings; none without any."""
        stock, asked = self.stock, overlay.requirements
        selected = [self.own.intersection(one).is_compatible(asked) for one in stock.kinds]
        offered = [
            asked.is_compatible(one, allow_undefined=stock.well_known) for one in stock.offerings
        ]
        found: Matched = []
        for position, (kind, numbers) in enumerate(
            zip(stock.of_kind, stock.of_offering, strict=True)
        ):
            if selected[kind]:
                offerings = [index for index, number in enumerate(numbers) if offered[number]]
                if offerings:
                    found.append((position, offerings))
        return found

    def conflict(self, overlay: NodeOverlay, matched: Matched) -> str:
        """Return what another overlay of the same weight speaks of, too; empty if there is none."""
        for position, offerings in matched:
            kind = self.stock.catalogue.instance_types[position]
            prices = self._prices.get(position, {})
            for index in offerings if overlay.changes_price else ():
                if _clash(prices.get(index), overlay):
                    offering = kind.offerings[index]
                    where = f"{kind.name} in {offering.zone} as {offering.capacity_type}"
                    return self._told(overlay, prices[index], f"the price of {where}")
            amounts = self._capacities.get(position, {})
            for resource in overlay.capacity:
                if _clash(amounts.get(resource), overlay):
                    return self._told(overlay, amounts[resource], f"{resource} of {kind.name}")
        return ""

    def _told(self, overlay: NodeOverlay, given: _Given, what: str) -> str:
        return (
            f'overlay "{given.last.name}" has the same weight {overlay.weight} and sets {what}, '
            f'too, for nodepool "{min(self.pools)}"; give one of them another weight'
        )

    def apply(self, overlay: NodeOverlay, matched: Matched) -> None:
        """Note what the overlay gives; what one of more weight gave stays."""
        for position, offerings in matched:
            if overlay.changes_price:
                kind = self.stock.catalogue.instance_types[position]
                prices = self._prices.setdefault(position, {})
                for index in offerings:
                    price = kind.offerings[index].price_nanos_per_hour
                    _give(prices, index, adjusted(price, overlay), overlay)
            if len(overlay.capacity):
                amounts = self._capacities.setdefault(position, {})
                for resource, amount in overlay.capacity.items():
                    _give(amounts, resource, amount, overlay)


def adjusted(price: int, overlay: NodeOverlay) -> int:
    """Return a price in nano-dollars per hour after the overlay, never below zero."""
    if overlay.price_nanos_per_hour is not None:
        price = overlay.price_nanos_per_hour
    elif overlay.price_delta_nanos_per_hour is not None:
        price += overlay.price_delta_nanos_per_hour
    elif overlay.price_delta_ppm is not None:
        return changed(price, overlay.price_delta_ppm)
    return bounded(price)


def _clash(given: _Given | None, overlay: NodeOverlay) -> bool:
    return given is not None and given.last.weight == overlay.weight


def _give(known: dict[_Key, _Given], key: _Key, amount: int, overlay: NodeOverlay) -> None:
    first = known.get(key)
    known[key] = _Given(amount if first is None else first.amount, overlay)
