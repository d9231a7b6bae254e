"""Expressions of the Common Expression Language: what they are worth, and which have no value."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from libs.cel.program import compile_expression
from libs.cel.values import CelError, KeyedList, OpenMap, Poison, UInt
from libs.domain.errors import InvalidRequest

SELF: dict[str, Any] = {
    "name": "a-b",
    "count": 3,
    "ratio": 1.5,
    "tags": ["x", "y"],
    "labels": {"team": "core"},
    "items": [{"key": "a"}, {"key": "b", "values": ["1"]}],
    "broken": Poison(message="invalid data, expected int, got float64"),
    "since": datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
}


def evaluate(source: str) -> Any:
    return compile_expression(source, frozenset({"self"})).evaluate({"self": SELF})


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1 + 2 * 3 - 4 / 2", 5),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("7 % -3", 1),
        ("2u + 3u", UInt(value=5)),
        ("0x1F", 31),
        ("1.5e3", 1500.0),
        ("1 == 1.0", True),
        ("1 == 1u", True),
        ("dyn(1) == 'a'", False),
        ("[1, 2] + [3] == [1, 2, 3]", True),
        ("{'a': 1} == {'a': 1.0}", True),
        ("1 < 2 && 'a' < 'b'", True),
        ("true ? 'y' : 'n'", "y"),
        ("false ? 1 : true ? 2 : 3", 2),
        ("!true || !false", True),
        ("'é'.size() == 1 && size('ab') == 2", True),
        (r"'a\n\x41\u00e9\101'", "a\nAéA"),
        (r"r'\n'.size()", 2),
        ("'''it's'''", "it's"),
        (r"b'\xff' == b'\377'", True),
        ("'team' in self.labels && !('x' in self.labels)", True),
        ("3 in [1, 2, 3]", True),
        ("self.labels['team']", "core"),
        ("self.tags[1]", "y"),
        ("has(self.name) && !has(self.missing)", True),
        ("has(self.broken)", True),
        ("self.tags.all(t, t in ['x', 'y'])", True),
        ("self.items.exists(i, i.key == 'b')", True),
        ("self.items.exists_one(i, i.key == 'a')", True),
        ("self.items.map(i, i.key)", ["a", "b"]),
        ("self.items.map(i, has(i.values), i.key)", ["b"]),
        ("self.items.filter(i, has(i.values)).size()", 1),
        ("self.labels.all(k, k == 'team')", True),
        ("self.labels.all(k, v, k == 'team' && v == 'core')", True),
        ("self.tags.transformList(i, t, t + string(i))", ["x0", "y1"]),
        ("cel.bind(n, self.count, n * n)", 9),
        ("self.?missing.orValue('none')", "none"),
        ("self.?labels.?team.value()", "core"),
        ("self.labels[?'x'].hasValue()", False),
        ("self.tags[?7].hasValue()", False),
        ("optional.of(2).optMap(x, x * 2).value()", 4),
        ("[?optional.none(), 1]", [1]),
        ("{?'a': optional.none()}", {}),
        ("optional.none().or(optional.of(1)).value()", 1),
        ("int('+5') + int('007') + int('-0')", 12),
        ("int(2.9)", 2),
        ("string(1.0)", "1"),
        ("double('1.5')", 1.5),
        ("bool('true')", True),
        ("type(1) == int && type('') == string", True),
        ("'abc'.matches('b')", True),
        ("'ab\\n'.matches('b$')", False),
        ("'\\u00a0'.matches('\\\\s')", False),
        ("'a12b3'.find('[0-9]+')", "12"),
        ("'a12b3'.findAll('[0-9]+')", ["12", "3"]),
        ("'a/b/c'.split('/')", ["a", "b", "c"]),
        ("'a/b/c'.split('/', 2)", ["a", "b/c"]),
        ("['a', 'b'].join('-')", "a-b"),
        ("'tacocat'.indexOf('c') * 10 + 'tacocat'.lastIndexOf('c')", 24),
        ("'abc'.substring(1, 2) + 'x'.charAt(0)", "bx"),
        ("'AbÉ'.lowerAscii() + 'é b'.upperAscii()", "abÉé B"),
        ("'  a '.trim() + 'aa'.replace('a', 'b', 1)", "aba"),
        ("'k8s.io'.startsWith('k8s') && 'k8s.io'.endsWith('io') && 'k8s'.contains('8')", True),
        (
            "[1, 2, 2].isSorted() && [3, 1].min() == 1 && [3, 1].max() == 3 && [1, 2].sum() == 3",
            True,
        ),
        ("[1, 2, 1].indexOf(1) * 10 + [1, 2, 1].lastIndexOf(1)", 2),
        ("sets.contains([1, 2], [2]) && sets.equivalent([1, 1], [1])", True),
        ("sets.intersects([1], [2])", False),
        ("quantity('1Gi').isGreaterThan(quantity('1000M'))", True),
        ("quantity('1').add(1).compareTo(quantity('2'))", 0),
        ("quantity('1500m').isInteger()", False),
        ("quantity('2k').asInteger()", 2000),
        ("isQuantity('1x') || isQuantity('x')", False),
        ("duration('1h30m')", timedelta(hours=1, minutes=30)),
        ("duration('0')", timedelta()),
        ("duration('-1.5s').getMilliseconds()", -1500),
        ("self.since + duration('24h') > timestamp('2024-03-01T00:00:00Z')", True),
        ("self.since.getMonth() * 100 + self.since.getDate()", 129),
        ("self.since.getHours('+02:00')", 14),
        ("false && self.missing == 1", False),
        ("self.missing == 1 || true", True),
        ("self.items.all(i, i.values.size() > 5)", False),
        ("self.items.exists(i, i.values.size() == 1)", True),
    ],
)
def test_an_expression_has_its_value(source: str, value: object) -> None:
    result = evaluate(source)

    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("self.missing", "no such key: missing"),
        ("self.broken + 1", "invalid data, expected int, got float64"),
        ("self.?broken.hasValue()", "invalid data, expected int, got float64"),
        ("self.tags[2]", "index out of bounds: 2"),
        ("int(' 5')", "type conversion error from 'string' to 'int'"),
        ("int('1_000')", "type conversion error from 'string' to 'int'"),
        ("int('٣')", "type conversion error from 'string' to 'int'"),
        ("int('1.0')", "type conversion error from 'string' to 'int'"),
        ("int('9223372036854775808')", "type conversion error from 'string' to 'int'"),
        ("9223372036854775807 + 1", "integer overflow"),
        ("1 / 0", "division by zero"),
        ("1 % 0", "modulus by zero"),
        ("self.count + 1.0", "no such overload"),
        ("self.name > 1", "no such overload"),
        ("self.name ? 1 : 2", "no such overload"),
        ("self.items.all(i, i.values.size() > 0)", "no such key: values"),
        ("self.items.exists_one(i, i.values.size() == 1)", "no such key: values"),
        ("true && self.missing", "no such key: missing"),
        ("optional.none().value()", "optional.none() dereference"),
        ("'a'.substring(2)", "index out of range: 2"),
        ("duration('1d')", "type conversion error from 'string' to 'duration'"),
        ("timestamp('2023-02-29T00:00:00Z')", "type conversion error from 'string' to 'timestamp'"),
    ],
)
def test_an_expression_without_a_value_says_why(source: str, message: str) -> None:
    with pytest.raises(CelError) as failure:
        evaluate(source)

    assert str(failure.value) == message


@pytest.mark.parametrize(
    "source",
    [
        "self.a +",
        "other.name",
        "unknown(1)",
        "size()",
        "self.all(1, true)",
        "has(self)",
        "'open",
        "1 2",
        r"'\q'",
        "[1, 2",
    ],
)
def test_what_is_no_expression_is_refused_when_it_is_compiled(source: str) -> None:
    with pytest.raises(InvalidRequest):
        compile_expression(source, frozenset({"self"}))


@pytest.mark.parametrize(
    ("source", "value"),
    [
        pytest.param("self == [2, 1]", False, id="an ordinary list is compared in order"),
        pytest.param("self == other", True, id="two sets are compared without order"),
        pytest.param("(self + [3, 1]).size()", 3, id="adding to a set is a union"),
    ],
)
def test_lists_of_type_set_have_no_order(source: str, value: object) -> None:
    bindings = {
        "self": KeyedList(items=[1, 2], keys=()),
        "other": KeyedList(items=[2, 1], keys=()),
    }

    assert compile_expression(source, frozenset(bindings)).evaluate(bindings) == value


def test_lists_of_type_map_are_compared_and_added_by_key() -> None:
    left = KeyedList(items=[{"k": "a", "v": 1}, {"k": "b", "v": 2}], keys=("k",))
    right = KeyedList(items=[{"k": "b", "v": 2}, {"k": "a", "v": 1}], keys=("k",))
    bindings = {"self": left, "oldSelf": right}

    same = compile_expression("self == oldSelf", frozenset(bindings)).evaluate(bindings)
    added = compile_expression(
        "(self + [{'k': 'a', 'v': 9}]).map(i, i.v)", frozenset(bindings)
    ).evaluate(bindings)

    assert same is True
    assert added == [9, 2]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param('open["a"].x', 1, id="a key that is there"),
        pytest.param("open.a.x", 1, id="as a field"),
        pytest.param('open["b"] == {}', True, id="a key that is not"),
        pytest.param('has(open["b"].x)', False, id="nothing under it"),
        pytest.param("has(open.b)", True, id="every field is there"),
        pytest.param('open[?"b"].hasValue()', True, id="asked for optionally"),
        pytest.param('"b" in open', False, id="not a member"),
        pytest.param("size(open)", 1, id="size"),
        pytest.param("open.all(key, key == 'a')", True, id="loop"),
    ],
)
def test_an_open_map_has_an_empty_map_for_every_key(expression: str, expected: object) -> None:
    program = compile_expression(expression, frozenset({"open"}))

    assert program.evaluate({"open": OpenMap(items={"a": {"x": 1}})}) == expected
