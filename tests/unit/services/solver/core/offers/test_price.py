"""What exists costs what its offering is sold for, by whichever object names it."""

from dataclasses import replace

import pytest

from libs.domain import labels as label_keys
from libs.domain.node import Node
from libs.domain.price import unpriced
from libs.domain.solution import SolveOptions
from services.solver.core.offers.market import NOTHING_REMEMBERED, market
from services.solver.core.offers.price import existing_price
from tests.support.builders import (
    a_catalogue,
    a_node,
    a_nodeclaim,
    a_pool,
    a_snapshot,
    a_type,
    an_offering,
)

SOLD = a_catalogue(
    a_type("m-4", offerings=(an_offering("zone-a", price_nanos_per_hour=5),)),
    a_type("m-8", offerings=(an_offering("zone-b", price_nanos_per_hour=7),)),
)
M_4 = {
    label_keys.INSTANCE_TYPE: "m-4",
    label_keys.ZONE: "zone-a",
    label_keys.CAPACITY_TYPE: "on-demand",
}
OLD_M_8 = (
    ("beta.kubernetes.io/instance-type", "m-8"),
    ("failure-domain.beta.kubernetes.io/zone", "zone-b"),
    (label_keys.CAPACITY_TYPE, "on-demand"),
)


@pytest.mark.parametrize(
    ("node", "claim", "price"),
    [
        pytest.param(tuple(M_4.items()), {}, 5, id="labels of the node"),
        pytest.param((), M_4, 5, id="labels of the claim"),
        pytest.param(None, M_4, 5, id="a claim in flight"),
        pytest.param(OLD_M_8, M_4, 7, id="the node's labels first, by their old names, too"),
        pytest.param((*OLD_M_8, *M_4.items()), {}, 5, id="old names last"),
        pytest.param(((label_keys.ZONE, "zone-a"),), {}, 0, id="not known"),
        pytest.param(((label_keys.ZONE, "zone-b"),), M_4, 0, id="not sold"),
    ],
)
def test_a_node_costs_what_its_labels_name(
    node: tuple[tuple[str, str], ...] | None, claim: dict[str, str], price: int
) -> None:
    nodes = [] if node is None else [a_node(nodeclaim="claim-1")]
    snapshot = a_snapshot(
        nodes=[_with_labels(one, node or ()) for one in nodes],
        nodeclaims=[a_nodeclaim(labels=claim)],
        catalogues=[SOLD],
    )

    sold = market(snapshot, SolveOptions(), NOTHING_REMEMBERED)

    assert existing_price(snapshot, sold) == price
    assert bool(unpriced(snapshot)) == (node is not None and not price)


IN_POOL = ((label_keys.NODEPOOL, "pool"),)


@pytest.mark.parametrize(
    ("labels", "price"),
    [
        pytest.param((*M_4.items(), *IN_POOL), 5, id="of a pool"),
        pytest.param((*OLD_M_8, *IN_POOL), 7, id="by old names"),
        pytest.param(tuple(M_4.items()), 0, id="of no pool"),
        pytest.param((*M_4.items(), (label_keys.NODEPOOL, "gone")), 0, id="of a pool that is gone"),
        pytest.param(IN_POOL, 0, id="of no offering"),
    ],
)
def test_a_node_without_a_claim_costs_what_its_labels_name(
    labels: tuple[tuple[str, str], ...], price: int
) -> None:
    snapshot = a_snapshot(
        nodes=[_with_labels(a_node("node-1"), labels), _with_labels(a_node("node-2"), ())],
        nodepools=[a_pool("pool")],
        catalogues=[SOLD],
    )

    sold = market(snapshot, SolveOptions(), NOTHING_REMEMBERED)

    assert existing_price(snapshot, sold) == price
    assert unpriced(snapshot) == (("node-2",) if price else ("node-1", "node-2"))


def _with_labels(node: Node, labels: tuple[tuple[str, str], ...]) -> Node:
    return replace(node, labels=labels)
