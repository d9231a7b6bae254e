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

    So are those of a dataclass in a dataclass. Any other field that has no `Annotated` keeps its
    default. `tuple[str, ...]` is an option that may be given several times.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if _is_group(hint)}

    @wraps(command)
    def unfolded(**given: Any) -> None:
        folded = {name: _folded(group, given) for name, group in groups.items()}
        command(**given, **folded)

    parameters = list(_parameters(signature(command), hints, groups))
    # mypy knows no such attribute of a function; `inspect.signature` documents it.
    unfolded.__dict__["__signature__"] = Signature(parameters)
    unfolded.__annotations__ = {one.name: one.annotation for one in parameters}
    return unfolded


def _parameters(
    stated: Signature, hints: dict[str, Any], groups: dict[str, Any]
) -> Iterator[Parameter]:
    for name, parameter in stated.parameters.items():
        if name in groups:
            yield from _options(groups[name])
        else:
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])


def _options(group: Any) -> Iterator[Parameter]:
    for one, hint in _members(group):
        if _is_group(hint):
            yield from _options(hint)
        elif get_origin(hint) is Annotated:
            yield Parameter(
                one.name,
                Parameter.KEYWORD_ONLY,
                default=_default(one),
                annotation=_as_option(hint),
            )


def _folded(group: Any, given: dict[str, Any]) -> Any:
    """Return the group with its options, which are taken from what was given."""
    values = {}
    for one, hint in _members(group):
        if _is_group(hint):
            values[one.name] = _folded(hint, given)
        elif get_origin(hint) is Annotated:
            values[one.name] = _as_field(given.pop(one.name))
    return group(**values)


def _members(group: Any) -> list[tuple[Field[Any], Any]]:
    hints = get_type_hints(group, include_extras=True)
    return [(one, hints[one.name]) for one in fields(group)]


def _is_group(hint: Any) -> bool:
    return isinstance(hint, type) and is_dataclass(hint)


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
