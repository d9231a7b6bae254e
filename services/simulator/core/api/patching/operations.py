"""JSON patch (RFC 6902), with the liberties that Kubernetes' library takes.

`replace` of a missing member adds it, a missing member is copied as null, an operation without a
value has the value null, and indexes below zero count from the end. A library would do but for
those and for the sharing of untouched parts.
"""

from typing import Any


class Failed(ValueError):
    """An operation that cannot be carried out, or a test that does not hold."""


_NOTHING = object()


def apply(target: Any, operations: list[Any]) -> Any:
    """Return the target after all operations; raises `Failed` at the first that cannot be done."""
    for operation in operations:
        if not isinstance(operation, dict):
            raise Failed("an operation is an object")
        target = _apply_one(target, operation)
    return target


def _apply_one(target: Any, operation: dict[str, Any]) -> Any:
    steps = _steps(operation.get("path"))
    match operation.get("op"):
        case "add" if steps:
            return _put(target, steps, operation.get("value"), insert=True)
        case "replace" if steps or isinstance(operation.get("value"), dict):
            return _put(target, steps, operation.get("value"), insert=False)
        case "remove":
            return _take(target, steps)
        case "test":
            if _same(_find(target, steps, operation.get("value")), operation.get("value")):
                return target
            raise Failed(f"testing value {operation.get('path')} failed")
        case "move":
            source = _steps(operation.get("from"))
            value = _get(target, source)
            return _put(_take(target, source), steps, value, insert=True)
        case "copy":
            value = _copied(target, _steps(operation.get("from")))
            return _put(target, steps, value, insert=True)
    raise Failed(f"unexpected kind: {operation.get('op')}")


def _steps(path: Any) -> list[str]:
    if not isinstance(path, str) or (path and not path.startswith("/")):
        raise Failed(f"malformed path {path!r}")
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def _copied(target: Any, steps: list[str]) -> Any:
    """Return the value at a path; a missing last member is null."""
    if steps and isinstance(parent := _get(target, steps[:-1]), dict):
        return parent.get(steps[-1])
    return _get(target, steps)


def _same(found: Any, wanted: Any) -> bool:
    """Compare JSON values: in Python 1 equals True, in JSON it does not."""
    return bool(found == wanted) and isinstance(found, bool) is isinstance(wanted, bool)


def _find(target: Any, steps: list[str], wanted: Any) -> Any:
    """Return the value at a path.

    A missing last member counts as null if null is what is tested for.
    """
    try:
        return _get(target, steps)
    except Failed:
        if wanted is None and steps and isinstance(_get(target, steps[:-1]), dict):
            return None
        raise


def _get(target: Any, steps: list[str]) -> Any:
    for step in steps:
        if isinstance(target, dict):
            target = target.get(step, _NOTHING)
        elif isinstance(target, list):
            target = target[_index(step, len(target) - 1)]
        else:
            target = _NOTHING
        if target is _NOTHING:
            raise Failed(f"missing value at {step}")
    return target


def _put(target: Any, steps: list[str], value: Any, *, insert: bool) -> Any:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(target, dict):
        if rest and step not in target:
            raise Failed(f"missing path {step}")
        return {**target, step: _put(target.get(step), rest, value, insert=insert)}
    if isinstance(target, list):
        copied = list(target)
        if not rest and step == "-" and insert:
            return [*copied, value]
        index = _index(step, len(copied) if insert and not rest else len(copied) - 1)
        if insert and not rest:
            copied.insert(index, value)
        else:
            copied[index] = _put(copied[index], rest, value, insert=insert)
        return copied
    raise Failed(f"missing path {step}")


def _take(target: Any, steps: list[str]) -> Any:
    if not steps:
        raise Failed("the whole document cannot be removed")
    step, rest = steps[0], steps[1:]
    if isinstance(target, dict) and step in target:
        if rest:
            return {**target, step: _take(target[step], rest)}
        return {name: value for name, value in target.items() if name != step}
    if isinstance(target, list):
        index = _index(step, len(target) - 1)
        middle = [_take(target[index], rest)] if rest else []
        return [*target[:index], *middle, *target[index + 1 :]]
    raise Failed(f"unable to remove nonexistent key: {step}")


def _index(step: str, last: int) -> int:
    """Return the index that a step names; below zero it counts back from behind the last one."""
    digits = step.removeprefix("-")
    if not digits.isdecimal() or not -last - 1 <= int(step) <= last:
        raise Failed(f"invalid index {step}")
    return int(step) if int(step) >= 0 else last + 1 + int(step)
