"""What the offerings of a catalogue cost, and which of them a node is an instance of.

Apart because solver and disruption must put the same price on a node.
"""

from collections.abc import Mapping

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue

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
