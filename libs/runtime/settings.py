"""Frozen dataclasses read from `JOINER_CFG_<FIELD>` variables; the only reader of the environment.

A field `idle` in a nested dataclass field `batch` is `JOINER_CFG_BATCH_IDLE`. A variable with the
prefix that no field answers to is refused, so typing mistakes are found at start. The prefix cannot
be hit by the variables that Kubernetes injects for Services, unless one is named `joiner-cfg-…`:
a Service `joiner-solver` gives `JOINER_SOLVER_…`.

A dataclass may refuse a combination of values in `__post_init__` by raising `InvalidRequest` whose
field is its own field's name; it is reported under the variable's name like any other problem.
"""

import dataclasses
import difflib
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from libs.domain.errors import InvalidRequest
from libs.runtime.values import parse_value

PREFIX = "JOINER_CFG_"

A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSettings:
    """For a service that has none of its own."""


class SettingsError(Exception):
    """The environment cannot be used; `problems` has one line for each thing that is wrong."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def load(environ: Mapping[str, str], first: type[A], second: type[B]) -> tuple[A, B]:
    """Read two settings dataclasses that share one name space from the environment.

    Raises:
        SettingsError: with all problems at once, each naming its variable.
    """
    reader = _Reader(environ)
    values = reader.read(first, PREFIX), reader.read(second, PREFIX)
    problems = (*reader.problems, *_unknown(environ, reader.known))
    if problems or values[0] is None or values[1] is None:
        raise SettingsError(problems)
    return values[0], values[1]


def variables(settings_type: type, prefix: str = PREFIX) -> Iterator[tuple[str, Any, Any]]:
    """Yield (variable, type, default) for every field; `MISSING` where it is required."""
    hints = typing.get_type_hints(settings_type)
    for field in dataclasses.fields(settings_type):
        name, kind = prefix + field.name.upper(), hints[field.name]
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            yield from variables(kind, name + "_")
        else:
            yield name, kind, _default(field)


class _Reader:
    """Collects the values, the names that exist and everything that is wrong."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.known: set[str] = set()
        self.problems: list[str] = []

    def read(self, settings_type: type[A], prefix: str) -> A | None:
        """Return the dataclass, `None` if something about it is wrong."""
        before = len(self.problems)
        hints = typing.get_type_hints(settings_type)
        values: dict[str, Any] = {}
        for field in dataclasses.fields(cast(Any, settings_type)):
            self._read_field(field, hints[field.name], prefix, values)
        if len(self.problems) > before:
            return None
        return self._build(settings_type, prefix, values)

    def _read_field(
        self, field: "dataclasses.Field[Any]", kind: Any, prefix: str, values: dict[str, Any]
    ) -> None:
        name = prefix + field.name.upper()
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            values[field.name] = self.read(kind, name + "_")
            return
        if name in self.known:
            raise TypeError(f"two settings are called {name}")
        self.known.add(name)
        if name in self._environ:
            self._parse(name, kind, field.name, values)
        elif _default(field) is dataclasses.MISSING:
            self.problems.append(f"{name} must be set")

    def _parse(self, name: str, kind: Any, field_name: str, values: dict[str, Any]) -> None:
        text = self._environ[name]
        try:
            values[field_name] = parse_value(text, kind)
        except ValueError as error:
            self.problems.append(f"{name}={text!r} {error}")

    def _build(self, settings_type: type[A], prefix: str, values: dict[str, Any]) -> A | None:
        try:
            return settings_type(**values)
        except InvalidRequest as error:
            self.problems.append(f"{prefix}{error.field.upper()} {error.detail}")
            return None


def _default(field: "dataclasses.Field[Any]") -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _unknown(environ: Mapping[str, str], known: set[str]) -> Iterator[str]:
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in known:
            continue
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        hint = f"; did you mean {close[0]}?" if close else ""
        yield f"{name} is not a setting of this service{hint}"
