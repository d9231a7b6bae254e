"""The part of JSONPath that printer columns use: members, indexes, `[*]` and `[?(@.a=="b")]`.

Source: Kubernetes documentation, "JSONPath Support"; RFC-like paths with a leading dot.
"""

import re
from typing import Any

_STEP = re.compile(
    r"""\.(?P<name>[\w-]+(?:\\\.[\w./-]+)*)
      | \[['"](?P<quoted>[^'"]+)['"]\]
      | \[(?P<index>-?\d+)\]
      | \[(?P<all>\*)\]
      | \[\?\(@\.(?P<key>[\w.-]+)\s*==\s*["'](?P<value>[^"']*)["']\)\]
    """,
    re.VERBOSE,
)


def read(obj: Any, path: str) -> list[Any]:
    """Return the values at a path, in order.

    Empty if there are none or the path is not understood.
    """
    found = [obj]
    position = 0
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            return []
        found = [value for item in found for value in _follow(item, step)]
        position = step.end()
    return found


def _follow(item: Any, step: re.Match[str]) -> list[Any]:
    name = step["name"] or step["quoted"]
    if name is not None:
        name = name.replace("\\.", ".")
        return [item[name]] if isinstance(item, dict) and name in item else []
    if not isinstance(item, list):
        return []
    if step["index"] is not None:
        index = int(step["index"])
        return [item[index]] if -len(item) <= index < len(item) else []
    if step["all"]:
        return list(item)
    return [
        entry
        for entry in item
        if [step["value"]] == [str(value) for value in read(entry, "." + step["key"])]
    ]
