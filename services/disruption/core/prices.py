"""What nodes cost: the price of the offering that a node is an instance of.

Source: `docs/sources.md` H2, costs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from libs.domain import labels as label_keys
from libs.domain.capacity import NodeClassRef
from libs.domain.node import Node
from libs.domain.price import OfferingKey, offering_key, prices
from libs.domain.snapshot import ClusterSnapshot


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of all catalogues, in nano-dollars per hour."""

    by_class: Mapping[str, Mapping[OfferingKey, int]]

    @classmethod
    def of(cls, snapshot: ClusterSnapshot) -> "Prices":
        """Return the prices that a snapshot knows."""
        return cls({key: prices(catalogue) for key, catalogue in snapshot.catalogues.items()})

    def of_node(self, node: Node, node_class: NodeClassRef) -> int:
        """Return the node's price, 0 where its offering is not known; availability is ignored."""
        labels = label_keys.canonical_labels(dict(node.labels))
        return self.by_class.get(node_class.key, {}).get(offering_key(labels), 0)
