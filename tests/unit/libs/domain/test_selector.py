"""Label selectors and node selectors over concrete labels."""

import pytest

from libs.domain.errors import InvalidRequest
from libs.domain.requirement import Entry, Operator
from libs.domain.selector import LabelSelector


def entry(key: str, operator: str, *values: str) -> Entry:
    return Entry(key=key, operator=Operator(operator), values=values)


@pytest.mark.parametrize(
    ("expression", "labels", "matches"),
    [
        pytest.param(entry("a", "In", "1", "2"), {"a": "2"}, True, id="in"),
        pytest.param(entry("a", "In", "1"), {}, False, id="in, absent"),
        pytest.param(entry("a", "In", ""), {"a": ""}, True, id="the empty value is a value"),
        pytest.param(entry("a", "NotIn", "1"), {"a": "2"}, True, id="not in"),
        pytest.param(entry("a", "NotIn", "1"), {"a": "1"}, False, id="not in, but is"),
        pytest.param(entry("a", "NotIn", "1"), {}, True, id="not in, absent"),
        pytest.param(entry("a", "Exists"), {"a": ""}, True, id="exists"),
        pytest.param(entry("a", "Exists"), {"b": ""}, False, id="exists, absent"),
        pytest.param(entry("a", "DoesNotExist"), {"b": ""}, True, id="does not exist"),
        pytest.param(entry("a", "DoesNotExist"), {"a": ""}, False, id="does not exist, but does"),
    ],
)
def test_an_expression_selects(expression: Entry, labels: dict[str, str], matches: bool) -> None:
    assert LabelSelector.of(None, [expression]).matches(labels) is matches


def test_the_empty_selector_selects_everything() -> None:
    assert LabelSelector().matches({})
    assert LabelSelector.of({}, []) == LabelSelector()


def test_selectors_that_mean_the_same_are_equal() -> None:
    one = LabelSelector.of({"a": "1"}, [entry("b", "In", "y", "x")])
    other = LabelSelector.of(
        None, [entry("b", "In", "x", "y"), entry("a", "In", "1"), entry("a", "In", "1")]
    )

    assert one == other
    assert hash(one) == hash(other)
    assert one != LabelSelector.of({"a": "1"})


def test_labels_of_pods_have_no_aliases() -> None:
    selector = LabelSelector.of({"beta.kubernetes.io/os": "linux"})

    assert selector.matches({"beta.kubernetes.io/os": "linux"})
    assert not selector.matches({"kubernetes.io/os": "linux"})


@pytest.mark.parametrize(
    ("labels", "expression", "path"),
    [
        pytest.param({}, entry("a", "Gt", "1"), "matchExpressions[0].operator", id="a bound"),
        pytest.param({}, entry("a", "In"), "matchExpressions[0].values", id="In of nothing"),
        pytest.param({}, entry("a", "NotIn"), "matchExpressions[0].values", id="NotIn of nothing"),
        pytest.param({}, entry("a", "Exists", "1"), "matchExpressions[0].values", id="a value"),
        pytest.param({}, entry("a b", "Exists"), "matchExpressions[0]", id="a bad key"),
        pytest.param({}, entry("a", "In", "x y"), "matchExpressions[0]", id="a bad value"),
        pytest.param({"a": "-"}, entry("a", "Exists"), "matchLabels.a", id="a bad label"),
    ],
)
def test_illegal_selectors_are_refused(
    labels: dict[str, str], expression: Entry, path: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        LabelSelector.of(labels, [expression])

    assert caught.value.field == path
