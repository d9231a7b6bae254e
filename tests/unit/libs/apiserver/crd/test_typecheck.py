"""What is known of a rule's types: enough to refuse, never more."""

from typing import Any

import pytest

from libs.apiserver.crd.typecheck import check

ITEM = {"type": "object", "properties": {"k": {"type": "string"}}}
SCHEMA = {
    "type": "object",
    "properties": {
        "s": {"type": "string"},
        "n": {"type": "integer"},
        "q": {"x-kubernetes-int-or-string": True},
        "list": {
            "type": "array",
            "items": {"type": "object", "properties": {"k": {"type": "string"}}},
        },
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "a-b": {"type": "boolean"},
    },
}


@pytest.mark.parametrize(
    ("rule", "type_"),
    [
        ("self.s == 'a'", "bool"),
        ("has(self.s) && self.n > 1", "bool"),
        ("self.list.all(x, x.k != '')", "bool"),
        ("self.map['x'].startsWith('a')", "bool"),
        ("self.map.x == 'a'", "bool"),
        ("self.a__dash__b", "bool"),
        ("self.s", "string"),
        ("size(self.list)", "int"),
        ("self.list.map(x, x.k)", "dyn"),
        ("self.open.anything", "dyn"),
        ("self.q", "dyn"),
        ("self.n > 1 ? self.s : 'x'", "string"),
        ("oldSelf.n <= self.n", "bool"),
        ("self.metadata.name == 'x'", "bool"),
        ("self.n == 1.5", "bool"),
        ("self.q == 1 || self.q == '1'", "bool"),
        ("cel.bind(v, self.s, v == 'a')", "bool"),
    ],
)
def test_a_sound_rule_has_a_type_and_no_error(rule: str, type_: str) -> None:
    found = check(rule, SCHEMA, is_root=True)

    assert (found.type, found.errors) == (type_, ())


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        ("self.none == 1", (4, "undefined field 'none'")),
        ("has(self.none)", (8, "undefined field 'none'")),
        ("self.list.exists(x, x.none == '')", (21, "undefined field 'none'")),
        (
            "self.s > 1",
            (7, "found no matching overload for '_>_' applied to '(string, int)'"),
        ),
        (
            "self.n == 'x'",
            (7, "found no matching overload for '_==_' applied to '(int, string)'"),
        ),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_place(rule: str, error: tuple[int, str]) -> None:
    assert check(rule, SCHEMA, is_root=False).errors == (error,)


def test_our_own_rules_are_sound() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"spec": SCHEMA}}

    assert check("self.spec.s == oldSelf.spec.s", schema, is_root=True).errors == ()
