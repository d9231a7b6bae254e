"""How many replicas a metric asks for."""

import pytest

from libs.domain.errors import InvalidRequest
from services.simulator.core.controllers.scaling.proposal import (
    Sample,
    Target,
    Tolerance,
    propose,
)

HALF = Target(percent=50)
UNREADY = Sample(used=900, requested=1000, is_ready=False)
MISSING = Sample(used=None, requested=1000, is_ready=True)


def busy(*used: float) -> list[Sample]:
    return [Sample(used=one, requested=1000, is_ready=True) for one in used]


@pytest.mark.parametrize(
    ("samples", "target", "current", "replicas"),
    [
        pytest.param(busy(500, 500), HALF, 2, 2, id="on target"),
        pytest.param(busy(540, 540), HALF, 2, 2, id="within tolerance"),
        pytest.param(busy(1000, 1000), HALF, 2, 4, id="twice as much"),
        pytest.param(busy(100, 100, 100, 100), HALF, 4, 1, id="a fifth"),
        pytest.param(busy(600), Target(average=200), 1, 3, id="average value"),
        pytest.param([*busy(1000), UNREADY], HALF, 2, 2, id="who starts counts as idle"),
        pytest.param([*busy(1000, 1000, 1000), UNREADY], HALF, 4, 6, id="but still more"),
        pytest.param([*busy(100), MISSING], HALF, 2, 2, id="the unknown count as busy"),
        pytest.param([*busy(1000, 1000), MISSING], HALF, 3, 4, id="or as idle"),
        pytest.param([*busy(100), UNREADY], HALF, 2, 1, id="who starts does not hold up"),
    ],
)
def test_the_replicas_that_usage_asks_for(
    samples: list[Sample], target: Target, current: int, replicas: int
) -> None:
    assert propose(samples, target, Tolerance(), current).replicas == replicas


def test_nothing_is_asked_where_nothing_is_known() -> None:
    with pytest.raises(InvalidRequest, match="did not receive metrics"):
        propose([UNREADY], HALF, Tolerance(), 1)


def test_a_narrower_tolerance_acts_earlier() -> None:
    assert propose(busy(530, 530), HALF, Tolerance(up=0.05), 2).replicas == 3
