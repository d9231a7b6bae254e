"""Rules of a schema: when they are asked, and what their failure says."""

from typing import Any

import pytest

from libs.apiserver.crd.rules import Outcome, evaluate_rules
from libs.apiserver.crd.schema import MISSING, parse_schema


def judge(rules: list[dict[str, Any]], new: Any, old: Any = MISSING, **schema: Any) -> Outcome:
    node = {**schema, "x-kubernetes-validations": rules}
    whole = {"type": "object", "properties": {"f": node, "other": {"type": "integer"}}}
    before = old if old is MISSING else {"f": old}
    return evaluate_rules({"f": new, "other": 1}, parse_schema(whole), old=before)


def said(outcome: Outcome) -> list[tuple[str, str, str]]:
    return [(error.field, error.reason, error.message) for error in outcome.errors]


INTEGER = {"type": "integer"}
OBJECT = {"type": "object", "properties": {"a": INTEGER, "b": {"type": "string"}}}


@pytest.mark.parametrize(
    ("rule", "value", "schema", "wanted"),
    [
        pytest.param(
            {"rule": "self > 5", "message": "too small"},
            1,
            INTEGER,
            ("f", "FieldValueInvalid", "Invalid value: 1: too small"),
            id="a scalar is shown",
        ),
        pytest.param(
            {"rule": "has(self.a)", "message": "a is needed"},
            {},
            OBJECT,
            ("f", "FieldValueInvalid", "Invalid value: a is needed"),
            id="an object is not shown",
        ),
        pytest.param(
            {"rule": "self > 5"},
            1,
            INTEGER,
            ("f", "FieldValueInvalid", "Invalid value: 1: failed rule: self > 5"),
            id="a rule without a message is quoted",
        ),
        pytest.param(
            {
                "rule": "self.a > 5",
                "messageExpression": "'a is ' + string(self.a)",
                "reason": "FieldValueForbidden",
                "fieldPath": ".a",
            },
            {"a": 1},
            OBJECT,
            ("f.a", "FieldValueForbidden", "Forbidden: a is 1"),
            id="message, reason and field of its own",
        ),
        pytest.param(
            {"rule": "self.a > 5", "message": "m", "messageExpression": "self.b"},
            {"a": 1},
            OBJECT,
            ("f", "FieldValueInvalid", "Invalid value: m"),
            id="a message that has no value falls back",
        ),
        pytest.param(
            {"rule": "self.b != 'x'"},
            {},
            OBJECT,
            (
                "f",
                "FieldValueInvalid",
                "Invalid value: \"object\": no such key: b evaluating rule: self.b != 'x'",
            ),
            id="a rule without a value fails",
        ),
    ],
)
def test_a_failed_rule_says_so(
    rule: dict[str, Any], value: Any, schema: dict[str, Any], wanted: tuple[str, str, str]
) -> None:
    assert said(judge([rule], value, **schema)) == [wanted]


@pytest.mark.parametrize(
    ("rule", "old", "new", "failures"),
    [
        pytest.param({"rule": "self == oldSelf"}, MISSING, 1, 0, id="not asked of a creation"),
        pytest.param({"rule": "self == oldSelf"}, 1, 2, 1, id="asked of an update"),
        pytest.param({"rule": "self >= oldSelf"}, 1, 2, 0, id="holds"),
        pytest.param(
            {"rule": "oldSelf.hasValue()", "optionalOldSelf": True}, MISSING, 1, 1, id="optional"
        ),
        pytest.param(
            {"rule": "oldSelf.value() < self", "optionalOldSelf": True},
            1,
            2,
            0,
            id="optional, there",
        ),
    ],
)
def test_transition_rules(rule: dict[str, Any], old: Any, new: Any, failures: int) -> None:
    assert len(judge([rule], new, old, **INTEGER).errors) == failures


def test_a_rule_that_an_unchanged_value_breaks_is_a_warning() -> None:
    items = {
        "type": "array",
        "items": {**INTEGER, "x-kubernetes-validations": [{"rule": "self > 5"}]},
    }

    unchanged = judge([], [1, 9], [1, 9], **items)
    changed = judge([], [1, 9, 9], [1, 9], **items)

    assert unchanged.errors == ()
    assert [warning.field for warning in unchanged.warnings] == ["f[0]"]
    assert [error.field for error in changed.errors] == ["f[0]"]


@pytest.mark.parametrize(
    ("name", "selection"),
    [
        ("plain", "self.plain"),
        ("namespace", "self.__namespace__"),
        ("a-b", "self.a__dash__b"),
        ("a.b/c", "self.a__dot__b__slash__c"),
        ("a__b", "self.a__underscores__b"),
    ],
)
def test_field_names_are_escaped(name: str, selection: str) -> None:
    schema = {"type": "object", "properties": {name: INTEGER}}

    assert said(judge([{"rule": f"{selection} == 1"}], {name: 1}, **schema)) == []


@pytest.mark.parametrize(
    ("schema", "value", "rule"),
    [
        ({"type": "number"}, 2, "self + 0.5 == 2.5"),
        (
            {"type": "string", "format": "date-time"},
            "2024-01-01T00:00:00Z",
            "self.getFullYear() == 2024",
        ),
        ({"type": "string", "format": "duration"}, "90m", "self == duration('1h30m')"),
        ({"type": "string", "format": "byte"}, "YQ==", "self == b'a'"),
        ({"x-kubernetes-int-or-string": True}, "5%", "type(self) == string ? self == '5%' : false"),
        ({"x-kubernetes-int-or-string": True}, 5, "type(self) == int && self == 5"),
        ({"type": "object", "additionalProperties": INTEGER}, {"a-b": 1}, "self['a-b'] == 1"),
    ],
)
def test_values_have_the_types_of_their_schema(
    schema: dict[str, Any], value: Any, rule: str
) -> None:
    assert said(judge([{"rule": rule}], value, **schema)) == []


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"rule": "self.metadata.name.startsWith('a') && self.kind == 'K'", "message": "m"}, None),
        ({"rule": "has(self.metadata.labels)", "message": "m"}, "<nil>"),
        ({"rule": "self.metadata.name == 'b'", "message": "m", "fieldPath": ".spec"}, "spec"),
    ],
)
def test_rules_on_the_whole_object_see_its_names(rule: dict[str, Any], field: str | None) -> None:
    schema = parse_schema({"type": "object", "x-kubernetes-validations": [rule]})
    body = {"kind": "K", "metadata": {"name": "abc", "labels": {"l": "v"}}}

    assert [error.field for error in evaluate_rules(body, schema).errors] == (
        [field] if field else []
    )
