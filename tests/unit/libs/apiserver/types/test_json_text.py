"""What Go's JSON parser says of texts that are none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.apiserver.types.json_text import problem_of


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "unexpected end of JSON input"),
        (b'{"a":', "unexpected end of JSON input"),
        (b'"a', "unexpected end of JSON input"),
        (b"nul", "invalid character ' ' in literal null (expecting 'l')"),
        (b"trux", "invalid character 'x' in literal true (expecting 'e')"),
        (b"{'a'}", "invalid character '\\'' looking for beginning of object key string"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 2}', "invalid character '2' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b"{} {}", "invalid character '{' after top-level value"),
        (b'"\n"', "invalid character '\\n' in string literal"),
        (b'"\\x"', "invalid character 'x' in string escape code"),
        (b'"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"),
        (b"-x", "invalid character 'x' in numeric literal"),
        (b"1.", "invalid character ' ' after decimal point in numeric literal"),
        (b"1e+", "invalid character ' ' in exponent of numeric literal"),
        (b"01", "invalid character '1' after top-level value"),
        (b"\xff", "invalid character 'ÿ' looking for beginning of value"),
        (b"[" * 10_001, "exceeded max depth"),
    ],
    ids=str,
)
def test_a_text_that_is_no_json_is_told_where_it_goes_wrong(text: bytes, problem: str) -> None:
    assert problem_of(text) == problem


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_json_has_nothing_wrong(value: object) -> None:
    assert problem_of(json.dumps([value, {"a": value}]).encode()) == ""


@given(st.lists(st.sampled_from(['{"a":', "}", "[", "]", ",", "1", '"b"', ":", "null"])))
def test_what_has_something_wrong_is_what_python_does_not_read(parts: list[str]) -> None:
    text = "".join(parts)
    try:
        json.loads(text)
        readable = True
    except ValueError:
        readable = False

    assert (problem_of(text.encode()) == "") is readable
