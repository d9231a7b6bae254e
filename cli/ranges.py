"""Numbers as options take them, each within a range that is said when it is left.

Apart because what is typed goes into fields of 64 bits, and because the errors are ours: one line
that names the option, as for all other bad input.
"""

import re
from collections.abc import Callable
from math import isfinite

from typer import BadParameter

MOST = 2**63 - 1
"""The largest number of 64 bits."""

_LONGEST = 24
"""Digits that are read; a number of 64 bits has 19."""
_SHOWN = 40
_WHOLE = re.compile(r"[+-]?[0-9]+")


def whole(least: int, most: int = MOST) -> Callable[[str | int], int]:
    """Return what reads a whole number in a range."""

    def read(text: str | int) -> int:
        typed = str(text).strip()
        if not _WHOLE.fullmatch(typed):
            raise BadParameter(f"{typed[:_SHOWN]!r} is no whole number")
        return within(typed, least, most)

    return read


def within(digits: str, least: int, most: int) -> int:
    """Return a number that was typed as digits, perhaps with a sign.

    Raises:
        BadParameter: it is not in the range.
    """
    # What is cut is beyond any range still.
    magnitude = int(digits.lstrip("+-0")[:_LONGEST] or "0")
    number = -magnitude if digits.startswith("-") else magnitude
    if number > most:
        raise BadParameter(f"{digits[:_SHOWN]} is above {most}")
    if number < least:
        raise BadParameter(f"{digits[:_SHOWN]} is below {least}")
    return number


def real(least: float, most: float) -> Callable[[str | float], float]:
    """Return what reads a number with a fraction, in a range."""

    def read(text: str | float) -> float:
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not isfinite(number):
            raise BadParameter(f"{str(text)[:_SHOWN]!r} is no number")
        if not least <= number <= most:
            raise BadParameter(f"{str(text)[:_SHOWN]} is not between {least:g} and {most:g}")
        return number

    return read


def count_or_percent(most: int) -> Callable[[str], str]:
    """Return what lets a number pass, or a share in per cent: `5`, `10%`; empty is neither."""

    def read(text: str) -> str:
        digits = text.removesuffix("%")
        if text and not (digits.isascii() and digits.isdecimal()):
            raise BadParameter(f"{text[:_SHOWN]!r} is neither a number nor a percentage")
        if text and digits != text:
            return f"{_within_hundred(digits)}%"
        return str(within(digits, 0, most)) if text else text

    return read


def _within_hundred(digits: str) -> int:
    try:
        return within(digits, 0, 100)
    except BadParameter:
        raise BadParameter(f"{digits[:_SHOWN]}% is above 100%") from None
