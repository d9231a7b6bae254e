"""Kubernetes quantity strings and the integers in base units that everything else computes with.

Apart because text is parsed in exactly one function, at the edge; no quantity text gets past it.

Laws:
    - `parse` is exact: a `Fraction`, rounded away from zero to 10⁻⁹ as Kubernetes does.
    - Requests round up (`millicores`, `units`), allocatable rounds down (`floor_…`), so that
      rounding never makes a pod fit that does not.
    - `parse(canonical(text)) == parse(text)`.
    - Nothing beyond `MOST` is counted: such a request is an error, which names the amount, and such
      a room is `MOST`. Either way no pod fits that does not, and sums of a few stay in 64 bits.

Source: the Kubernetes API reference, "Quantity". Two differences on purpose: what Kubernetes
silently caps at 2⁶³-1 is an error here where it is asked for, and a number without a digit (`+`,
`.`), which its parser reads as zero, is one everywhere.
"""

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from libs.domain.errors import InvalidRequest

MAX = 2**63 - 1
MOST = 2**60 - 1
"""The largest amount that is counted, in base units: an exbibyte, a quadrillion of cores."""

_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SUFFIX_OF_EXPONENT = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_SYNTAX = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?"
    r"(?P<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?"
)
# A text that is longer says nothing useful and would only cost time.
_LONGEST_TEXT = 128
# Beyond these the result overflows, or rounds to 10⁻⁹, whatever 128 digits precede the exponent.
_EXPONENT_LIMIT = 300
_NANO = 10**9

_READABLE = tuple(
    (unit, 1024**power) for power, unit in ((4, "Ti"), (3, "Gi"), (2, "Mi"), (1, "Ki"))
)


def parse(quantity: str | int | float) -> Fraction:
    """Return the exact value of a quantity as Kubernetes and YAML write it.

    Args:
        quantity: a string such as `500m`, `1.5Gi`, `1e3`, or a bare number out of YAML or JSON.

    Raises:
        InvalidRequest: not a quantity, or beyond ±(2⁶³-1).
    """
    return _parse(_text(quantity))[0]


def capped(quantity: str | int | float) -> Fraction:
    """Return the value as the API keeps it: one beyond ±(2⁶³-1) is that."""
    try:
        return parse(quantity)
    except _TooLarge as error:
        return Fraction(error.cap)


def millicores(quantity: str | int | float) -> int:
    """Return a CPU request in millicores, rounded up; raises InvalidRequest beyond `MOST`."""
    return _within_limit(ceil(parse(quantity) * 1000), quantity)


def units(quantity: str | int | float) -> int:
    """Return any other request in whole base units, rounded up; as `millicores` beyond `MOST`."""
    return _within_limit(ceil(parse(quantity)), quantity)


def floor_millicores(quantity: str | int | float) -> int:
    """Return allocatable CPU in millicores, rounded down, `MOST` at most."""
    return _floor(quantity, 1000)


def floor_units(quantity: str | int | float) -> int:
    """Return anything else allocatable in whole base units, rounded down, `MOST` at most."""
    return _floor(quantity, 1)


def canonical(quantity: str | int | float) -> str:
    """Return the quantity as the Kubernetes API writes it: `0.5` → `500m`, `1024Mi` → `1Gi`."""
    value, suffix = _parse(_text(quantity))
    if suffix[:1] in ("e", "E") and suffix != "E" and not suffix.endswith("i"):
        return _format_decimal(value, with_exponent=True)
    if suffix in _BINARY:
        return _format_binary(value)
    return _format_decimal(value)


def format_millicores(amount: int) -> str:
    """Return millicores as a canonical quantity of CPU: `1500` → `1500m`, `2000` → `2`."""
    return _format_decimal(Fraction(amount, 1000))


def format_units(amount: int) -> str:
    """Return a count of devices as a canonical quantity with decimal suffixes: `2000` → `2k`."""
    return _format_decimal(Fraction(amount))


