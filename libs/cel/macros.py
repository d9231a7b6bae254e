"""CEL's loops: `all`, `exists`, `exists_one`, `map`, `filter`, and their kin.

Source: "Macros" of the CEL language definition: `all` and `exists` are folds with `&&` and `||`, so
that one deciding item wins over an error of another; the rest pass on the first error.

Law: all loops of one evaluation together do at most `MOST_STEPS` steps, so that loops within loops
end. Kubernetes bounds what an expression may cost in the same way.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from libs.cel.values import CelError, OpenMap, OptionalValue, Value, as_list, read

Scope: TypeAlias = dict[str, Value]

MOST_STEPS = 1_000_000
"""Steps of one evaluation: for each item of a loop one per node of the loop's body."""
STEPS_LEFT = ""
"""Name, which no variable can have, of the list in every scope that holds the steps left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """The loop variables and the compiled expressions that see them."""

    variables: tuple[str, ...]
    body: tuple[Callable[[Scope], Value], ...]
    steps: int
    """What one item costs."""


def boolean(value: Value) -> bool:
    """Return a truth value; raises `CelError` for anything else."""
    if value is True or value is False:
        return bool(value)
    raise CelError("no such overload")


def _iterate(loop: Loop, target: Value, scope: Scope) -> Iterator[Any]:
    """Bind the variables to each item in turn (a scope that the caller owns) and yield the item."""
    if type(target) is OpenMap:
        target = target.items
    if len(loop.variables) == 1:
        name = loop.variables[0]
        for item in target if type(target) is dict else as_list(target):
            _spend(loop, scope)
            scope[name] = item
            yield item
        return
    first, second = loop.variables
    pairs = target.items() if type(target) is dict else enumerate(as_list(target))
    for key, item in pairs:
        _spend(loop, scope)
        scope[first], scope[second] = key, item
        yield key


def _spend(loop: Loop, scope: Scope) -> None:
    left = scope[STEPS_LEFT]
    left[0] -= loop.steps
    if left[0] < 0:
        raise CelError("operation cancelled: actual cost limit exceeded")


def _quantified(loop: Loop, target: Value, scope: Scope, *, decisive: bool) -> bool:
    error: CelError | None = None
    for _ in _iterate(loop, target, scope):
        try:
            if boolean(loop.body[0](scope)) is decisive:
                return decisive
        except CelError as failure:
            error = error or failure
    if error is not None:
        raise error
    return not decisive


def _all(loop: Loop, target: Value, scope: Scope) -> bool:
    return _quantified(loop, target, scope, decisive=False)


def _exists(loop: Loop, target: Value, scope: Scope) -> bool:
    return _quantified(loop, target, scope, decisive=True)


def _exists_one(loop: Loop, target: Value, scope: Scope) -> bool:
    hits = [boolean(loop.body[0](scope)) for _ in _iterate(loop, target, scope)]
    return hits.count(True) == 1


def _map(loop: Loop, target: Value, scope: Scope) -> list[Value]:
    *condition, transform = loop.body
    return [
        transform(scope)
        for _ in _iterate(loop, target, scope)
        if not condition or boolean(condition[0](scope))
    ]


def _filter(loop: Loop, target: Value, scope: Scope) -> list[Value]:
    return [read(item) for item in _iterate(loop, target, scope) if boolean(loop.body[0](scope))]


def _transform_map(loop: Loop, target: Value, scope: Scope) -> dict[Any, Value]:
    *condition, transform = loop.body
    return {
        key: transform(scope)
        for key in _iterate(loop, target, scope)
        if not condition or boolean(condition[0](scope))
    }


def _optional_map(loop: Loop, target: Value, scope: Scope) -> OptionalValue:
    flat = _optional_flat_map(loop, target, scope)
    return OptionalValue(present=True, value=flat) if _present(target) else target


def _optional_flat_map(loop: Loop, target: Value, scope: Scope) -> Value:
    if not _present(target):
        return target
    scope[loop.variables[0]] = target.value
    return loop.body[0](scope)


def _present(target: Value) -> bool:
    if type(target) is not OptionalValue:
        raise CelError("no such overload")
    return target.present


MACROS: Mapping[str, Callable[[Loop, Value, Scope], Value]] = MappingProxyType(
    {
        "all": _all,
        "exists": _exists,
        "exists_one": _exists_one,
        "map": _map,
        "filter": _filter,
        "transformList": _map,
        "transformMap": _transform_map,
        "optMap": _optional_map,
        "optFlatMap": _optional_flat_map,
    }
)
