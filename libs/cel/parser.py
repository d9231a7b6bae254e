"""Text of a CEL expression into its syntax tree: recursive descent over the language's grammar.

Source: the grammar of the CEL language definition, with the optional syntax (`.?field`, `[?key]`)
and the two-variable comprehensions that Kubernetes enables.
"""

from collections.abc import Callable

from libs.cel.lexer import Token, tokenize
from libs.cel.syntax import (
    Binding,
    Call,
    Conditional,
    Identifier,
    Index,
    ListLiteral,
    Literal,
    Logical,
    Macro,
    MapLiteral,
    Node,
    Select,
    depth,
)
from libs.domain.errors import InvalidRequest

_RELATIONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "in"})

_MACROS = {
    "all": frozenset({2, 3}),
    "exists": frozenset({2, 3}),
    "exists_one": frozenset({2, 3}),
    "existsOne": frozenset({2, 3}),
    "map": frozenset({2, 3}),
    "filter": frozenset({2}),
    "transformList": frozenset({3, 4}),
    "transformMap": frozenset({3, 4}),
    "optMap": frozenset({2}),
    "optFlatMap": frozenset({2}),
}
"""Member macros and how many arguments each may have."""

_ONE_VARIABLE = frozenset({"map", "filter", "optMap", "optFlatMap"})

_NAMESPACES = frozenset({"optional", "sets", "ip", "cidr", "math", "strings"})

MOST_CHARACTERS = 10 * 1024
"""Longer than Kubernetes accepts as a selector of devices."""
_MOST_LEVELS = 40
"""Brackets and signs within one another: each takes some ten of Python's thousand frames."""
_MOST_DEPTH = 150
"""Nodes within one another, of which each takes up to three frames when it is compiled or run."""


def parse(source: str) -> Node:
    """Parse one expression.

    Raises:
        InvalidRequest: it is not CEL, the message says where; or too long or nested too deeply.
    """
    if len(source) > MOST_CHARACTERS:
        raise InvalidRequest(f"{len(source)} characters are more than {MOST_CHARACTERS}")
    parser = _Parser(tokenize(source))
    node = parser.expression()
    parser.expect_end()
    if depth(node) > _MOST_DEPTH:
        raise InvalidRequest(f"is nested more than {_MOST_DEPTH} deep")
    return node


