"""NodeOverlays: what is sold to each pool once users have said better what it costs and offers.

Apart because solver, checker and disruption must count with the same prices and capacities, and
because it is one decision about all overlays together: which of them hold, and what each changes.

Laws:
    - An overlay is in force whole or not at all, for all pools.
    - The order in which pools and overlays are given does not matter.
    - A pool that no overlay touches keeps its very catalogue; pools that overlays change alike
      share one, so that whatever is remembered per catalogue is remembered once.

Source: `docs/sources.md` 1.6 and D16. Two differences, both on purpose: of three overlays of one
weight the third conflicts with either of the others, not with the second one alone; and what an
offering overrides stays overridden when its price changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue, InstanceType
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.nodepool import NodePool
from libs.domain.overlay_ledger import Ledger, Stock
from libs.domain.plan import OverlayVerdict
from libs.domain.requirements import Requirements
from libs.domain.resources import NOTHING, Resources
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.workload import NodeOverlay

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
    offers = _offers(ledgers)
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


def _in_order(overlays: Iterable[NodeOverlay]) -> list[NodeOverlay]:
    return sorted(overlays, key=lambda one: (one.weight, one.name), reverse=True)


def _ledgers(
    pools: Iterable[NodePool], catalogues: Mapping[str, Catalogue], overlays: Iterable[NodeOverlay]
) -> list[Ledger]:
    """Return a ledger for each catalogue and whatever overlays can tell of a pool."""
    keys = frozenset().union(*(one.requirements.keys() for one in overlays))
    stocks: dict[str, Stock] = {}
    found: dict[tuple[str, Requirements], Ledger] = {}
    for pool in sorted(pools, key=lambda pool: pool.name):
        catalogue = catalogues.get(pool.template.node_class.key)
        if catalogue is None:
            continue
        if catalogue.key not in stocks:
            stocks[catalogue.key] = Stock(catalogue, keys)
        labels = {**dict(pool.template.labels), label_keys.NODEPOOL: pool.name}
        own = Requirements.from_labels({key: labels[key] for key in sorted(keys & labels.keys())})
        known = found.get((catalogue.key, own))
        if known is None:
            stock = stocks[catalogue.key]
            found[catalogue.key, own] = Ledger(stock=stock, pools=[pool.name], own=own)
        else:
            known.pools.append(pool.name)
    return list(found.values())


def _judge(overlay: NodeOverlay, ledgers: Sequence[Ledger]) -> OverlayVerdict:
    """Put the overlay in force if it conflicts nowhere."""
    matched = [(one, one.matches(overlay)) for one in ledgers]
    problem = next(filter(None, (one.conflict(overlay, found) for one, found in matched)), "")
    if not problem:
        for one, found in matched:
            one.apply(overlay, found)
    return OverlayVerdict(name=overlay.name, applied=not problem, problem=problem)


def _offers(ledgers: Iterable[Ledger]) -> dict[str, OverlaidOffer]:
    """Return what is sold to each pool; what is changed alike is made once."""
    made: list[tuple[Catalogue, object, OverlaidOffer]] = []
    found: dict[str, OverlaidOffer] = {}
    for one in ledgers:
        catalogue, changes = one.stock.catalogue, (one.prices, one.capacities)
        offer = next(
            (offer for sold, known, offer in made if sold is catalogue and known == changes), None
        )
        if offer is None:
            offer = _offer(catalogue, *changes)
            made.append((catalogue, changes, offer))
        found |= dict.fromkeys(one.pools, offer)
    return found


def _offer(
    catalogue: Catalogue, prices: dict[int, dict[int, int]], capacities: dict[int, Resources]
) -> OverlaidOffer:
    if not prices and not capacities:
        return OverlaidOffer(catalogue=catalogue)
    types = catalogue.instance_types
    changed = tuple(
        _changed(kind, prices.get(position, {}), capacities.get(position, NOTHING))
        for position, kind in enumerate(types)
    )
    return OverlaidOffer(
        catalogue=replace(catalogue, instance_types=changed),
        priced=frozenset(types[position].name for position in prices),
        capacity=MappingProxyType(
            {types[position].name: amounts for position, amounts in sorted(capacities.items())}
        ),
    )


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
