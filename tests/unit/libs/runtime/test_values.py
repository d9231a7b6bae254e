import enum
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from libs.runtime.values import parse_value


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        pytest.param("", str, "", id="empty text"),
        pytest.param("-12", int, -12, id="negative number"),
        pytest.param("1.5", float, 1.5, id="float"),
        pytest.param("TRUE", bool, True, id="bool of any case"),
        pytest.param("10s", timedelta, timedelta(seconds=10), id="seconds"),
        pytest.param("1h30m", timedelta, timedelta(minutes=90), id="hours and minutes"),
        pytest.param("1.5s250ms", timedelta, timedelta(milliseconds=1750), id="fractions"),
        pytest.param("0", timedelta, timedelta(), id="zero needs no unit"),
        pytest.param("blue", Colour, Colour.BLUE, id="enum"),
        pytest.param("a, b,,c", tuple[str, ...], ("a", "b", "c"), id="list"),
        pytest.param(
            "1s,2s", tuple[timedelta, ...], (timedelta(0, 1), timedelta(0, 2)), id="spans"
        ),
        pytest.param("", tuple[int, ...], (), id="empty list"),
        pytest.param("a=1, b=2", Mapping[str, int], {"a": 1, "b": 2}, id="mapping"),
        pytest.param("k=a=b", dict[str, str], {"k": "a=b"}, id="value with an equals sign"),
        pytest.param("", int | None, None, id="empty optional"),
        pytest.param("3", int | None, 3, id="optional"),
        pytest.param("/etc/x", Path | None, Path("/etc/x"), id="path"),
    ],
)
def test_a_value_is_parsed_by_its_type(text: str, kind: Any, value: object) -> None:
    assert parse_value(text, kind) == value


@pytest.mark.parametrize(
    ("text", "kind", "problem"),
    [
        pytest.param("1_0", int, "whole number", id="underscore"),
        pytest.param("1.0", int, "whole number", id="fraction for an int"),
        pytest.param("9" * 5000, int, "whole number", id="number without end"),
        pytest.param("nan", float, "finite", id="not a number"),
        pytest.param("x", float, "not a number", id="word for a float"),
        pytest.param("yes", bool, "true nor false", id="yes"),
        pytest.param("10", timedelta, "span of time", id="span without unit"),
        pytest.param("-5s", timedelta, "span of time", id="negative span"),
        pytest.param("5s ", timedelta, "span of time", id="trailing space"),
        pytest.param("9" * 30 + "d", timedelta, "too long", id="span without end"),
        pytest.param("green", Colour, "none of red, blue", id="unknown member"),
        pytest.param("a", Mapping[str, int], "key=value", id="no value"),
        pytest.param("a=1,a=2", Mapping[str, int], "'a' twice", id="key twice"),
        pytest.param("a=x", Mapping[str, int], "whole number", id="bad value in a mapping"),
        pytest.param("", Path, "not a path", id="empty path"),
    ],
)
def test_what_is_no_value_says_why(text: str, kind: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_value(text, kind)


@pytest.mark.parametrize("kind", [list[str], int | str, object], ids=str)
def test_a_type_outside_the_grammar_is_a_programming_error(kind: Any) -> None:
    with pytest.raises(TypeError, match="a setting cannot have"):
        parse_value("x", kind)