class _Parser:
    """A cursor over the tokens; one method per level of the grammar, loosest binding first."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._levels = 0

    def expect_end(self) -> None:
        if self._peek().kind != "end":
            raise self._unexpected()

    def expression(self) -> Node:
        return self._nested(self._conditional)

    def _nested(self, read: Callable[[], Node]) -> Node:
        """Read what lies within brackets or after a sign, unless too much lies around it."""
        self._levels += 1
        if self._levels > _MOST_LEVELS:
            raise InvalidRequest(f"is nested more than {_MOST_LEVELS} deep")
        node = read()
        self._levels -= 1
        return node

    def _conditional(self) -> Node:
        test = self._logical(conjunction=False)
        if not self._accept("?"):
            return test
        yes = self._logical(conjunction=False)
        self._expect(":")
        return Conditional(test=test, yes=yes, no=self.expression())

    def _logical(self, *, conjunction: bool) -> Node:
        symbol = "&&" if conjunction else "||"
        terms: list[Node] = []
        while not terms or self._accept(symbol):
            terms.append(self._relation() if conjunction else self._logical(conjunction=True))
        return _balanced(terms, conjunction=conjunction)

    def _relation(self) -> Node:
        node = self._sum()
        while (operator := self._peek().value) in _RELATIONS and self._is_operator():
            self._at += 1
            node = Call(function=operator, arguments=(node, self._sum()))
        return node

    def _is_operator(self) -> bool:
        token = self._peek()
        return token.kind == "symbol" or (token.kind == "name" and token.value == "in")

    def _sum(self) -> Node:
        node = self._product()
        while self._peek().kind == "symbol" and self._peek().value in ("+", "-"):
            operator = self._next().value
            node = Call(function=operator, arguments=(node, self._product()))
        return node

    def _product(self) -> Node:
        node = self._unary()
        while self._peek().kind == "symbol" and self._peek().value in ("*", "/", "%"):
            operator = self._next().value
            node = Call(function=operator, arguments=(node, self._unary()))
        return node

    def _unary(self) -> Node:
        if self._accept("!"):
            return Call(function="!", arguments=(self._nested(self._unary),))
        if self._accept("-"):
            operand = self._nested(self._unary)
            if isinstance(operand, Literal) and type(operand.value) in (int, float):
                return Literal(value=-operand.value)
            return Call(function="negate", arguments=(operand,))
        return self._member()

    def _member(self) -> Node:
        node = self._primary()
        while True:
            if self._accept("."):
                node = self._selection(node)
            elif self._accept(".?"):
                node = Select(operand=node, field=self._field_name(), optional=True)
            elif self._accept("["):
                node = self._indexed(node, optional=False)
            elif self._accept("[?"):
                node = self._indexed(node, optional=True)
            else:
                return node

    def _indexed(self, operand: Node, *, optional: bool) -> Node:
        key = self.expression()
        self._expect("]")
        return Index(operand=operand, key=key, optional=optional)

    def _selection(self, operand: Node) -> Node:
        field = self._field_name()
        if not self._accept("("):
            return Select(operand=operand, field=field)
        arguments = self._arguments()
        if isinstance(operand, Identifier):
            if operand.name == "cel" and field == "bind" and len(arguments) == 3:
                return Binding(name=_variable(arguments[0]), value=arguments[1], body=arguments[2])
            if operand.name in _NAMESPACES:
                return Call(function=f"{operand.name}.{field}", arguments=arguments)
        if len(arguments) in _MACROS.get(field, ()):
            return _macro(field, operand, arguments)
        return Call(function=field, target=operand, arguments=arguments)

    def _field_name(self) -> str:
        token = self._next()
        if token.kind not in ("name", "field"):
            self._at -= 1
            raise self._unexpected()
        return str(token.value)

    def _primary(self) -> Node:
        token = self._next()
        match token.kind, token.value:
            case "literal", value:
                return Literal(value=value)
            case "name", name if name != "in":
                return self._named(str(name))
            case "symbol", ".":
                return self._named(self._field_name())
            case "symbol", "(":
                node = self.expression()
                self._expect(")")
                return node
            case "symbol", "[" | "[?":
                return self._list(first_optional=token.value == "[?")
            case "symbol", "{":
                return self._map()
            case _:
                self._at -= 1
                raise self._unexpected()

    def _named(self, name: str) -> Node:
        if not self._accept("("):
            return Identifier(name=name)
        arguments = self._arguments()
        if name != "has":
            return Call(function=name, arguments=arguments)
        if len(arguments) != 1 or not isinstance(arguments[0], Select):
            raise InvalidRequest("has() takes one field selection")
        return Select(operand=arguments[0].operand, field=arguments[0].field, test_only=True)

    def _arguments(self) -> tuple[Node, ...]:
        arguments: list[Node] = []
        while not self._accept(")"):
            arguments.append(self.expression())
            if not self._accept(","):
                self._expect(")")
                break
        return tuple(arguments)

    def _list(self, *, first_optional: bool) -> Node:
        items: list[tuple[Node, bool]] = []
        optional = first_optional
        while not self._accept("]"):
            optional = optional or self._accept("?")
            items.append((self.expression(), optional))
            optional = False
            if not self._accept(","):
                self._expect("]")
                break
        return ListLiteral(items=tuple(items))

    def _map(self) -> Node:
        entries: list[tuple[Node, Node, bool]] = []
        while not self._accept("}"):
            optional = self._accept("?")
            key = self.expression()
            self._expect(":")
            entries.append((key, self.expression(), optional))
            if not self._accept(","):
                self._expect("}")
                break
        return MapLiteral(entries=tuple(entries))

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _accept(self, symbol: str) -> bool:
        token = self._peek()
        if token.kind != "symbol" or token.value != symbol:
            return False
        self._at += 1
        return True

    def _expect(self, symbol: str) -> None:
        if not self._accept(symbol):
            raise self._unexpected()

    def _unexpected(self) -> InvalidRequest:
        token = self._peek()
        return InvalidRequest(f"unexpected {token.value!r} at character {token.position}")


def _balanced(terms: list[Node], *, conjunction: bool) -> Node:
    """Return terms joined by `&&` or `||`, which associate, as a tree of little depth."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return Logical(
        conjunction=conjunction,
        left=_balanced(terms[:half], conjunction=conjunction),
        right=_balanced(terms[half:], conjunction=conjunction),
    )


def _macro(name: str, target: Node, arguments: tuple[Node, ...]) -> Macro:
    canonical = "exists_one" if name == "existsOne" else name
    count = 1 if name in _ONE_VARIABLE or len(arguments) == 2 else 2
    return Macro(
        name=canonical,
        target=target,
        variables=tuple(_variable(argument) for argument in arguments[:count]),
        body=arguments[count:],
    )


def _variable(node: Node) -> str:
    if not isinstance(node, Identifier):
        raise InvalidRequest("a macro's variable must be a plain name")
    return node.name
