"""What a claim allows besides what it is meant to become."""

import pytest

from libs.checker.claims import Purchase, claim_violations, purchase
from libs.domain import labels as keys
from libs.domain.plan import LaunchOption, PlannedNodeClaim
from libs.domain.requirements import Requirements
from tests.support.builders import (
    a_catalogue,
    a_snapshot,
    a_type,
    amounts,
    an_offering,
    require,
)

ROOMY, TIGHT = an_offering("zone-a"), an_offering("zone-b", capacity_override=amounts(cpu=1))
KIND = a_type("t4", capacity=amounts(cpu=4, memory="16Gi", pods=8), offerings=(ROOMY, TIGHT))


@pytest.mark.parametrize(
    ("own", "wrong"),
    [
        pytest.param(
            require(), ["t4 in zone-b as on-demand is allowed, and is too small"], id="open"
        ),
        pytest.param(require((keys.ZONE, "In", ["zone-a"])), [], id="kept to one zone"),
    ],
)
def test_a_claim_allows_no_offering_that_is_too_small(own: Requirements, wrong: list[str]) -> None:
    snapshot = a_snapshot(catalogues=[a_catalogue(KIND)])
    pool = snapshot.nodepools["default"]
    claim = PlannedNodeClaim(
        index=0,
        nodepool=pool.name,
        nodepool_uid=pool.uid,
        nodepool_hash=pool.hash,
        requirements=pool.template.requirements.intersection(own),
        requests=amounts(cpu=2, memory="1Gi", pods=1),
        instance_types=("t4",),
        cheapest=LaunchOption(
            instance_type="t4",
            zone="zone-a",
            capacity_type=ROOMY.capacity_type,
            price_nanos_per_hour=ROOMY.price_nanos_per_hour,
        ),
        pod_uids=(),
    )
    bought = purchase(snapshot, claim)
    assert isinstance(bought, Purchase)

    assert [one.message for one in claim_violations(bought, [])] == wrong
