import pytest

from libs.apiserver.labels import selects_labels
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.selectors import parse_fields, parse_labels


@pytest.mark.parametrize(
    ("selector", "labels", "selected"),
    [
        ("a=b", {"a": "b"}, True),
        ("a==b", {"a": "c"}, False),
        ("a!=b", {}, True),
        ("a in (b, c)", {"a": "c"}, True),
        ("a notin (b)", {}, True),
        ("a", {"a": ""}, True),
        ("!a", {"a": ""}, False),
        ("a>1", {"a": "2"}, True),
        ("a<1", {"a": "x"}, False),
        ("x.io/a=b,c", {"x.io/a": "b"}, False),
        ("e in ()", {"e": ""}, True),
    ],
)
def test_label_selectors(selector: str, labels: dict[str, str], selected: bool) -> None:
    requirements = parse_labels(selector)

    assert all(requirement.matches(labels) for requirement in requirements) is selected


@pytest.mark.parametrize("selector", ["a in b", "=x", ",", "a=x,", "a b", "a in (x y)", "!"])
def test_a_malformed_label_selector_is_a_400(selector: str) -> None:
    with pytest.raises(ApiError) as refused:
        parse_labels(selector)

    assert refused.value.code == 400


@pytest.mark.parametrize(
    ("selector", "labels", "selected"),
    [
        (None, {"a": "b"}, False),
        ({}, {"a": "b"}, True),
        ({"matchLabels": {"a": "b"}}, {"a": "b"}, True),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {}, False),
    ],
)
def test_selector_objects(
    selector: dict[str, object] | None, labels: dict[str, str], selected: bool
) -> None:
    assert selects_labels(selector)(labels) is selected


def test_field_terms_may_escape_commas() -> None:
    (term, other) = parse_fields(r"metadata.name=a\,b,spec.x!=1")

    assert (term.value, term.equal) == ("a,b", True)
    assert (other.field, other.equal) == ("spec.x", False)
