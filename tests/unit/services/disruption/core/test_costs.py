"""Worked values of the cost formulas."""

from datetime import timedelta

import pytest

from services.disruption.core.costs import lifetime_remaining
from services.disruption.core.prices import Prices
from tests.support.builders import (
    NOW,
    a_catalogue,
    a_nodeclaim,
    a_snapshot,
    a_type,
    an_offering,
)
from tests.unit.services.disruption.clusters import a_machine


@pytest.mark.parametrize(
    ("expire_after", "age", "share"),
    [
        pytest.param(None, timedelta(days=9), 1.0, id="never expires"),
        pytest.param(timedelta(hours=4), timedelta(0), 1.0, id="new"),
        pytest.param(timedelta(hours=4), timedelta(hours=3), 0.25, id="a quarter left"),
        pytest.param(timedelta(hours=4), timedelta(hours=5), 0.0, id="overdue"),
        pytest.param(timedelta(hours=4), timedelta(hours=-1), 1.0, id="from the future"),
    ],
)
def test_lifetime_remaining(expire_after: timedelta | None, age: timedelta, share: float) -> None:
    claim = a_nodeclaim(expire_after=expire_after, created_at=NOW - age)

    assert lifetime_remaining(claim, NOW) == share


@pytest.mark.parametrize(
    ("labels", "price"),
    [
        pytest.param({}, 7, id="its own offering, though not available"),
        pytest.param({"topology.kubernetes.io/zone": "zone-b"}, 9, id="another zone"),
        pytest.param({"karpenter.sh/capacity-type": "spot"}, 0, id="not offered"),
        pytest.param({"node.kubernetes.io/instance-type": "?"}, 0, id="unknown type"),
    ],
)
def test_price_of_a_node(labels: dict[str, str], price: int) -> None:
    offerings = (
        an_offering("zone-a", price_nanos_per_hour=7, available=False),
        an_offering("zone-b", price_nanos_per_hour=9),
    )
    snapshot = a_snapshot(catalogues=[a_catalogue(a_type(offerings=offerings))])
    machine = a_machine(labels=labels)

    found = Prices.of(snapshot).of_node(machine.node, machine.claim.node_class)

    assert found == price
