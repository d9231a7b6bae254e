"""The syntax tree of the Common Expression Language.

Apart from the parser and the evaluator because both need it and neither needs the other. Macros
(`all`, `exists`, `map`, …) are nodes of their own: the parser expands nothing, so that the
evaluator can give each macro its own error rules.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """A constant."""

    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """`operand.field`; `optional` for `operand.?field`, `test_only` for `has(operand.field)`."""

    operand: "Node"
    field: str
    optional: bool = False
    test_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """`operand[key]`; `optional` for `operand[?key]`."""

    operand: "Node"
    key: "Node"
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A function (`target` is None), a member function, or an operator by its symbol."""

    function: str
    target: "Node | None" = None
    arguments: "tuple[Node, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Logical:
    """`left && right` or `left || right`, which absorb an error of one side."""

    conjunction: bool
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditional:
    """`test ? yes : no`."""

    test: "Node"
    yes: "Node"
    no: "Node"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListLiteral:
    """`[a, ?b]`; each item with whether it is optional."""

    items: "tuple[tuple[Node, bool], ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class MapLiteral:
    """`{a: b, ?c: d}`; each key and value with whether the entry is optional."""

    entries: "tuple[tuple[Node, Node, bool], ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Macro:
    """A loop over `target`: `variables` are one (item or key) or two (index or key, then value)."""

    name: str
    target: "Node"
    variables: tuple[str, ...]
    body: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """`cel.bind(name, value, body)`."""

    name: str
    value: "Node"
    body: "Node"


Node: TypeAlias = (
    Literal
    | Identifier
    | Select
    | Index
    | Call
    | Logical
    | Conditional
    | ListLiteral
    | MapLiteral
    | Macro
    | Binding
)

_NODES = (
    Literal,
    Identifier,
    Select,
    Index,
    Call,
    Logical,
    Conditional,
    ListLiteral,
    MapLiteral,
    Macro,
    Binding,
)


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and everything below it, in no particular order."""
    pending: list[Any] = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, tuple):
            pending.extend(current)
        elif isinstance(current, _NODES):
            yield current
            pending.extend(getattr(current, part.name) for part in fields(current))


def depth(node: Node) -> int:
    """Return how many nodes lie within one another at most."""
    deepest = 0
    pending: list[tuple[Any, int]] = [(node, 1)]
    while pending:
        current, level = pending.pop()
        if isinstance(current, tuple):
            pending.extend((part, level) for part in current)
        elif isinstance(current, _NODES):
            deepest = max(deepest, level)
            pending.extend((getattr(current, one.name), level + 1) for one in fields(current))
    return deepest
