"""JSON merge patch (RFC 7386). The input is never changed.

The result shares what the patch does not touch.
"""

from typing import Any


def apply(target: Any, patch: Any) -> Any:
    """Return `target` with `patch` merged in.

    Objects recursively, null removes, everything else replaces.
    """
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = apply(merged.get(name), value)
    return merged
