"""Validation of runtime classes.

Source: Kubernetes API reference, RuntimeClass; wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import Stored, present_and_formed
from libs.apiserver.field_errors import FieldError, duplicate, wrong
from libs.apiserver.metadata import IMMUTABLE, validate_labels
from libs.apiserver.rules.resources import container_resource, validate_requirements
from libs.apiserver.rules.scheduling import validate_tolerations

Object = dict[str, Any]


def validate(obj: Object) -> list[FieldError]:
    """Return what is wrong with a RuntimeClass."""
    found: list[FieldError] = [
        FieldError(one.reason, one.message, one.field.removeprefix("."))
        for one in present_and_formed(obj, "", "handler", names.label)
    ]
    if "overhead" in obj:
        limits = {"limits": obj["overhead"].get("podFixed") or {}}
        found += validate_requirements(limits, "overhead", check_name=container_resource)
    scheduling = obj.get("scheduling") or {}
    found += validate_labels(scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector")
    tolerations = scheduling.get("tolerations") or ()
    found += validate_tolerations(tolerations, "scheduling.tolerations")
    return [*found, *_repeated(tolerations)]


def _repeated(tolerations: Sequence[Stored]) -> Iterator[FieldError]:
    for index, one in enumerate(tolerations):
        if _key(one) in [_key(other) for other in tolerations[:index]]:
            yield duplicate(f"scheduling.tolerations[{index}]", _internal(one))


def _key(toleration: Stored) -> tuple[str, ...]:
    return tuple(toleration.get(name, "") for name in ("key", "operator", "value", "effect"))


def _internal(toleration: Stored) -> Mapping[str, Any]:
    shown = dict(zip(("Key", "Operator", "Value", "Effect"), _key(toleration), strict=True))
    return {**shown, "TolerationSeconds": toleration.get("tolerationSeconds")}


def fixed(new: Object, old: Stored) -> list[FieldError]:
    """Refuse another handler."""
    if new.get("handler") == old.get("handler"):
        return []
    return [wrong("handler", new.get("handler"), IMMUTABLE)]
