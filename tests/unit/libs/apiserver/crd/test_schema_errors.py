"""Schema errors: which causes a value gets, word for word."""

from typing import Any

import pytest

from libs.apiserver.crd.schema import MISSING, parse_schema
from libs.apiserver.crd.validation import validate

INT_OR_STRING = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": "^[0-9]+%$",
}


def mistyped(field: str, wanted: str, got: str) -> str:
    what = f'{field} in body must be of type {wanted}: "{got}"'
    return f'{field} FieldValueTypeInvalid Invalid value: "{got}": {what}'


def not_of_range(what: str) -> str:
    return (
        f'<nil> FieldValueInvalid Invalid value: "": Checked value must be of type integer {what}'
    )


def causes(schema: dict[str, Any], value: object, old: object = MISSING) -> list[str]:
    whole = {"type": "object", "properties": {"f": schema}}
    before = old if old is MISSING else {"f": old}
    errors = validate({"f": value}, parse_schema(whole), old=before)
    return [f"{error.field} {error.reason} {error.message}" for error in errors]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({"type": "integer"}, 2.0, id="a whole double is an integer"),
        pytest.param({"type": "number"}, 2, id="an integer is a number"),
        pytest.param({"type": "string", "nullable": True}, None, id="null where it is allowed"),
        pytest.param({"type": "string", "format": "date-time"}, "2024-01-01t00:00:00,5z", id="lax"),
        pytest.param(
            {"type": "string", "format": "nonsense"}, "x", id="unknown formats say nothing"
        ),
        pytest.param({"type": "string", "maxLength": 1}, "é", id="lengths count characters"),
        pytest.param(INT_OR_STRING, 5, id="a pattern is about strings"),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": "string"}}}, {}, id="optional"
        ),
        pytest.param({"x-kubernetes-preserve-unknown-fields": True}, [1, "a"], id="untyped"),
    ],
)
def test_a_value_that_fits_has_no_causes(schema: dict[str, Any], value: object) -> None:
    assert causes(schema, value) == []


@pytest.mark.parametrize(
    ("schema", "value", "wanted"),
    [
        (
            {"type": "string"},
            5,
            mistyped("f", "string", "integer"),
        ),
        (
            {"type": "array", "items": {"type": "object"}},
            [None],
            mistyped("f[0]", "object", "null"),
        ),
        (
            {"type": "string", "enum": ["A", "B"]},
            "C",
            'f FieldValueNotSupported Unsupported value: "C": supported values: "A", "B"',
        ),
        (
            {"type": "string", "pattern": "^[a-z]$"},
            "a\n",
            "f FieldValueInvalid Invalid value: \"a\\n\": f in body should match '^[a-z]$'",
        ),
        (
            {"type": "string", "minLength": 2},
            "a",
            'f FieldValueInvalid Invalid value: "a": f in body should be at least 2 chars long',
        ),
        (
            {"type": "string", "maxLength": 2},
            "abc",
            "f FieldValueTooLong Too long: may not be more than 2 bytes",
        ),
        (
            {"type": "string", "format": "date-time"},
            "2024-01-01T24:00:00Z",
            'f FieldValueTypeInvalid Invalid value: "2024-01-01T24:00:00Z": '
            'f in body must be of type date-time: "2024-01-01T24:00:00Z"',
        ),
        (
            {"type": "integer", "minimum": 1},
            0,
            "f FieldValueInvalid Invalid value: 0: f in body should be greater than or equal to 1",
        ),
        (
            {"type": "integer", "maximum": 10, "exclusiveMaximum": True},
            10,
            "f FieldValueInvalid Invalid value: 10: f in body should be less than 10",
        ),
        (
            {"type": "integer", "multipleOf": 2},
            3,
            "f FieldValueInvalid Invalid value: 3: f in body should be a multiple of 2",
        ),
        (
            {"type": "array", "minItems": 1, "items": {"type": "string"}},
            [],
            "f FieldValueInvalid Invalid value: 0: f in body should have at least 1 items",
        ),
        (
            {"type": "array", "maxItems": 1, "items": {"type": "string"}},
            ["a", "b"],
            "f FieldValueTooMany Too many: 2: must have at most 1 items",
        ),
        (
            {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "string"}},
            {"a": "b", "c": "d"},
            "f FieldValueTooMany Too many: 2: must have at most 1 items",
        ),
        (
            {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}},
            {},
            "f.a FieldValueRequired Required value",
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"x/y": 1},
            mistyped("f.x/y", "string", "integer"),
        ),
    ],
)
def test_a_value_that_does_not_fit_gets_the_cause(
    schema: dict[str, Any], value: object, wanted: str
) -> None:
    assert causes(schema, value) == [wanted]


@pytest.mark.parametrize(
    ("schema", "value", "wanted"),
    [
        ({"type": "integer"}, 1.5, [mistyped("f", "integer", "number"), "(default format) in f"]),
        (
            {"type": "integer", "format": "int32"},
            1.5,
            [mistyped("f", "int32", "float64"), "with format int32 in f"],
        ),
        ({"type": "integer", "format": "int32"}, 2**31, ["with format int32 in f"]),
        (
            {"type": "integer", "format": "int64"},
            float(2**63),
            [mistyped("f", "int64", "float64"), "with format int64 in f"],
        ),
    ],
)
def test_a_number_outside_its_type_belongs_to_no_field(
    schema: dict[str, Any], value: object, wanted: list[str]
) -> None:
    *types, outside = wanted

    assert causes(schema, value) == [*types, not_of_range(outside)]


def test_an_int_or_string_that_is_neither_gets_all_causes() -> None:
    assert causes(INT_OR_STRING, True) == [
        mistyped("f", "integer,string", "boolean"),
        '<nil> FieldValueInvalid Invalid value: "": "f" must validate at least one schema (anyOf)',
        mistyped("f", "integer", "boolean"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        pytest.param({"a": "bad"}, {"a": "bad", "b": 1}, 0, id="an unchanged value is forgiven"),
        pytest.param({"a": "bad"}, {"a": "worse"}, 1, id="a changed one is not"),
        pytest.param({"b": 1}, {"a": "bad", "b": 1}, 1, id="a new one is not"),
        pytest.param({"l": ["bad"]}, {"l": ["bad"], "b": 1}, 0, id="an unchanged list is forgiven"),
        pytest.param({"l": ["bad"]}, {"l": ["bad", "x"]}, 1, id="items of a changed one are not"),
        pytest.param({"l": [1]}, {"l": [1.0], "b": 1}, 1, id="2 and 2.0 differ"),
        pytest.param(
            {"m": [{"k": "a", "v": "bad"}]},
            {"m": [{"k": "b", "v": "x"}, {"k": "a", "v": "bad"}]},
            0,
            id="items of a list of type map correspond by key",
        ),
    ],
)
def test_an_update_is_forgiven_what_it_leaves_alone(old: object, new: object, count: int) -> None:
    short = {"type": "string", "maxLength": 1}
    keyed = {"type": "object", "properties": {"k": {"type": "string"}, "v": short}}
    schema = {
        "type": "object",
        "properties": {
            "a": short,
            "b": {"type": "integer"},
            "l": {"type": "array", "items": short},
            "m": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": keyed,
            },
        },
    }

    assert len(causes(schema, new, old)) == count
