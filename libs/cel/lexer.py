"""Text of a CEL expression into tokens.

Source: the lexical grammar of the CEL language definition.
"""

import re
from dataclasses import dataclass
from typing import Any

from libs.cel.values import UInt
from libs.domain.errors import InvalidRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One token: `kind` is `literal`, `name`, `field`, `symbol` or `end`; `value` by kind."""

    kind: str
    value: Any
    position: int


_PATTERN = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*)
  | (?P<float>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
  | (?P<int>0x[0-9a-fA-F]+|\d+)(?P<unsigned>[uU]?)
  | (?P<string>(?P<prefix>[rRbB]{0,2})(?P<quote>\"{3}|'{3}|\"|')
      (?P<body>(?:\\.|(?!(?P=quote)).)*)(?P=quote))
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | `(?P<field>[^`\n]+)`
  | (?P<symbol>&&|\|\||==|!=|<=|>=|\.\?|\[\?|[-+*/%!<>?:.,()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)

_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))",
    re.DOTALL,
)

_SIMPLE_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "`": "`",
    "?": "?",
}

_CONSTANTS = {"true": True, "false": False, "null": None}


def tokenize(source: str) -> list[Token]:
    """Split an expression into tokens, the last of kind `end`.

    Raises:
        InvalidRequest: where no token starts.
    """
    tokens: list[Token] = []
    position = 0
    while position < len(source):
        match = _PATTERN.match(source, position)
        if match is None:
            raise InvalidRequest(f"no token starts at {source[position : position + 10]!r}")
        if match.group("space") is None:
            tokens.append(_token(match, position))
        position = match.end()
    tokens.append(Token(kind="end", value="", position=position))
    return tokens


def _token(match: "re.Match[str]", position: int) -> Token:
    kind, value = _classify(match)
    return Token(kind=kind, value=value, position=position)


def _classify(match: "re.Match[str]") -> tuple[str, Any]:
    if (text := match.group("float")) is not None:
        return "literal", float(text)
    if (text := match.group("int")) is not None:
        number = int(text, 0) if text.startswith("0x") else int(text)
        return "literal", UInt(value=number) if match.group("unsigned") else number
    if match.group("string") is not None:
        return "literal", _text(match.group("prefix").lower(), match.group("body"))
    if (name := match.group("name")) is not None:
        return ("literal", _CONSTANTS[name]) if name in _CONSTANTS else ("name", name)
    if (field := match.group("field")) is not None:
        return "field", field
    return "symbol", match.group("symbol")


def _text(prefix: str, body: str) -> str | bytes:
    is_bytes = "b" in prefix
    if "r" not in prefix:
        body = _ESCAPE.sub(lambda found: _unescape(found, is_bytes=is_bytes), body)
    if not is_bytes:
        return body
    return b"".join(
        bytes([ord(char) - _BYTE_BASE]) if ord(char) >= _BYTE_BASE else char.encode()
        for char in body
    )


_BYTE_BASE = 0x10FF00
"""Octets of a bytes literal are carried through the text in the last, private code points."""


def _unescape(match: "re.Match[str]", *, is_bytes: bool) -> str:
    octet = match.group(1) or match.group(2)
    if octet is not None or match.group(5) is not None:
        code = int(octet, 16) if octet is not None else int(match.group(5), 8)
        return chr(_BYTE_BASE + code) if is_bytes else chr(code)
    unicode = match.group(3) or match.group(4)
    if unicode is not None:
        return chr(int(unicode, 16))
    letter = match.group(6)
    if letter not in _SIMPLE_ESCAPES:
        raise InvalidRequest(f"unknown escape \\{letter} in a string")
    return _SIMPLE_ESCAPES[letter]
