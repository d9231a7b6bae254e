"""What the nodes and claims that exist cost, as far as their offering is known."""

from libs.domain import labels as label_keys
from libs.domain.price import OfferingKey, offering_key, prices
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.market import Market


def existing_price(snapshot: ClusterSnapshot, market: Market) -> int:
    """Return nano-dollars per hour of all claims whose type, zone and capacity type are known.

    Overlays count for nodes that exist as well: they say what is really paid.
    """
    known: dict[int, dict[OfferingKey, int]] = {}
    labels = {
        node.nodeclaim: label_keys.canonical_labels(dict(node.labels))
        for node in snapshot.nodes.values()
        if node.nodeclaim
    }
    found = 0
    for claim in snapshot.nodeclaims.values():
        columns = market.of_claim(claim)
        if columns is None:
            continue
        if id(columns) not in known:
            known[id(columns)] = prices(columns.source)
        own = label_keys.canonical_labels(dict(claim.labels)) | labels.get(claim.name, {})
        found += known[id(columns)].get(offering_key(own), 0)
    return found
