"""How answers are printed."""

import json
import re
import sys
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

_NANOS = 1_000_000_000
_NAMES_SHOWN = 3
_QUOTED = re.compile(r'"[^"]*"')


class Format(StrEnum):
    """For people, or for machines."""

    TABLE = "table"
    JSON = "json"


def dollars(nanos: int) -> str:
    """Return nano-dollars as dollars with four decimals."""
    return f"{nanos / _NANOS:.4f}"


def counted(count: int, noun: str) -> str:
    """Return a count and its noun: `1 pod`, `2 pods`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def few(names: Iterable[str]) -> str:
    """Return the first names and how many more there are."""
    listed = list(names)
    hidden = len(listed) - _NAMES_SHOWN
    shown = ", ".join(listed[:_NAMES_SHOWN])
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def nameless(text: str) -> str:
    """Return a text without what it quotes, to tell whether two differ in names alone."""
    return _QUOTED.sub('""', text)


def print_json(document: Any) -> None:
    """Print a document for machines."""
    json.dump(document, sys.stdout, indent=1)
    sys.stdout.write("\n")


def print_notes(notes: Iterable[str]) -> None:
    """Print what was assumed or left out, on standard error."""
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