def format_bytes(amount: int) -> str:
    """Return bytes as a canonical quantity with binary suffixes: `1024` → `1Ki`."""
    return _format_binary(Fraction(amount))


def readable_bytes(amount: int, *, up: bool = False) -> str:
    """Return bytes for people, with one decimal of the largest unit: `1610612736` → `1.5Gi`.

    Args:
        amount: bytes, not negative.
        up: round up, as for what is asked; otherwise down, as for what there is.
    """
    unit, size = next((u for u in _READABLE if amount >= u[1]), ("", 1))
    tenths = -(-amount * 10 // size) if up else amount * 10 // size
    return f"{tenths // 10}{f'.{tenths % 10}' if tenths % 10 else ''}{unit}"


def _text(quantity: str | int | float) -> str:
    if isinstance(quantity, str):
        return quantity
    if isinstance(quantity, bool) or not isinstance(quantity, int | float):
        raise InvalidRequest(f"{quantity!r} is not a quantity")
    if isinstance(quantity, int) and abs(quantity) > MAX:
        raise _TooLarge("the number", MAX if quantity > 0 else -MAX)
    return repr(quantity)


@lru_cache(maxsize=16_384)
def _parse(text: str) -> tuple[Fraction, str]:
    """Return the value and the suffix as written; a cluster repeats its few quantities."""
    match = _SYNTAX.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    if match is None or not (match["whole"] or match["part"]):
        raise InvalidRequest(f"{text[:_LONGEST_TEXT]!r} is not a quantity such as 500m, 2 or 1.5Gi")
    part = match["part"] or ""
    suffix = match["suffix"] or ""
    magnitude = Fraction(int(match["whole"] + part), 10 ** len(part)) * _scale(suffix)
    nanos = ceil(magnitude * _NANO)
    if nanos > MAX * _NANO:
        raise _TooLarge(repr(text), -MAX if match["sign"] == "-" else MAX)
    return Fraction(-nanos if match["sign"] == "-" else nanos, _NANO), suffix


def _scale(suffix: str) -> Fraction:
    if suffix in _BINARY:
        return Fraction(2 ** _BINARY[suffix])
    exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
    return Fraction(10) ** max(-_EXPONENT_LIMIT, min(_EXPONENT_LIMIT, exponent))


def _within_limit(amount: int, quantity: str | int | float) -> int:
    if abs(amount) > MOST:
        raise beyond(quantity)
    return amount


def _floor(quantity: str | int | float, scale: int) -> int:
    return min(floor(capped(quantity) * scale), MOST)


def beyond(quantity: str | int | float) -> InvalidRequest:
    """Return the refusal of a request beyond `MOST`."""
    return InvalidRequest(f"{quantity!r} is beyond the largest amount that is counted, 2^60-1")


class _TooLarge(InvalidRequest):
    """A quantity that the API would cap."""

    def __init__(self, what: str, cap: int) -> None:
        super().__init__(f"{what} is beyond the largest quantity, 2^63-1")
        self.cap = cap


def _format_decimal(value: Fraction, *, with_exponent: bool = False) -> str:
    if not value:
        return "0"
    mantissa, exponent = int(value * _NANO), -9
    while mantissa % 1000 == 0 and exponent < 18:
        mantissa, exponent = mantissa // 1000, exponent + 3
    if with_exponent:
        return f"{mantissa}e{exponent}" if exponent else str(mantissa)
    return f"{mantissa}{_SUFFIX_OF_EXPONENT[exponent]}"


def _format_binary(value: Fraction) -> str:
    # Kubernetes leaves the binary suffixes where they would hide digits.
    if abs(value) < 1024 or value.denominator != 1:
        return _format_decimal(value)
    mantissa, suffix = int(value), ""
    for name in _BINARY:
        if mantissa % 1024:
            break
        mantissa, suffix = mantissa // 1024, name
    return f"{mantissa}{suffix}"
