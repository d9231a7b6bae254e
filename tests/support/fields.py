"""Fields of Kubernetes objects by path, as explanations name them: what a reader would edit."""

import json
import re
from typing import Any

_STEP = re.compile(
    r'\[\?\(@\.key=="(?P<key>[^"]+)"\)\]|\[(?P<index>\d+|\*)\]|\["(?P<name>[^"]+)"\]'
)
_QUANTITIES = ("requests", "limits", "podFixed", "overhead")


def with_field(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy with the field set; None takes it away.

    `[*]` is the only item of a list, what follows `requests` and the like is one name.
    """
    copy: dict[str, Any] = json.loads(json.dumps(document))
    *parents, last = _steps(path)
    there: Any = copy
    for step in parents:
        there = _child(there, step)
    if isinstance(there, dict):
        there[last] = value
        if value is None:
            del there[last]
        return copy
    index = _index(there, last)
    if value is None:
        del there[index]
    else:
        there[index] = value
    return copy


def _steps(path: str) -> list[str]:
    steps: list[str] = []
    while path:
        found = _STEP.match(path)
        if found:
            steps.append(found["name"] or found[0])
            path = path[found.end() :].removeprefix(".")
        elif steps and steps[-1] in _QUANTITIES:
            steps.append(path)
            path = ""
        else:
            name = re.match(r"[^.\[]+", path)
            assert name, path
            steps.append(name[0])
            path = path[name.end() :].removeprefix(".")
    return steps


def _child(there: Any, step: str) -> Any:
    if isinstance(there, list):
        return there[_index(there, step)]
    return there.setdefault(step, {})


def _index(there: list[Any], step: str) -> int:
    found = _STEP.match(step)
    assert found, step
    if found["key"]:
        return next(i for i, one in enumerate(there) if one["key"] == found["key"])
    if found["index"] == "*":
        assert len(there) == 1, "a sum over several items is no field"
        return 0
    return int(found["index"])
