"""NodeOverlays: what is sold to each pool once users have said better what it costs and offers.

Apart because solver, checker and disruption must count with the same prices and capacities, and
because it is one decision about all overlays together: which of them hold, and what each changes.

Laws:
    - An overlay is in force whole or not at all, for all pools.
    - The order in which pools and overlays are given does not matter.
    - A pool that no overlay touches keeps its very catalogue; pools that overlays cannot tell
      apart share one, so that whatever is remembered per catalogue is remembered once.

Source: `docs/sources.md` 1.6 and D16. Two differences, both on purpose: of three overlays of one
weight the third conflicts with either of the others, not with the second one alone; and what an
offering overrides stays overridden when its price changes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue, InstanceType
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.nodepool import NodePool
from libs.domain.plan import OverlayVerdict
from libs.domain.requirements import Requirements
from libs.domain.resources import NOTHING, Resources
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.workload import NodeOverlay

HIGHEST_PRICE_NANOS_PER_HOUR = 10**15
"""A million dollars: whatever is added to a price, it stays a price."""
_PPM = 10**6

_Key = TypeVar("_Key")
_Starting = TypeVar("_Starting", Node, NodeClaim)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlaidOffer:
    """What is sold to one pool."""

    catalogue: Catalogue
    priced: frozenset[str] = frozenset()
    """Types with an offering whose price an overlay gave."""
    capacity: Mapping[str, Resources] = field(default_factory=lambda: MappingProxyType({}))
    """What overlays gave each type, by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlaid:
    """What is sold to the pools whose catalogue is known, and which overlays are in force."""

    offers: Mapping[str, OverlaidOffer]
    """By name of the pool."""
    verdicts: tuple[OverlayVerdict, ...]
    """By name of the overlay."""


def overlaid(
    pools: Iterable[NodePool],
    catalogues: Mapping[str, Catalogue],
    overlays: Iterable[NodeOverlay],
) -> Overlaid:
    """Return what is sold to each pool, after the overlays.

    Args:
        pools: all pools, since an overlay that conflicts in one of them is in force in none.
        catalogues: what is sold, by key of the node class; pools without one are left out.
        overlays: those that are legible.
    """
    ordered = _in_order(overlays)
    if not ordered:
        return untouched(pools, catalogues)
    ledgers = _ledgers(pools, catalogues, ordered)
    verdicts = [_judge(overlay, ledgers) for overlay in ordered]
    offers = {pool: offer for ledger in ledgers for pool, offer in ledger.offers()}
    return Overlaid(
        offers=MappingProxyType({pool: offers[pool] for pool in sorted(offers)}),
        verdicts=tuple(sorted(verdicts, key=lambda verdict: verdict.name)),
    )


def completed(snapshot: ClusterSnapshot, offers: Mapping[str, OverlaidOffer]) -> ClusterSnapshot:
    """Return the snapshot with what overlays promise of nodes that are not up yet.

    A provider does not know of it, and what would report it on the node has not come up: without
    it, the pods that a node was bought for would have it bought again.

    Args:
        snapshot: the cluster.
        offers: what is sold, by name of the pool.
    """
    if not any(offer.capacity for offer in offers.values()):
        return snapshot
    claims = {
        name: _with_promised(claim, claim, offers) if len(claim.allocatable) else claim
        for name, claim in snapshot.nodeclaims.items()
    }
    nodes = {
        name: node
        if node.initialized or node.nodeclaim not in claims
        else _with_promised(node, claims[node.nodeclaim], offers)
        for name, node in snapshot.nodes.items()
    }
    return replace(snapshot, nodes=MappingProxyType(nodes), nodeclaims=MappingProxyType(claims))


def untouched(pools: Iterable[NodePool], catalogues: Mapping[str, Catalogue]) -> Overlaid:
    """Return what is sold to each pool where no overlay counts."""
    classes = {pool.name: pool.template.node_class.key for pool in pools}
    return Overlaid(
        offers=MappingProxyType(
            {
                pool: OverlaidOffer(catalogue=catalogues[key])
                for pool, key in sorted(classes.items())
                if key in catalogues
            }
        ),
        verdicts=(),
    )


