"""From the body of a PATCH to the value of the patch, with the refusals of Go's decoders.

Apart from the engine because callers in the process have values, and because each kind of patch is
read, and refused, in its own way.
"""

from typing import Any

from libs.apiserver.types.mismatch import json_kind
from services.simulator.core.api.bodies import Body, Unparsed, parse_json
from services.simulator.core.api.errors import bad_request
from services.simulator.core.api.patching.types import PatchType
from services.simulator.core.api.yaml_text import NoYaml, read_yaml

_MAP = "map[string]interface {}"
_OPERATION = "handlers.jsonPatchOp"


def read_body(type_: PatchType, body: bytes) -> Body:
    """Return the value of a patch body: YAML for apply, JSON for the others; raises a 400."""
    if type_ is PatchType.APPLY:
        return Body(value=_read_configuration(body))
    prefix = "" if type_ is PatchType.STRATEGIC else "error decoding patch: "
    try:
        found = parse_json(body)
    except Unparsed as error:
        raise bad_request(f"{prefix}{error}") from error
    value = found.value
    if type_ is PatchType.JSON:
        return Body(value=_operations(value), duplicates=found.duplicates)
    if value is None and type_ is PatchType.STRATEGIC:
        return Body(value={})
    if value is None:
        raise bad_request("Invalid JSON Patch")
    if not isinstance(value, dict):
        raise bad_request(f"{prefix}{_unfit(value, _MAP)}")
    return found


def _read_configuration(body: bytes) -> Any:
    try:
        value = read_yaml(body)
    except NoYaml as error:
        why = f"error converting YAML to JSON: {error}"
        raise bad_request(f"error decoding YAML: {why}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        why = f"error unmarshaling JSON: while decoding JSON: {_unfit(value, _MAP)}"
        raise bad_request(f"error decoding YAML: {why}")
    return value


def _operations(value: Any) -> list[Any]:
    if value is None:
        return []
    prefix = "error decoding patch: "
    if not isinstance(value, list):
        raise bad_request(f"{prefix}{_unfit(value, f'[]{_OPERATION}')}")
    for one in value:
        if one is not None and not isinstance(one, dict):
            raise bad_request(f"{prefix}{_unfit(one, _OPERATION)}")
        for name in ("op", "path", "from"):
            text = (one or {}).get(name)
            if text is not None and not isinstance(text, str):
                into = f"Go struct field jsonPatchOp.{name} of type string"
                raise bad_request(f"{prefix}json: cannot unmarshal {json_kind(text)} into {into}")
    return value


def _unfit(value: Any, wanted: str) -> str:
    return f"json: cannot unmarshal {json_kind(value)} into Go value of type {wanted}"
