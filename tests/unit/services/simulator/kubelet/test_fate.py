"""The fates of nodes: which rule counts, and when a kubelet is dead."""

from datetime import UTC, datetime, timedelta

import pytest

from services.simulator.core.kubelet.fate import FateBook, FateRule, NodeFate
from tests.unit.services.simulator.living import a_node

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("rules", "boots"),
    [
        pytest.param((), True, id="no rule"),
        pytest.param((FateRule(fate=NodeFate(boots=False)),), False, id="all nodes"),
        pytest.param((FateRule(name="n1", fate=NodeFate(boots=False)),), False, id="its name"),
        pytest.param((FateRule(name="n2", fate=NodeFate(boots=False)),), True, id="another name"),
        pytest.param(
            (FateRule(labels={"pool": "a"}, fate=NodeFate(boots=False)),), False, id="its label"
        ),
        pytest.param(
            (FateRule(labels={"pool": "b"}, fate=NodeFate(boots=False)),), True, id="another label"
        ),
        pytest.param(
            (FateRule(fate=NodeFate(boots=False)), FateRule(name="n1", fate=NodeFate())),
            True,
            id="the last rule counts",
        ),
    ],
)
def test_the_last_matching_rule_is_the_fate(rules: tuple[FateRule, ...], boots: bool) -> None:
    node = a_node("n1", labels={"pool": "a"})

    assert FateBook(rules).of(node).boots is boots


@pytest.mark.parametrize(
    ("fate", "dead"),
    [
        pytest.param(NodeFate(), False, id="all goes well"),
        pytest.param(NodeFate(dead_since=NOON), True, id="at the instant"),
        pytest.param(NodeFate(dead_since=NOON + MINUTE), False, id="not yet"),
        pytest.param(NodeFate(dead_since=NOON - MINUTE, back_at=NOON + MINUTE), True, id="between"),
        pytest.param(NodeFate(dead_since=NOON - MINUTE, back_at=NOON), False, id="back"),
    ],
)
def test_a_kubelet_is_dead_from_one_instant_until_it_returns(fate: NodeFate, dead: bool) -> None:
    assert fate.is_dead(NOON) is dead
