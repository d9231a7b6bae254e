"""Worked values of the cost formulas."""

from typing import Any

import pytest

from libs.domain.eviction_cost import ONE, eviction_cost, rescheduling_cost
from tests.support.builders import a_pod


@pytest.mark.parametrize(
    ("override", "cost"),
    [
        pytest.param({}, ONE, id="an ordinary pod"),
        pytest.param({"deletion_cost": 2**27}, 2 * ONE, id="deletion cost counts 2^-27"),
        pytest.param({"deletion_cost": -(2**27)}, 0, id="a negative one lowers it"),
        pytest.param({"priority": 2**25}, 2 * ONE, id="priority counts 2^-25"),
        pytest.param({"deletion_cost": 2**31 - 1}, 10 * ONE, id="deletion cost: at most ten"),
        pytest.param({"priority": 10**9}, 10 * ONE, id="priority: at most ten"),
        pytest.param({"priority": -(2**31)}, -10 * ONE, id="at least minus ten"),
    ],
)
def test_eviction_cost(override: dict[str, Any], cost: int) -> None:
    assert eviction_cost(a_pod(**override)) == cost


def test_a_pod_with_a_negative_cost_does_not_make_its_node_cheaper_to_move() -> None:
    rows = [a_pod("a"), a_pod("b", priority=-(2**31))]

    assert rescheduling_cost(rows) == 2 * ONE
