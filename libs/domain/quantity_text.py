"""Kubernetes quantities as text: parsing and the one canonical spelling.

It is apart because the API server neither computes with quantities nor stores numbers: it keeps the
text a client sent, brought to canonical form (`1.5Gi` → `1536Mi`, `0.1` → `100m`). Values are exact
(`Decimal` with enough digits).

Source: Kubernetes API conventions, "Quantity"; smallest unit is a nano (finer values are rounded
up).
"""

import re
from decimal import ROUND_CEILING, Decimal, localcontext
from functools import lru_cache

PATTERN = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
"""The pattern that Kubernetes names when it refuses a quantity."""

_SPLIT = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(.*)\Z", re.DOTALL)
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)\Z")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {power: suffix for suffix, power in _DECIMAL.items()}
_BINARY_SUFFIX = {power: suffix for suffix, power in _BINARY.items()}
_NANO = Decimal("1e-9")
_LIMIT = Decimal(2**63 - 1)


class MalformedQuantity(ValueError):
    """The text is no quantity."""


@lru_cache(maxsize=8192)
def canonical(text: str) -> str:
    """Return the canonical spelling of `text`; raises `MalformedQuantity`."""
    return _spelled(*_parse(text))


@lru_cache(maxsize=8192)
def total(left: str, right: str) -> str:
    """Return the canonical spelling of a sum, in the form of the first that is not zero."""
    first, form = _parse(left)
    second, other = _parse(right)
    return _spelled(first + second, form if first else other)


def _spelled(number: Decimal, form: str) -> str:
    if number == 0:
        return "0"
    if form == "binary" and abs(number) >= 1024 and number == number.to_integral_value():
        return _binary_text(int(number))
    mantissa, exponent = _reduce(number)
    if form == "exponent":
        return f"{mantissa}e{exponent}" if exponent else str(mantissa)
    suffix = _DECIMAL_SUFFIX.get(exponent)
    return f"{mantissa}{suffix}" if suffix is not None else f"{mantissa}e{exponent}"


@lru_cache(maxsize=8192)
def value(text: str) -> Decimal:
    """Return the exact number; raises `MalformedQuantity`."""
    return _parse(text)[0]


def _parse(text: str) -> tuple[Decimal, str]:
    found = _SPLIT.match(text)
    if found is None:
        raise MalformedQuantity(text)
    sign, digits, suffix = found.groups()
    with localcontext() as context:
        context.prec = 200
        number = Decimal(digits)
        if suffix in _DECIMAL:
            number, form = number.scaleb(_DECIMAL[suffix]), "decimal"
        elif suffix in _BINARY:
            number, form = number * 2 ** _BINARY[suffix], "binary"
        elif (exponent := _EXPONENT.match(suffix)) is not None and len(suffix) < 8:
            number, form = number.scaleb(int(exponent.group(1))), "exponent"
        else:
            raise MalformedQuantity(text)
        number = min(number, _LIMIT)
        if number < 1e30 and number != number.quantize(_NANO):
            number = number.quantize(_NANO, rounding=ROUND_CEILING)
    return (-number if sign == "-" else number), form


def _binary_text(number: int) -> str:
    power = 0
    while number % 1024 == 0 and power < 60:
        number //= 1024
        power += 10
    return f"{number}{_BINARY_SUFFIX.get(power, '')}"


def _reduce(number: Decimal) -> tuple[int, int]:
    """Return mantissa and exponent: the greatest multiple of three that keeps an integer."""
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    mantissa = int("".join(map(str, digits)))
    while mantissa % 10 == 0 and mantissa:
        mantissa //= 10
        exponent += 1
    while exponent % 3:
        mantissa *= 10
        exponent -= 1
    return (-mantissa if sign else mantissa), exponent
