"""The types of a rule's parts, as far as its schema tells: enough to refuse what cannot be meant.

Kubernetes compiles rules against types made of the schema. Found here: fields that are not there,
comparisons of unlike scalars, and the type of the whole. What is not known is `dyn`, which fits
everything, so nothing is refused that Kubernetes takes.

Source: CEL specification, "Type checking"; Kubernetes documentation, "Validation rules".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from libs.apiserver.crd.typed import escape
from libs.cel import syntax
from libs.cel.parser import parse

Raw = Mapping[str, Any]
Type: TypeAlias = "str | Raw"
"""A name of CEL's, or the schema of an object, map or list."""

DYN = "dyn"
_SCALARS = {"string": "string", "integer": "int", "boolean": "bool", "number": "double"}
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_BOOLS = frozenset(
    {
        *("!", "in", "startsWith", "endsWith", "contains", "matches", "isURL", "isQuantity"),
        *("isIP", "isCIDR", "isSorted", "isGreaterThan", "isLessThan", "isInteger", "hasValue"),
        *_COMPARISONS,
    }
)
_FIELDS_OF_ALL: Raw = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}},
    },
}


@dataclass(frozen=True, slots=True)
class Checked:
    """The type of an expression, and what is wrong in it: (position, explanation)."""

    type: str
    errors: tuple[tuple[int, str], ...]


def check(source: str, schema: Raw, *, is_root: bool) -> Checked:
    """Return the type of a rule that compiles, for values of a structural schema."""
    checker = _Checker(source)
    own = _root(schema) if is_root or schema.get("x-kubernetes-embedded-resource") else schema
    found = checker.type_of(parse(source), {"self": _of_schema(own), "oldSelf": _of_schema(own)})
    return Checked(found if isinstance(found, str) else _name(found), tuple(checker.errors))


def _root(schema: Raw) -> Raw:
    return {**schema, "properties": {**(schema.get("properties") or {}), **_FIELDS_OF_ALL}}


def _of_schema(schema: Raw) -> Type:
    kind = schema.get("type", "")
    if schema.get("x-kubernetes-int-or-string") or not kind or schema.get("format"):
        return DYN if kind != "integer" else "int"
    if kind in ("object", "array"):
        return schema
    return _SCALARS.get(kind, DYN)


def _name(schema: Raw) -> str:
    if schema.get("type") == "array":
        return "list"
    return "map" if isinstance(schema.get("additionalProperties"), Mapping) else "object"


@dataclass(slots=True)
class _Checker:
    source: str
    errors: list[tuple[int, str]] = field(default_factory=list)

    def type_of(self, node: syntax.Node, known: Mapping[str, Type]) -> Type:
        """Return the type of a node, noting what is wrong in and below it."""
        match node:
            case syntax.Select():
                return self._select(node, known)
            case syntax.Index():
                self.type_of(node.key, known)
                return _element(self.type_of(node.operand, known))
            case syntax.Call():
                return self._call(node, known)
            case syntax.Macro():
                return self._macro(node, known)
            case syntax.Binding():
                inner = {**known, node.name: self.type_of(node.value, known)}
                return self.type_of(node.body, inner)
            case syntax.Logical() | syntax.Conditional():
                return self._choice(node, known)
        return _of_leaf(node, known)

    def _choice(self, node: syntax.Logical | syntax.Conditional, known: Mapping[str, Type]) -> Type:
        if isinstance(node, syntax.Logical):
            self.type_of(node.left, known)
            self.type_of(node.right, known)
            return "bool"
        self.type_of(node.test, known)
        yes, no = self.type_of(node.yes, known), self.type_of(node.no, known)
        return yes if yes == no else DYN

    def _select(self, node: syntax.Select, known: Mapping[str, Type]) -> Type:
        above = self.type_of(node.operand, known)
        if isinstance(above, str) or node.optional:
            return "bool" if node.test_only else DYN
        values = above.get("additionalProperties")
        if isinstance(values, Mapping):
            return "bool" if node.test_only else _of_schema(values)
        for name, schema in (above.get("properties") or {}).items():
            if escape(name) == node.field:
                return "bool" if node.test_only else _of_schema(schema)
        if above.get("x-kubernetes-preserve-unknown-fields") and not above.get("properties"):
            return DYN
        self.errors.append(
            (self._place(rf"\.\s*{re.escape(node.field)}\b"), f"undefined field '{node.field}'")
        )
        return DYN

    def _call(self, node: syntax.Call, known: Mapping[str, Type]) -> Type:
        parts = [self.type_of(part, known) for part in (node.target, *node.arguments) if part]
        if node.function in _COMPARISONS and len(parts) == 2:
            left, right = parts
            if _differ(left, right):
                at = self._place(rf"(?<![=!<>]){re.escape(node.function)}(?!=)")
                applied = f"applied to '({left}, {right})'"
                why = f"found no matching overload for '_{node.function}_' {applied}"
                self.errors.append((at, why))
        if node.function in _BOOLS:
            return "bool"
        return "int" if node.function == "size" else DYN

    def _macro(self, node: syntax.Macro, known: Mapping[str, Type]) -> Type:
        target = self.type_of(node.target, known)
        item = _element(target)
        if len(node.variables) == 1:
            is_map = isinstance(target, Mapping) and target.get("type") == "object"
            inner = {**known, node.variables[0]: "string" if is_map else item}
        else:
            inner = {**known, node.variables[0]: DYN, node.variables[1]: item}
        for part in node.body:
            self.type_of(part, inner)
        return "bool" if node.name in ("all", "exists", "exists_one", "existsOne") else DYN

    def _place(self, pattern: str) -> int:
        found = re.search(pattern, self.source)
        return found.start() if found else 0


def _of_leaf(node: syntax.Node, known: Mapping[str, Type]) -> Type:
    match node:
        case syntax.Literal():
            return _of_value(node.value)
        case syntax.Identifier():
            return known.get(node.name, DYN)
        case syntax.ListLiteral():
            return "list"
    return "map"


def _of_value(value: Any) -> Type:
    kinds = {bool: "bool", int: "int", float: "double", str: "string", type(None): "null_type"}
    return kinds.get(type(value), DYN)


def _element(target: Type) -> Type:
    if isinstance(target, str):
        return DYN
    inner = target.get("items") or target.get("additionalProperties")
    return _of_schema(inner) if isinstance(inner, Mapping) else DYN


def _differ(left: Type, right: Type) -> bool:
    """Tell whether two scalars are of types that cannot be compared."""
    names = ("string", "int", "bool", "double")
    if left not in names or right not in names or left == right:
        return False
    return {left, right} != {"int", "double"}
