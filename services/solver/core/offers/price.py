"""What the nodes and claims that exist cost, as far as their offering is known."""

from collections.abc import Mapping
from functools import partial

from libs.collections.identity_memo import IdentityMemo
from libs.collections.recent import Recent
from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.price import OfferingKey, prices
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.offers.catalogue import CatalogueColumns
from services.solver.core.offers.market import NOTHING_REMEMBERED, Market, Memory

_SPELLINGS = {
    key: (key, *(alias for alias, meant in label_keys.ALIASES.items() if meant == key))
    for key in (label_keys.INSTANCE_TYPE, label_keys.ZONE, label_keys.CAPACITY_TYPE)
}
_TYPE, _ZONE, _CAPACITY_TYPE = _SPELLINGS.values()
_CLUSTERS = 4
"""Most clusters of which it is kept what they cost."""
_UNKNOWN: OfferingKey = ("", "", "")


def existing_price(
    snapshot: ClusterSnapshot, market: Market, memory: Memory = NOTHING_REMEMBERED
) -> int:
    """Return nano-dollars per hour of all nodes and claims whose offering is known.

    A node without a claim is of the offering that its labels name, sold to the pool they name.

    Overlays count for nodes that exist as well: they say what is really paid.
    """
    kept = memory.few("costs of clusters", lambda: Recent(_CLUSTERS))
    sold = [one.columns for one in market.by_pool.values()]
    cost: int = kept.get(
        (tuple(market.by_pool), tuple(market.by_class)),
        lambda: summed_price(snapshot, market, memory),
        snapshot.nodes,
        snapshot.nodeclaims,
        *sold,
        *market.by_class.values(),
    )
    return cost


def summed_price(snapshot: ClusterSnapshot, market: Market, memory: Memory) -> int:
    """Return the same, added up whether or not it is known."""
    reader: IdentityMemo[Node, OfferingKey] = memory.few(
        "offerings of nodes", lambda: IdentityMemo(partial(map, _offering_of))
    )
    claims = snapshot.nodeclaims
    nodes = [node for node in snapshot.nodes.values() if node.nodeclaim in claims]
    keys = dict(zip((node.nodeclaim for node in nodes), reader.of_all(nodes), strict=True))
    known: dict[int, Mapping[OfferingKey, int]] = {}

    def price(columns: CatalogueColumns | None, key: OfferingKey) -> int:
        if columns is None:
            return 0
        if id(columns) not in known:
            known[id(columns)] = _prices(columns.source, memory)
        return known[id(columns)].get(key, 0)

    found = 0
    for claim in claims.values():
        key = keys.get(claim.name, _UNKNOWN)
        if "" in key:
            key = _filled(key, _offering_of(claim))
        found += price(market.of_claim(claim), key)
    if len(nodes) < len(snapshot.nodes):
        alone = [node for node in snapshot.nodes.values() if node.nodeclaim not in claims]
        for node, key in zip(alone, reader.of_all(alone), strict=True):
            found += price(_sold_to(node, market), key)
    return found


def _sold_to(node: Node, market: Market) -> CatalogueColumns | None:
    """Return what is sold to the pool that a node's label names."""
    own = market.by_pool.get(dict(node.labels).get(label_keys.NODEPOOL, ""))
    return None if own is None else own.columns


def _prices(catalogue: Catalogue, memory: Memory) -> Mapping[OfferingKey, int]:
    found: Mapping[OfferingKey, int] = memory.few("prices", lambda: prices(catalogue), catalogue)
    return found


def _offering_of(there: Node | NodeClaim) -> OfferingKey:
    """Return the offering that labels name; aliases count where the label itself is missing."""
    labels = dict(there.labels)
    return _label(_TYPE, labels), _label(_ZONE, labels), _label(_CAPACITY_TYPE, labels)


def _filled(key: OfferingKey, other: OfferingKey) -> OfferingKey:
    """Return an offering with what is missing: a node's labels are before its claim's."""
    return key[0] or other[0], key[1] or other[1], key[2] or other[2]


def _label(spellings: tuple[str, ...], labels: Mapping[str, str]) -> str:
    return next((labels[one] for one in spellings if one in labels), "")
