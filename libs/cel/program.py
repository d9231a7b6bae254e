"""A CEL expression compiled once into nested Python functions, then evaluated many times.

Closures rather than a walk over the tree at each evaluation: a rule runs on every write, and this
is some thirty times as fast as the walking evaluator that was tried
(`docs/decisions/0003-own-cel-evaluator.md`).

Laws: evaluation has no effect but its value; `&&`, `||`, `all` and `exists` give an answer where
one side decides it, whatever error the other side has.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from libs.cel import macros, syntax
from libs.cel.functions import FUNCTIONS
from libs.cel.operators import BINARY, invert, lookup, lookup_optional, negate
from libs.cel.parser import parse
from libs.cel.values import CelError, OpenMap, OptionalValue, TypeValue, Value, read
from libs.domain.errors import InvalidRequest

Scope: TypeAlias = dict[str, Value]
Code: TypeAlias = Callable[[Scope], Value]

_TYPE_NAMES = frozenset(
    {"bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A compiled expression."""

    source: str
    variables: frozenset[str]
    """Names of the declared variables that the expression reads."""
    code: Code

    def evaluate(self, bindings: Mapping[str, Value], left: list[int] | None = None) -> Value:
        """Return the expression's value.

        Args:
            bindings: values of the variables.
            left: one number, how many steps all loops may take, lowered by those that are taken.

        Raises:
            CelError: it has none for these bindings.
        """
        steps = [macros.MOST_STEPS] if left is None else left
        return self.code({**bindings, macros.STEPS_LEFT: steps})


def compile_expression(source: str, variables: frozenset[str]) -> Program:
    """Compile an expression that may read `variables`.

    Raises:
        InvalidRequest: no CEL, too long or nested too deeply, or it names a variable or function
            that does not exist.
    """
    node = parse(source)
    used = frozenset(
        part.name
        for part in syntax.walk(node)
        if isinstance(part, syntax.Identifier) and part.name in variables
    )
    return Program(source=source, variables=used, code=_compile(node, variables))


def _compile(node: syntax.Node, known: frozenset[str]) -> Code:
    match node:
        case syntax.Literal():
            constant = node.value
            return lambda scope: constant
        case syntax.Identifier():
            return _identifier(node.name, known)
        case syntax.Select():
            return _select(node, known)
        case syntax.Call():
            return _call(node, known)
        case syntax.Logical():
            return _logical(node, known)
        case syntax.Macro():
            return _macro(node, known)
        case _:
            return _compile_rarer(node, known)


def _compile_rarer(node: syntax.Node, known: frozenset[str]) -> Code:
    match node:
        case syntax.Index():
            operand, key = _compile(node.operand, known), _compile(node.key, known)
            get = lookup_optional if node.optional else lookup
            return lambda scope: get(operand(scope), key(scope))
        case syntax.Conditional():
            return _conditional(node, known)
        case syntax.ListLiteral():
            return _list(node, known)
        case syntax.MapLiteral():
            return _map(node, known)
        case syntax.Binding():
            name, value = node.name, _compile(node.value, known)
            body = _compile(node.body, known | {name})
            return lambda scope: body({**scope, name: value(scope)})
        case _:
            raise AssertionError(node)


def _identifier(name: str, known: frozenset[str]) -> Code:
    if name in known:
        return lambda scope: read(scope[name])
    if name in _TYPE_NAMES:
        constant = TypeValue(name=name)
        return lambda scope: constant
    raise InvalidRequest(f"undeclared reference to {name!r}")


def _select(node: syntax.Select, known: frozenset[str]) -> Code:
    operand, name = _compile(node.operand, known), node.field
    if node.optional:
        return lambda scope: lookup_optional(operand(scope), name)

    def select(scope: Scope) -> Value:
        container = operand(scope)
        if type(container) is dict:
            if name in container:
                return read(container[name])
            raise CelError(f"no such key: {name}")
        if type(container) in (OptionalValue, OpenMap):
            return lookup(container, name)
        raise CelError("no such overload")

    def has(scope: Scope) -> bool:
        container = operand(scope)
        if type(container) is OptionalValue:
            return lookup_optional(container, name).present
        if type(container) is OpenMap:
            return True
        if type(container) is not dict:
            raise CelError("no such overload")
        return name in container

    return has if node.test_only else select


def _call(node: syntax.Call, known: frozenset[str]) -> Code:
    arguments = node.arguments if node.target is None else (node.target, *node.arguments)
    codes = tuple(_compile(argument, known) for argument in arguments)
    function = _function(node)
    if len(codes) == 1:
        only = codes[0]
        return lambda scope: function(only(scope))
    if len(codes) == 2:
        first, second = codes
        return lambda scope: function(first(scope), second(scope))
    return lambda scope: function(*[code(scope) for code in codes])


def _function(node: syntax.Call) -> Callable[..., Value]:
    if node.target is None and len(node.arguments) == 2 and node.function in BINARY:
        return BINARY[node.function]
    if node.target is None and node.function == "!":
        return invert
    if node.target is None and node.function == "negate":
        return negate
    count = len(node.arguments) + (node.target is not None)
    key = (node.function, node.target is not None)
    if key not in FUNCTIONS:
        raise InvalidRequest(f"undeclared reference to {node.function!r}")
    counts, function = FUNCTIONS[key]
    if count not in counts:
        raise InvalidRequest(f"found no matching overload for {node.function!r}")
    return function


def _logical(node: syntax.Logical, known: frozenset[str]) -> Code:
    left, right = _compile(node.left, known), _compile(node.right, known)
    decisive = not node.conjunction

    def logical(scope: Scope) -> bool:
        try:
            first = macros.boolean(left(scope))
        except CelError:
            if macros.boolean(right(scope)) is decisive:
                return decisive
            raise
        return decisive if first is decisive else macros.boolean(right(scope))

    return logical


def _conditional(node: syntax.Conditional, known: frozenset[str]) -> Code:
    test, yes, no = (_compile(part, known) for part in (node.test, node.yes, node.no))
    return lambda scope: yes(scope) if macros.boolean(test(scope)) else no(scope)


def _list(node: syntax.ListLiteral, known: frozenset[str]) -> Code:
    codes = [(_compile(item, known), optional) for item, optional in node.items]
    if not any(optional for _, optional in codes):
        plain = [code for code, _ in codes]
        return lambda scope: [code(scope) for code in plain]

    def build(scope: Scope) -> list[Value]:
        values = [(code(scope), optional) for code, optional in codes]
        return [
            value.value if optional else value
            for value, optional in values
            if not optional or value.present
        ]

    return build


def _map(node: syntax.MapLiteral, known: frozenset[str]) -> Code:
    codes = [
        (_compile(key, known), _compile(value, known), optional)
        for key, value, optional in node.entries
    ]

    def build(scope: Scope) -> dict[Any, Value]:
        values = [(key(scope), value(scope), optional) for key, value, optional in codes]
        return {
            key: value.value if optional else value
            for key, value, optional in values
            if not optional or value.present
        }

    return build


def _macro(node: syntax.Macro, known: frozenset[str]) -> Code:
    target = _compile(node.target, known)
    inner = known | set(node.variables)
    loop = macros.Loop(
        variables=node.variables,
        body=tuple(_compile(part, inner) for part in node.body),
        steps=1 + sum(1 for part in node.body for _ in syntax.walk(part)),
    )
    run = macros.MACROS[node.name]
    return lambda scope: run(loop, target(scope), dict(scope))
