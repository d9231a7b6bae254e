"""What nodes cost: the price of the offering that a node is an instance of.

Source: `docs/sources.md` H2, costs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue, NodeClassRef
from libs.domain.node import Node
from libs.domain.snapshot import ClusterSnapshot

_Offer = tuple[str, str, str, str]
"""Key of the class, instance type, zone, capacity type."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of all catalogues, in nano-dollars per hour."""

    by_offer: Mapping[_Offer, int]

    @classmethod
    def of(cls, snapshot: ClusterSnapshot) -> "Prices":
        """Return the prices that a snapshot knows; where offerings are alike, the lowest."""
        found: dict[_Offer, int] = {}
        for catalogue in snapshot.catalogues.values():
            for offer, price in _offers(catalogue):
                found[offer] = min(price, found.get(offer, price))
        return cls(found)

    def of_node(self, node: Node, node_class: NodeClassRef) -> int:
        """Return the node's price, 0 where its offering is not known; availability is ignored."""
        labels = label_keys.canonical_labels(dict(node.labels))
        keys = (label_keys.INSTANCE_TYPE, label_keys.ZONE, label_keys.CAPACITY_TYPE)
        instance_type, zone, capacity_type = (labels.get(key, "") for key in keys)
        return self.by_offer.get((node_class.key, instance_type, zone, capacity_type), 0)


def _offers(catalogue: Catalogue) -> list[tuple[_Offer, int]]:
    return [
        (
            (catalogue.key, kind.name, offering.zone, offering.capacity_type),
            offering.price_nanos_per_hour,
        )
        for kind in catalogue.instance_types
        for offering in kind.offerings
    ]
