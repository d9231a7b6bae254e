"""How a refusal quotes an object that a patch has spoilt.

Kubernetes prints what its patch library leaves: levels that a JSON or merge patch went through have
their members sorted, what it did not touch stands as Go wrote it. Of a strategic merge patch it
prints the patch, as Go prints maps.
"""

import json
from typing import Any, NamedTuple

from libs.apiserver.types import codec
from libs.apiserver.types.mismatch import Mismatch
from services.simulator.core.api.patching.types import PatchType
from services.simulator.core.api.resources import Resource


class Patched(NamedTuple):
    """An object after a patch that it cannot be decoded from."""

    object: Any
    change: Any
    type: PatchType


def quoted(
    resource: Resource, patched: Patched, message: str, error: BaseException
) -> tuple[str, str]:
    """Return how the object is quoted, and what is said of it."""
    mismatch = error.__cause__
    if patched.type is PatchType.STRATEGIC and isinstance(mismatch, Mismatch):
        return _go(patched.change), _conversion(mismatch, message)
    obj = patched.object if resource.custom else codec.ordered(resource.type, patched.object)
    touched = patched.change
    if patched.type is PatchType.JSON:
        touched = _touched(patched.change)
    if not resource.custom and patched.type is not PatchType.STRATEGIC:
        obj = _sorted(obj, touched)
    return json.dumps(obj, ensure_ascii=False, separators=(",", ":")), message


def _touched(operations: Any) -> dict[str, Any]:
    """Return the levels that a JSON patch goes through, as a tree of names."""
    tree: dict[str, Any] = {}
    for operation in operations:
        for path in (operation.get("path"), operation.get("from")):
            node = tree
            for step in str(path or "").split("/")[1:-1]:
                node = node.setdefault(step.replace("~1", "/").replace("~0", "~"), {})
    return tree


def _sorted(value: Any, touched: Any) -> Any:
    if not isinstance(touched, dict):
        return value
    if isinstance(value, dict):
        return {name: _sorted(value[name], touched.get(name)) for name in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item, touched.get(str(index))) for index, item in enumerate(value)]
    return value


def _go(value: Any) -> str:
    """Return a value as Go's `%v` prints it."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{_go(value[name])}' for name in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(_go, value))}]"
    return str(value)


_FOUND = {"object": "map", "array": "slice", "string": "string", "bool": "bool"}


def _conversion(mismatch: Mismatch, message: str) -> str:
    """Return what Kubernetes' own converter says of a value of the wrong type."""
    if not mismatch.found:
        return message
    found, wanted = mismatch.found, mismatch.wanted
    kind = _FOUND.get(found, "float64" if "." in found else "int64")
    if wanted.startswith("map["):
        return f"cannot restore map from {kind}"
    if wanted.startswith("[]"):
        return f"cannot restore slice from {kind}"
    if mismatch.is_scalar or wanted == "string":
        go_kind = {"map": "map[string]interface {}", "slice": "[]interface {}"}.get(kind, kind)
        return f"cannot convert {go_kind} to {wanted}"
    return f"cannot restore struct from: {kind}"
