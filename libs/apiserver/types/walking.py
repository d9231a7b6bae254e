"""A built-in object walked along its type: values outside closed sets, fields that there are not.

Apart from `codec` because decoding stops at the first mismatch and drops what it does not know,
while people are to be told of all of it, and of what they may have meant.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from libs.apiserver.types import table

_LIKENESS = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownField:
    """A field that there is not."""

    path: str
    known: tuple[str, ...]
    """The fields that there are in its place."""

    @property
    def meant(self) -> str:
        """Return the field that is most like it, empty if none is."""
        name = self.path.rpartition(".")[2]
        lower = {one.lower(): one for one in sorted(self.known)}
        found = get_close_matches(name.lower(), lower, n=1, cutoff=_LIKENESS)
        return lower[found[0]] if found else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A value of a field of which only some are valid."""

    path: str
    value: str
    choices: tuple[str, ...]

    @property
    def is_valid(self) -> bool:
        """Tell whether the type declares the value."""
        return self.value in self.choices


def unknown_fields(type_: str, value: Any, path: str = "") -> Iterator[UnknownField]:
    """Yield the fields that the type does not have, in the order in which they stand."""
    bare = type_.lstrip("*")
    if bare.startswith("[]") and isinstance(value, list):
        for index, item in enumerate(value):
            yield from unknown_fields(bare[2:], item, f"{path}[{index}]")
    elif bare.startswith("map:") and isinstance(value, dict):
        for key, item in value.items():
            yield from unknown_fields(bare[4:], item, f"{path}.{key}")
    elif (struct := table.struct_of(bare)) is not None and isinstance(value, dict):
        for name, item in value.items():
            below = f"{path}.{name}" if path else str(name)
            if name in struct:
                yield from unknown_fields(struct[name].type, item, below)
            else:
                yield UnknownField(path=below, known=tuple(struct))


def choices(type_: str, value: Any, path: str = "") -> Iterator[Choice]:
    """Yield the values in canonical form of the fields that have closed sets; empty ones are none.

    Statuses are left out: the API server takes them as they come.
    """
    bare = type_.lstrip("*")
    if bare.startswith("[]"):
        for index, item in enumerate(value or ()):
            yield from choices(bare[2:], item, f"{path}[{index}]")
    elif (struct := table.struct_of(bare)) is not None:
        for name, item in value.items():
            entry = struct.get(name)
            if entry is None or not item or name == "status":
                continue
            below = f"{path}.{name}" if path else name
            if entry.choices:
                for one in item if isinstance(item, list) else (item,):
                    yield Choice(path=below, value=one, choices=entry.choices)
            elif isinstance(item, dict | list):
                yield from choices(entry.type, item, below)
