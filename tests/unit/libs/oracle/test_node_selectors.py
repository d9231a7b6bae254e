from typing import Any

import pytest

from libs.oracle.node_selectors import read_node_selector, read_term

LABELS = {"zone": "a", "gen": "007", "size": "1_000"}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def field(operator: str, *values: str) -> dict[str, Any]:
    requirement = {"key": "metadata.name", "operator": operator, "values": list(values)}
    return {"matchFields": [requirement]}


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        pytest.param(expression("zone", "In", "a", "b"), True, id="In"),
        pytest.param(expression("rack", "In", "a"), False, id="In without the label"),
        pytest.param(expression("rack", "NotIn", "a"), True, id="NotIn without the label"),
        pytest.param(expression("zone", "NotIn", "a"), False, id="NotIn"),
        pytest.param(expression("zone", "Exists"), True, id="Exists"),
        pytest.param(expression("zone", "DoesNotExist"), False, id="DoesNotExist"),
        pytest.param(expression("gen", "Gt", "6"), True, id="Gt reads leading zeroes"),
        pytest.param(expression("gen", "Gt", "7"), False, id="Gt excludes its bound"),
        pytest.param(expression("gen", "Lt", "8"), True, id="Lt"),
        pytest.param(expression("size", "Gt", "1"), False, id="Gt reads Go's integers only"),
        pytest.param(expression("rack", "Lt", "8"), False, id="Lt without the label"),
        pytest.param(expression("gen", "Gt", "x"), False, id="Gt of no number"),
        pytest.param(expression("gen", "Lt", "9" * 20), False, id="Lt beyond int64"),
        pytest.param(expression("gen", "Gt", "1", "2"), False, id="Gt of two numbers"),
        pytest.param(expression("zone", "Exists", "a"), False, id="Exists with values"),
        pytest.param(expression("zone", "NotIn", "no label"), False, id="value no label can have"),
        pytest.param(expression("zone", "Near", "a"), False, id="unknown operator"),
        pytest.param(field("In", "n1"), True, id="field"),
        pytest.param(field("NotIn", "n1"), False, id="field NotIn"),
        pytest.param(field("In", "n1", "n2"), False, id="field with two values"),
        pytest.param({**expression("zone", "Exists"), **field("In", "n2")}, False, id="both"),
        pytest.param({}, False, id="empty term"),
    ],
)
def test_terms_match_as_documented(term: dict[str, Any], expected: bool) -> None:
    assert read_term(term)(LABELS, "n1") is expected


def test_a_broken_term_does_not_break_its_alternatives() -> None:
    terms = [expression("gen", "Gt", "x"), expression("zone", "In", "a")]

    assert read_node_selector({"nodeSelectorTerms": terms})(LABELS, "n1")
    assert not read_node_selector({"nodeSelectorTerms": terms[:1]})(LABELS, "n1")
    assert not read_node_selector({"nodeSelectorTerms": []})(LABELS, "n1")
