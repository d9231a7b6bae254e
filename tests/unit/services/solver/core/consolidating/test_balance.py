"""The worked checks of the balanced policy."""

import numpy as np
import pytest

from libs.domain.eviction_cost import ONE
from libs.domain.plan import Candidate
from services.solver.core.consolidating.balance import Balance
from services.solver.core.consolidating.leavers import Leaver

CENT = 10**7


def a_leaver(price: int, pool: str = "default") -> Leaver:
    candidate = Candidate(nodeclaim=pool, nodeclaim_uid=pool, node=pool, nodepool=pool)
    return Leaver(
        candidate=candidate,
        groups=(),
        load=np.zeros(2, np.int64),
        price=price * CENT,
        offering=("", "", ""),
    )


@pytest.mark.parametrize(
    ("saving", "units", "approved"),
    [
        pytest.param(484, 4, True, id="given up: 1.67"),
        pytest.param(242, 8, False, id="replaced: 0.42"),
        pytest.param(242, 20, False, id="far too many"),
        pytest.param(2904, 80, True, id="half the price for all pods: exactly 0.5"),
        pytest.param(0, 4, False, id="replaced at the same price"),
    ],
)
def test_a_pool_approves(saving: int, units: int, *, approved: bool) -> None:
    pool = Balance(
        cost={"default": 5808 * CENT},
        disturbance={"default": 80 * ONE},
        of_node={"default": units * ONE},
    )

    assert pool.approves((a_leaver(484),), saving * CENT) is approved


def test_every_balanced_pool_has_to_approve() -> None:
    pools = Balance(
        cost={"default": 100 * CENT, "other": 100 * CENT},
        disturbance={"default": 10, "other": 10},
        of_node={"default": 1, "other": 10},
    )
    leavers = (a_leaver(20), a_leaver(20, "other"))

    assert pools.approves(leavers[:1], 20 * CENT)
    assert not pools.approves(leavers, 40 * CENT)


def test_pools_that_are_not_balanced_approve_of_everything() -> None:
    assert Balance().approves((a_leaver(20),), 1)
