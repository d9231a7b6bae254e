"""What the nodes and claims that exist cost, as far as their offering is known."""

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue
from libs.domain.nodeclaim import NodeClaim
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.market import Market

_Offers = dict[tuple[str, str, str], int]


def existing_price(snapshot: ClusterSnapshot, market: Market) -> int:
    """Return nano-dollars per hour of all claims whose type, zone and capacity type are known.

    Overlays count for nodes that exist as well: they say what is really paid.
    """
    offers: dict[int, _Offers] = {}
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
        key = id(columns)
        if key not in offers:
            offers[key] = _offers(columns.source)
        found += offers[key].get(_offering(claim, labels.get(claim.name, {})), 0)
    return found


def _offers(catalogue: Catalogue) -> _Offers:
    return {
        (kind.name, offering.zone, offering.capacity_type): offering.price_nanos_per_hour
        for kind in catalogue.instance_types
        for offering in kind.offerings
    }


def _offering(claim: NodeClaim, node_labels: dict[str, str]) -> tuple[str, str, str]:
    labels = label_keys.canonical_labels(dict(claim.labels)) | node_labels
    return (
        labels.get(label_keys.INSTANCE_TYPE, ""),
        labels.get(label_keys.ZONE, ""),
        labels.get(label_keys.CAPACITY_TYPE, ""),
    )
