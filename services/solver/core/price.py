"""What the nodes and claims that exist cost, as far as their offering is known."""

from collections.abc import Mapping

from libs.domain import labels as label_keys
from libs.domain.price import OfferingKey, prices
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.market import Market

_SPELLINGS = {
    key: (key, *(alias for alias, meant in label_keys.ALIASES.items() if meant == key))
    for key in (label_keys.INSTANCE_TYPE, label_keys.ZONE, label_keys.CAPACITY_TYPE)
}
_TYPE, _ZONE, _CAPACITY_TYPE = _SPELLINGS.values()


def existing_price(snapshot: ClusterSnapshot, market: Market) -> int:
    """Return nano-dollars per hour of all claims whose type, zone and capacity type are known.

    Overlays count for nodes that exist as well: they say what is really paid.
    """
    known: dict[int, dict[OfferingKey, int]] = {}
    labels = {
        node.nodeclaim: dict(node.labels) for node in snapshot.nodes.values() if node.nodeclaim
    }
    found = 0
    for claim in snapshot.nodeclaims.values():
        columns = market.of_claim(claim)
        if columns is None:
            continue
        if id(columns) not in known:
            known[id(columns)] = prices(columns.source)
        own = labels.get(claim.name, {}), dict(claim.labels)
        key = _label(_TYPE, own), _label(_ZONE, own), _label(_CAPACITY_TYPE, own)
        found += known[id(columns)].get(key, 0)
    return found


def _label(spellings: tuple[str, ...], many: tuple[Mapping[str, str], ...]) -> str:
    """Return the first value there is; a node's labels are before its claim's."""
    for labels in many:
        for spelling in spellings:
            if spelling in labels:
                return labels[spelling]
    return ""
