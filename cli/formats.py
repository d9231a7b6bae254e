"""How answers are printed."""

from enum import StrEnum

_NANOS = 1_000_000_000


class Format(StrEnum):
    """For people, or for machines."""

    TABLE = "table"
    JSON = "json"


def dollars(nanos: int) -> str:
    """Return nano-dollars as dollars with four decimals."""
    return f"{nanos / _NANOS:.4f}"
