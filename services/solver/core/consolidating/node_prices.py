"""Prices of nodes that exist, overlays included: what is really paid.

Apart because single nodes and whole pools are weighed by them.
"""

from collections.abc import Mapping

from libs.domain import labels as label_keys
from libs.domain.node import Node
from libs.domain.price import OfferingKey, offering_key, prices
from services.solver.core.packing.encode import Encoded


class NodePrices:
    """Remembers the prices of each catalogue."""

    def __init__(self, encoded: Encoded) -> None:
        self._market = encoded.market
        self._claims = encoded.snapshot.nodeclaims
        self._known: dict[int, Mapping[OfferingKey, int]] = {}

    def of(self, node: Node) -> tuple[OfferingKey, int]:
        """Return the offering that a node with a claim is an instance of, and its price.

        The price is in nano-dollars per hour, 0 where the offering is not known.
        """
        claim = self._claims[node.nodeclaim]
        labels = label_keys.canonical_labels(dict(claim.labels))
        offering = offering_key(labels | label_keys.canonical_labels(dict(node.labels)))
        columns = self._market.of_claim(claim)
        if columns is None:
            return offering, 0
        if id(columns) not in self._known:
            self._known[id(columns)] = prices(columns.source)
        return offering, self._known[id(columns)].get(offering, 0)
