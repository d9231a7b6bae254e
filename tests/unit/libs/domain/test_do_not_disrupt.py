"""The annotation that keeps pods and nodes from being disrupted."""

import pytest

from libs.domain import do_not_disrupt as dnd


@pytest.mark.parametrize(
    ("text", "span_ms", "is_problem"),
    [
        pytest.param(None, dnd.NONE, False, id="absent"),
        pytest.param("true", dnd.FOR_EVER, False, id="true"),
        pytest.param("30m", 30 * 60_000, False, id="a duration"),
        pytest.param("1us", 1, False, id="a tiny duration rounds up"),
        pytest.param("false", dnd.NONE, True, id="false is no duration"),
        pytest.param("True", dnd.NONE, True, id="spelling counts"),
        pytest.param("", dnd.NONE, True, id="empty"),
        pytest.param("0s", dnd.NONE, True, id="zero"),
        pytest.param("-5m", dnd.NONE, True, id="negative"),
        pytest.param("1d", dnd.NONE, True, id="days"),
    ],
)
def test_an_annotation_protects_for_a_span(
    text: str | None, span_ms: int, is_problem: bool
) -> None:
    protection = dnd.parse({} if text is None else {dnd.ANNOTATION: text})

    assert protection.span_ms == span_ms
    assert (protection.problem is not None) is is_problem


@pytest.mark.parametrize(
    ("span_ms", "started_ms", "now_ms", "held"),
    [
        pytest.param(dnd.NONE, 0, 50, False, id="none"),
        pytest.param(dnd.FOR_EVER, 10, 10**15, True, id="for ever"),
        pytest.param(100, 1000, 1099, True, id="within"),
        pytest.param(100, 1000, 1100, False, id="over"),
        pytest.param(100, 0, 10**15, True, id="not started"),
    ],
)
def test_protection_runs_from_the_start_of_the_pod(
    span_ms: int, started_ms: int, now_ms: int, held: bool
) -> None:
    assert dnd.protects(span_ms, started_ms=started_ms, now_ms=now_ms) is held


def test_only_a_running_span_has_an_end() -> None:
    assert dnd.protected_until_ms(100, started_ms=1000) == 1100
    assert dnd.protected_until_ms(100, started_ms=0) is None
    assert dnd.protected_until_ms(dnd.FOR_EVER, started_ms=1000) is None


def test_nodes_know_no_durations() -> None:
    assert dnd.node_is_protected({dnd.ANNOTATION: "true"})
    assert not dnd.node_is_protected({dnd.ANNOTATION: "30m"})
    assert not dnd.node_is_protected({})
