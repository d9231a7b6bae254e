"""How fast an autoscaler follows."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.simulator.core.controllers.scaling.pace import History, Limits, step

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LIMITS = Limits(least=1, most=50)


def policy(kind: str, value: int, seconds: int = 60) -> dict[str, Any]:
    return {"type": kind, "value": value, "periodSeconds": seconds}


def up(*policies: dict[str, Any], select: str = "Max", window: int = 0) -> dict[str, Any]:
    rules = {"stabilizationWindowSeconds": window, "selectPolicy": select}
    return {"scaleUp": {**rules, "policies": list(policies)}}


def down(*policies: dict[str, Any], select: str = "Max", window: int = 0) -> dict[str, Any]:
    return {"scaleDown": up(*policies, select=select, window=window)["scaleUp"]}


@pytest.mark.parametrize(
    ("behavior", "current", "wanted", "replicas", "reason"),
    [
        pytest.param(None, 3, 5, 5, "DesiredWithinRange", id="within"),
        pytest.param(None, 3, 20, 6, "ScaleUpLimit", id="at most twice"),
        pytest.param(None, 1, 20, 4, "ScaleUpLimit", id="or four"),
        pytest.param(None, 40, 70, 50, "TooManyReplicas", id="the most"),
        pytest.param(None, 3, 0, 1, "TooFewReplicas", id="the least"),
        pytest.param(up(policy("Pods", 2)), 3, 20, 5, "ScaleUpLimit", id="two pods"),
        pytest.param(up(policy("Percent", 50)), 3, 20, 5, "ScaleUpLimit", id="half, rounded up"),
        pytest.param(
            up(policy("Pods", 4), policy("Percent", 50)), 3, 20, 7, "ScaleUpLimit", id="the larger"
        ),
        pytest.param(
            up(policy("Pods", 4), policy("Percent", 50), select="Min"),
            3,
            20,
            5,
            "ScaleUpLimit",
            id="the smaller",
        ),
        pytest.param(up(select="Disabled"), 3, 20, 3, "ScaleUpLimit", id="never up"),
        pytest.param(down(policy("Pods", 2)), 9, 1, 7, "ScaleDownLimit", id="two pods less"),
        pytest.param(down(policy("Percent", 10)), 9, 1, 8, "ScaleDownLimit", id="a tenth less"),
        pytest.param(down(select="Disabled"), 9, 1, 9, "ScaleDownLimit", id="never down"),
    ],
)
def test_what_limits_a_step(
    behavior: dict[str, Any] | None, current: int, wanted: int, replicas: int, reason: str
) -> None:
    done = step(behavior, History(), LIMITS, current, wanted, NOON)

    assert (done.replicas, done.limit.reason) == (replicas, reason)


def test_the_highest_recommendation_of_five_minutes_holds() -> None:
    history = History()
    history.recommend(8, NOON)

    soon = step(None, history, LIMITS, 8, 2, NOON + timedelta(seconds=299))
    later = step(None, history, LIMITS, 8, 2, NOON + timedelta(seconds=601))

    assert (soon.replicas, soon.able.reason) == (8, "ScaleDownStabilized")
    assert (later.replicas, later.able.reason) == (2, "ReadyForNewScale")


def test_a_window_holds_back_the_way_up_too() -> None:
    history, behavior = History(), up(policy("Pods", 100), window=60)
    history.recommend(3, NOON)

    soon = step(behavior, history, LIMITS, 3, 9, NOON + timedelta(seconds=30))
    later = step(behavior, history, LIMITS, 3, 9, NOON + timedelta(seconds=95))

    assert (soon.replicas, soon.able.reason) == (3, "ScaleUpStabilized")
    assert later.replicas == 9


def test_what_was_added_in_the_period_counts_against_its_policy() -> None:
    history, behavior = History(), up(policy("Pods", 4, seconds=60))
    history.scale(3, 6, NOON)

    soon = step(behavior, history, LIMITS, 6, 20, NOON + timedelta(seconds=30))
    later = step(behavior, history, LIMITS, 6, 20, NOON + timedelta(seconds=61))

    assert soon.replicas == 7
    assert later.replicas == 10
