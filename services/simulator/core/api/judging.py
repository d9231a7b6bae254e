"""Whether a new state of an object is valid: by the kind's own rules, or by its CRD's schema."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from libs.apiserver import field_errors
from services.simulator.core.api import errors, resize
from services.simulator.core.api.definitions import Definitions
from services.simulator.core.api.gates import still_refused
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.strategies.registry import strategy_of

Object = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A state that is to be stored."""

    new: Object
    old: Object | None = None
    """None where the object is new."""
    subresource: str = ""
    metadata_errors: Sequence[field_errors.FieldError]


def judge(
    resource: Resource, change: Change, definitions: Definitions, gates: frozenset[str]
) -> tuple[Object, tuple[str, ...]]:
    """Return the object to store and the warnings; raises the 422."""
    if resource.custom:
        return _judge_custom(resource, change, definitions)
    strategy = strategy_of(resource)
    new, old, subresource = change.new, change.old, change.subresource
    found = [*change.metadata_errors]
    if subresource == "status" and old is not None:
        found += strategy.validate_status(new, old)
    else:
        found += strategy.validate(new)
        if old is None:
            found += strategy.validate_new(new)
        else:
            validate = resize.validate if subresource == "resize" else strategy.validate_update
            found += validate(new, old)
    if gates:
        found = still_refused(found, gates)
    errors.check(resource, new["metadata"].get("name", ""), found)
    return new, () if subresource else tuple(strategy.warnings(new, old))


def _judge_custom(
    resource: Resource, change: Change, definitions: Definitions
) -> tuple[Object, tuple[str, ...]]:
    new = change.new
    schema = definitions.version_of(resource)
    judged = schema.judge(
        new, change.old, subresource=change.subresource, metadata_causes=change.metadata_errors
    )
    warnings = tuple(f"{warning.field}: {warning.message}" for warning in judged.warnings)
    if judged.causes:
        kind, name = str(new.get("kind", resource.kind)), new["metadata"].get("name", "")
        with errors.warning(warnings):
            raise errors.invalid(kind, resource.group, name, judged.causes)
    return schema.read_back(new), warnings
