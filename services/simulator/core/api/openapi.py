"""OpenAPI documents, v2 and v3, made from the field table.

They are enough for kubectl's validation, explain and apply.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

from libs.apiserver.types import table
from services.simulator.core.api.messages import Request, Response, to_json
from services.simulator.core.api.resources import Catalogue, Resource

_SCALARS: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "float64": {"type": "number", "format": "double"},
    "bytes": {"type": "string", "format": "byte"},
    "quantity": {"type": "string"},
    "intstr": {"type": "string", "format": "int-or-string"},
    "time": {"type": "string", "format": "date-time"},
    "microtime": {"type": "string", "format": "date-time"},
    "duration": {"type": "string"},
}


def answer(catalogue: Catalogue, request: Request) -> Response | None:
    """Return an OpenAPI document, None if the path is none."""
    path = request.path.rstrip("/")
    if path == "/openapi/v2":
        return Response(body=to_json(_version_2(catalogue)))
    if path == "/openapi/v3":
        return Response(body=to_json({"paths": dict(_index(catalogue))}))
    if path.startswith("/openapi/v3/"):
        wanted = path.removeprefix("/openapi/v3/")
        resources = [
            resource
            for resource in catalogue
            if _folder(resource) == wanted and _is_described(resource)
        ]
        if resources:
            return Response(body=to_json(_version_3(resources)))
    return None


def _is_described(resource: Resource) -> bool:
    """Tell whether a resource has a schema: what measures serve has none."""
    return resource.custom or bool(resource.type)


def _folder(resource: Resource) -> str:
    return f"apis/{resource.group_version}" if resource.group else f"api/{resource.version}"


def _index(catalogue: Catalogue) -> Iterator[tuple[str, dict[str, str]]]:
    for folder in dict.fromkeys(_folder(resource) for resource in catalogue):
        kinds = sorted(resource.plural for resource in catalogue if _folder(resource) == folder)
        digest = hashlib.sha256(" ".join(kinds).encode()).hexdigest().upper()
        yield folder, {"serverRelativeURL": f"/openapi/v3/{folder}?hash={digest}"}


def _version_2(catalogue: Catalogue) -> dict[str, Any]:
    resources = [resource for resource in catalogue if _is_described(resource)]
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": "v1.36.2"},
        "paths": _paths(resources, "#/definitions/"),
        "definitions": _schemas(resources, "#/definitions/"),
    }


def _version_3(resources: list[Resource]) -> dict[str, Any]:
    prefix = "#/components/schemas/"
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.36.2"},
        "paths": _paths(resources, prefix),
        "components": {"schemas": _schemas(resources, prefix)},
    }


def _paths(resources: list[Resource], prefix: str) -> dict[str, Any]:
    """Return one path per resource, so that clients find dry run and field validation supported."""
    paths = {}
    names = ("dryRun", "fieldManager", "fieldValidation", "force")
    for resource in resources:
        scope = "/namespaces/{namespace}" if resource.namespaced else ""
        gvk = {"group": resource.group, "version": resource.version, "kind": resource.kind}
        patch = {
            "parameters": [
                {"name": name, "in": "query", "type": "string", "uniqueItems": True}
                for name in names
            ],
            "responses": {
                "200": {"description": "OK", "schema": {"$ref": prefix + _name(resource)}}
            },
            "x-kubernetes-group-version-kind": gvk,
            "x-kubernetes-action": "patch",
        }
        paths[f"/{_folder(resource)}{scope}/{resource.plural}/{{name}}"] = {"patch": patch}
    return paths


def _name(resource: Resource) -> str:
    if resource.custom:
        reversed_group = ".".join(reversed(resource.group.split(".")))
        return f"{reversed_group}.{resource.version}.{resource.kind}"
    return definition_name(resource.type)


def definition_name(type_: str) -> str:
    """Return the name of a struct's schema (`core/v1.Pod` → `io.k8s.api.core.v1.Pod`)."""
    package, _, name = type_.lstrip("*").rpartition(".")
    home = {"meta/v1": "io.k8s.apimachinery.pkg.apis.meta.v1"}.get(package)
    return f"{home or 'io.k8s.api.' + package.replace('/', '.')}.{name}"


def _schemas(resources: list[Resource], prefix: str) -> dict[str, Any]:
    schemas: dict[str, Any] = {}
    for resource in resources:
        gvk = {"group": resource.group, "version": resource.version, "kind": resource.kind}
        if resource.custom:
            schema = _custom_schema(resource, schemas, prefix)
        else:
            _collect(resource.type, schemas, prefix)
            schema = dict(schemas[_name(resource)])
        schemas[_name(resource)] = {**schema, "x-kubernetes-group-version-kind": [gvk]}
    return schemas


def _custom_schema(resource: Resource, schemas: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return the schema of a custom resource as its definition has it, with the usual envelope."""
    own = dict(resource.schema or {"type": "object"})
    envelope = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": _schema_of(table.OBJECT_META, schemas, prefix),
    }
    return {**own, "properties": {**envelope, **(own.get("properties") or {}), **envelope}}


def _collect(type_: str, schemas: dict[str, Any], prefix: str) -> None:
    name = definition_name(type_)
    struct = table.struct_of(type_)
    if name in schemas or struct is None:
        return
    schemas[name] = schema = {"type": "object"}
    schema["properties"] = properties = {}  # type: ignore[assignment]  # filled after it is known, for recursive types
    for field_name, field in struct.items():
        properties[field_name] = {**_schema_of(field.type, schemas, prefix), **_merging(field)}


def _merging(field: table.Field) -> dict[str, Any]:
    extensions: dict[str, Any] = {}
    if field.merge_key is not None:
        extensions["x-kubernetes-patch-strategy"] = "merge"
        if field.merge_key:
            extensions["x-kubernetes-patch-merge-key"] = field.merge_key
    if field.is_list:
        extensions["x-kubernetes-list-type"] = field.list_type
        if field.list_keys:
            extensions["x-kubernetes-list-map-keys"] = list(field.list_keys)
    return extensions


def _schema_of(type_: str, schemas: dict[str, Any], prefix: str) -> dict[str, Any]:
    bare = type_.lstrip("*")
    if bare.startswith("[]"):
        return {"type": "array", "items": _schema_of(bare[2:], schemas, prefix)}
    if bare.startswith("map:"):
        return {"type": "object", "additionalProperties": _schema_of(bare[4:], schemas, prefix)}
    if table.struct_of(bare) is not None:
        _collect(bare, schemas, prefix)
        return {"$ref": prefix + definition_name(bare)}
    return dict(_SCALARS.get(bare, {}))
