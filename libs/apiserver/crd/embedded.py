"""Whole resources within a custom one (`x-kubernetes-embedded-resource`): what each must have.

`coerce` runs where a body is decoded, as for the resource itself: metadata is made that of any
object. `embedded_errors` judges the outcome.

Source: Kubernetes documentation, "RawExtension"; wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from libs.apiserver import metadata, names
from libs.apiserver.crd.schema import Schema
from libs.apiserver.crd.values import child
from libs.apiserver.field_errors import FieldError, required, shown, wrong
from libs.apiserver.types import codec, walking
from libs.apiserver.types.mismatch import Mismatch
from libs.apiserver.types.table import OBJECT_META

_MIXED_CASE = "may have mixed case, but should otherwise match: "
_NAMED = "fakename"
"""Stands in for a name that may be left out."""


class Malformed(ValueError):
    """A part that cannot be that of a resource; the text begins with its path."""


def coerce(value: Any, schema: Schema) -> list[str]:
    """Decode the metadata of all embedded resources in place; return paths of unknown fields.

    Raises:
        Malformed: kind, version or metadata is of the wrong type.
    """
    return [
        unknown for found, path in _embedded(value, schema, "") for unknown in _fit(found, path)
    ]


def _fit(resource: dict[str, Any], path: str) -> list[str]:
    for name in ("apiVersion", "kind"):
        if not isinstance(resource.get(name, ""), str):
            raise Malformed(
                f"{path}.{name}: Invalid value: {shown(resource[name])}: must be a string"
            )
    sent = resource.get("metadata")
    if sent is None:
        return []
    decoding = codec.Decoding()
    try:
        resource["metadata"] = codec.decode(OBJECT_META, sent, decoding)
    except Mismatch as mismatch:
        ordered = dict(sorted(sent.items())) if isinstance(sent, dict) else sent
        why = f"Invalid value: {shown(ordered)}: {mismatch.message()}"
        raise Malformed(f"{path}.metadata: {why}") from mismatch
    if resource["metadata"].get("creationTimestamp", "") is None:
        del resource["metadata"]["creationTimestamp"]
    if not decoding.unknown:
        return []
    found = [one.path for one in walking.unknown_fields(OBJECT_META, sent)]
    return [f"{path}.metadata.{one}" for one in found]


def embedded_errors(value: Any, schema: Schema) -> Iterator[FieldError]:
    """Yield what is wrong with the resources in a value, outer ones first."""
    for resource, path in _embedded(value, schema, ""):
        yield from _errors(resource, path)


def _embedded(value: Any, schema: Schema, path: str) -> Iterator[tuple[dict[str, Any], str]]:
    if isinstance(value, dict):
        if schema.embedded:
            yield value, path
        for name in sorted(value):
            inner = child(schema, name)
            if inner is not None:
                step = f".{name}" if name in schema.properties else f"[{name}]"
                yield from _embedded(value[name], inner, f"{path}{step}".removeprefix("."))
    elif isinstance(value, list) and schema.items is not None:
        for index, item in enumerate(value):
            yield from _embedded(item, schema.items, f"{path}[{index}]")


def _errors(resource: dict[str, Any], path: str) -> Iterator[FieldError]:
    for name in ("apiVersion", "kind"):
        at, text = f"{path}.{name}", resource.get(name)
        if text is None:
            yield required(at)
        elif not text:
            yield wrong(at, text, "must not be empty")
        elif name == "apiVersion" and text.count("/") > 1:
            yield wrong(at, text, f"unexpected GroupVersion string: {text}")
        elif name == "kind" and (found := names.label_1035(text.lower())):
            yield wrong(at, text, _MIXED_CASE + ",".join(found))
    meta = {"name": _NAMED, **(resource.get("metadata") or {})}
    namespace = meta.get("namespace", "")
    found_in = metadata.validate(meta, names.path_segment, namespaced=bool(namespace), custom=True)
    for error in found_in:
        yield replace(error, field=f"{path}.{error.field}")
    if namespace:
        for why in names.label(namespace):
            yield wrong(f"{path}.metadata.namespace", namespace, why)
