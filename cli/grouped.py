"""Options that go together, stated once: a dataclass whose fields are a command's options.

Apart because typer reads signatures: a parameter that is such a dataclass has to be unfolded into
its fields before typer sees it, and folded again before the command does.
"""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

_TEXTS = tuple[str, ...]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command as typer is to see it: annotated fields of dataclasses are options.

    A field that has no `Annotated` keeps its default. `tuple[str, ...]` is an option that may be
    given several times.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {
        name: _options(hint)
        for name, hint in hints.items()
        if isinstance(hint, type) and is_dataclass(hint)
    }

    @wraps(command)
    def unfolded(**given: Any) -> None:
        folded = {
            name: hints[name](**{one.name: _as_field(given.pop(one.name)) for one in options})
            for name, options in groups.items()
        }
        command(**given, **folded)

    parameters = list(_parameters(signature(command), hints, groups))
    # mypy knows no such attribute of a function; `inspect.signature` documents it.
    unfolded.__dict__["__signature__"] = Signature(parameters)
    unfolded.__annotations__ = {one.name: one.annotation for one in parameters}
    return unfolded


def _parameters(
    stated: Signature, hints: dict[str, Any], groups: dict[str, list[Parameter]]
) -> Iterator[Parameter]:
    for name, parameter in stated.parameters.items():
        if name in groups:
            yield from groups[name]
        else:
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])


def _options(group: Any) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            one.name,
            Parameter.KEYWORD_ONLY,
            default=_default(one),
            annotation=_as_option(hints[one.name]),
        )
        for one in fields(group)
        if get_origin(hints[one.name]) is Annotated
    ]


def _default(field: Field[Any]) -> Any:
    if field.default is MISSING:
        return Parameter.empty
    return list(field.default) if isinstance(field.default, tuple) else field.default


def _as_option(hint: Any) -> Any:
    """Return the hint with a list for a tuple: typer knows no other option that repeats."""
    stated, *details = get_args(hint)
    return Annotated[list[str], *details] if stated == _TEXTS else hint


def _as_field(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
