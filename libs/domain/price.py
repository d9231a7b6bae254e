"""What the offerings of a catalogue cost, and which of them a node is an instance of.

Apart because solver and disruption must put the same price on a node.
"""

from collections.abc import Mapping

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue
from libs.domain.node import Node
from libs.domain.snapshot import ClusterSnapshot

OfferingKey = tuple[str, str, str]
"""Instance type, zone, capacity type."""


def prices(catalogue: Catalogue) -> dict[OfferingKey, int]:
    """Return nano-dollars per hour by offering, whether or not it is available.

    Where several are alike but for their reservation, the lowest.
    """
    found: dict[OfferingKey, int] = {}
    for kind in catalogue.instance_types:
        for offering in kind.offerings:
            key = kind.name, offering.zone, offering.capacity_type
            price = offering.price_nanos_per_hour
            found[key] = min(price, found.get(key, price))
    return found


def offering_key(labels: Mapping[str, str]) -> OfferingKey:
    """Return the offering that these labels name, aliases resolved; empty where one is missing."""
    return (
        labels.get(label_keys.INSTANCE_TYPE, ""),
        labels.get(label_keys.ZONE, ""),
        labels.get(label_keys.CAPACITY_TYPE, ""),
    )


def unpriced(snapshot: ClusterSnapshot) -> tuple[str, ...]:
    """Return the names of nodes that are of no offering that is known, sorted.

    They count for nothing in what a cluster costs. A node without a claim is of the offering that
    its labels name, sold to the pool they name.
    """
    known = {key: prices(one) for key, one in snapshot.catalogues.items()}
    return tuple(
        sorted(
            node.name
            for node in snapshot.nodes.values()
            if _offering_of(node, snapshot) not in known.get(_class_of(node, snapshot), ())
        )
    )


def _offering_of(node: Node, snapshot: ClusterSnapshot) -> OfferingKey:
    claim = snapshot.nodeclaims.get(node.nodeclaim)
    own = {} if claim is None else label_keys.canonical_labels(dict(claim.labels))
    return offering_key(own | label_keys.canonical_labels(dict(node.labels)))


def _class_of(node: Node, snapshot: ClusterSnapshot) -> str:
    claim = snapshot.nodeclaims.get(node.nodeclaim)
    if claim is not None:
        return claim.node_class.key
    pool = snapshot.nodepools.get(dict(node.labels).get(label_keys.NODEPOOL, ""))
    return "" if pool is None else pool.template.node_class.key