def adjusted(price: int, overlay: NodeOverlay) -> int:
    """Return a price in nano-dollars per hour after the overlay, never below zero."""
    if overlay.price_nanos_per_hour is not None:
        price = overlay.price_nanos_per_hour
    elif overlay.price_delta_nanos_per_hour is not None:
        price += overlay.price_delta_nanos_per_hour
    elif overlay.price_delta_ppm is not None:
        price = (price * (_PPM + overlay.price_delta_ppm) + _PPM // 2) // _PPM
    return min(max(price, 0), HIGHEST_PRICE_NANOS_PER_HOUR)


@dataclass(frozen=True, slots=True)
class _Given:
    """What the first overlay gave, and which one spoke of it last: the one of the least weight."""

    amount: int
    last: NodeOverlay


@dataclass(slots=True, kw_only=True)
class _Ledger:
    """What overlays give the types of one catalogue, for pools that they cannot tell apart."""

    catalogue: Catalogue
    pools: list[str]
    labels: tuple[Requirements, ...]
    """Per type: labels of its nodes, as far as overlays read them."""
    prices: dict[tuple[int, int], _Given] = field(default_factory=dict)
    """By position of the type and of its offering."""
    capacities: dict[int, dict[str, _Given]] = field(default_factory=dict)
    """By position of the type, then by resource."""

    def matches(self, overlay: NodeOverlay) -> list[tuple[int, list[int]]]:
        """Return the positions of the types that the overlay selects, each with its offerings."""
        selected: dict[Requirements, bool] = {}
        well_known = label_keys.WELL_KNOWN | frozenset(self.catalogue.well_known_keys)
        offered: dict[Requirements, bool] = {}
        found = []
        for position, labels in enumerate(self.labels):
            if labels not in selected:
                selected[labels] = labels.is_compatible(overlay.requirements)
            if not selected[labels]:
                continue
            offerings = []
            for index, offering in enumerate(self.catalogue.instance_types[position].offerings):
                own = offering.requirements
                if own not in offered:
                    offered[own] = overlay.requirements.is_compatible(
                        own, allow_undefined=well_known
                    )
                if offered[own]:
                    offerings.append(index)
            if offerings:
                found.append((position, offerings))
        return found

    def conflict(self, overlay: NodeOverlay, matched: Iterable[tuple[int, list[int]]]) -> str:
        """Return what another overlay of the same weight speaks of, too; empty if there is none."""
        for position, offerings in matched:
            kind = self.catalogue.instance_types[position]
            for index in offerings if overlay.changes_price else ():
                given = self.prices.get((position, index))
                if given is not None and given.last.weight == overlay.weight:
                    offering = kind.offerings[index]
                    where = f"{kind.name} in {offering.zone} as {offering.capacity_type}"
                    return self._clash(overlay, given, f"the price of {where}")
            for resource in overlay.capacity:
                given = self.capacities.get(position, {}).get(resource)
                if given is not None and given.last.weight == overlay.weight:
                    return self._clash(overlay, given, f"{resource} of {kind.name}")
        return ""

    def _clash(self, overlay: NodeOverlay, given: _Given, what: str) -> str:
        return (
            f'overlay "{given.last.name}" has the same weight {overlay.weight} and sets {what}, '
            f'too, for nodepool "{min(self.pools)}"; give one of them another weight'
        )

    def apply(self, overlay: NodeOverlay, matched: Iterable[tuple[int, list[int]]]) -> None:
        """Note what the overlay gives; what one of more weight gave stays."""
        for position, offerings in matched:
            kind = self.catalogue.instance_types[position]
            for index in offerings if overlay.changes_price else ():
                price = kind.offerings[index].price_nanos_per_hour
                _give(self.prices, (position, index), adjusted(price, overlay), overlay)
            if len(overlay.capacity):
                amounts = self.capacities.setdefault(position, {})
                for resource, amount in overlay.capacity.items():
                    _give(amounts, resource, amount, overlay)

    def offers(self) -> Iterator[tuple[str, OverlaidOffer]]:
        """Yield each pool with what is sold to it."""
        offer = OverlaidOffer(catalogue=self.catalogue)
        if self.prices or self.capacities:
            offer = self._offer()
        for pool in self.pools:
            yield pool, offer

    def _offer(self) -> OverlaidOffer:
        types = self.catalogue.instance_types
        priced: dict[int, dict[int, int]] = {}
        for (position, index), given in self.prices.items():
            priced.setdefault(position, {})[index] = given.amount
        capacity = {
            position: Resources({name: given.amount for name, given in amounts.items()})
            for position, amounts in self.capacities.items()
        }
        return OverlaidOffer(
            catalogue=replace(
                self.catalogue,
                instance_types=tuple(
                    _changed(kind, priced.get(position, {}), capacity.get(position, NOTHING))
                    for position, kind in enumerate(types)
                ),
            ),
            priced=frozenset(types[position].name for position in priced),
            capacity=MappingProxyType(
                {types[position].name: amounts for position, amounts in sorted(capacity.items())}
            ),
        )


def _give(known: dict[_Key, _Given], key: _Key, amount: int, overlay: NodeOverlay) -> None:
    first = known.get(key)
    known[key] = _Given(amount if first is None else first.amount, overlay)


def _changed(kind: InstanceType, prices: Mapping[int, int], capacity: Resources) -> InstanceType:
    if not prices and not len(capacity):
        return kind
    offerings = tuple(
        replace(one, price_nanos_per_hour=prices[index]) if index in prices else one
        for index, one in enumerate(kind.offerings)
    )
    return replace(kind, capacity=kind.capacity.overlaid(capacity), offerings=offerings)


def _with_promised(
    there: _Starting, claim: NodeClaim, offers: Mapping[str, OverlaidOffer]
) -> _Starting:
    """Return a node or a claim with the amounts that it does not report yet."""
    offer = offers.get(claim.nodepool)
    kind = dict(there.labels).get(label_keys.INSTANCE_TYPE, "")
    promised = NOTHING if offer is None else offer.capacity.get(kind, NOTHING)
    missing = {name: amount for name, amount in promised.items() if not there.allocatable.get(name)}
    if not missing:
        return there
    return replace(there, allocatable=there.allocatable.overlaid(Resources(missing)))


def _in_order(overlays: Iterable[NodeOverlay]) -> list[NodeOverlay]:
    return sorted(overlays, key=lambda one: (one.weight, one.name), reverse=True)


def _judge(overlay: NodeOverlay, ledgers: Sequence[_Ledger]) -> OverlayVerdict:
    """Put the overlay in force if it conflicts nowhere."""
    matched = [(ledger, ledger.matches(overlay)) for ledger in ledgers]
    problem = next(filter(None, (one.conflict(overlay, found) for one, found in matched)), "")
    if not problem:
        for ledger, found in matched:
            ledger.apply(overlay, found)
    return OverlayVerdict(name=overlay.name, applied=not problem, problem=problem)


def _ledgers(
    pools: Iterable[NodePool], catalogues: Mapping[str, Catalogue], overlays: Iterable[NodeOverlay]
) -> list[_Ledger]:
    """Return a ledger for each catalogue and whatever overlays can tell of a pool."""
    keys = frozenset().union(*(one.requirements.keys() for one in overlays))
    found: dict[tuple[str, Requirements], _Ledger] = {}
    for pool in sorted(pools, key=lambda pool: pool.name):
        catalogue = catalogues.get(pool.template.node_class.key)
        if catalogue is None:
            continue
        labels = {**dict(pool.template.labels), label_keys.NODEPOOL: pool.name}
        own = Requirements.from_labels({key: labels[key] for key in sorted(keys & labels.keys())})
        key = (catalogue.key, own)
        if key in found:
            found[key].pools.append(pool.name)
            continue
        found[key] = _Ledger(
            catalogue=catalogue,
            pools=[pool.name],
            labels=tuple(
                own.intersection(Requirements(one for one in kind.requirements if one.key in keys))
                for kind in catalogue.instance_types
            ),
        )
    return list(found.values())
