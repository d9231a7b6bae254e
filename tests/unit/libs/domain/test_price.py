"""Prices of offerings, and the offering that labels name."""

from libs.domain.price import offering_key, prices
from tests.support.builders import a_catalogue, a_type, an_offering


def test_of_offerings_that_differ_in_their_reservation_the_lowest_price_counts() -> None:
    offerings = (
        an_offering("zone-a", "reserved", price_nanos_per_hour=7, reservation_id="one"),
        an_offering("zone-a", "reserved", price_nanos_per_hour=5, reservation_id="two"),
        an_offering("zone-b", "spot", price_nanos_per_hour=9, available=False),
    )

    found = prices(a_catalogue(a_type("m-4", offerings=offerings)))

    assert found == {("m-4", "zone-a", "reserved"): 5, ("m-4", "zone-b", "spot"): 9}


def test_labels_name_an_offering_as_far_as_they_are_there() -> None:
    labels = {"node.kubernetes.io/instance-type": "m-4", "topology.kubernetes.io/zone": "zone-a"}

    assert offering_key(labels) == ("m-4", "zone-a", "")
