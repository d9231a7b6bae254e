"""Values spelled as Go spells them in Kubernetes' error messages: `%q`, `%v`, `%T` and its JSON.

Apart because every message of the API server quotes the offending value in one of these ways.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

_ESCAPES: Mapping[str, str] = MappingProxyType(
    {
        "\a": r"\a",
        "\b": r"\b",
        "\f": r"\f",
        "\n": r"\n",
        "\r": r"\r",
        "\t": r"\t",
        "\v": r"\v",
        "\\": r"\\",
        '"': r"\"",
    }
)


def quote(text: str) -> str:
    """Return `%q` of a string."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_quoted(char) for char in text) + '"'


def _quoted(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def bad_value(value: Any) -> str:
    """Return a value as field errors show it: strings quoted, numbers plain, the rest as JSON."""
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return plain(value)


def plain(value: Any) -> str:
    """Return `%v` of a JSON value."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return _double(value)
        case list():
            return "[" + " ".join(plain(item) for item in value) + "]"
        case dict():
            return "map[" + " ".join(f"{k}:{plain(value[k])}" for k in sorted(value)) + "]"
        case _:
            return str(value)


def go_type(value: Any) -> str:
    """Return `%T` of a JSON value as the API server holds it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "bool"
        case int():
            return "int64"
        case float():
            return "float64"
        case str():
            return "string"
        case list():
            return "[]interface {}"
        case _:
            return "map[string]interface {}"


def _double(value: float) -> str:
    """Shortest digits; an exponent below 1e-4 and from 1e6 on, as `%v` has it."""
    digits = Decimal(repr(value))
    exponent = digits.adjusted() if value else 0
    if -4 <= exponent < 6:
        text = format(digits, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa = format(digits.scaleb(-exponent).normalize(), "f")
    return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
