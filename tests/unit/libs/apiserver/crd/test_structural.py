"""Definitions whose schemas are not structural are refused, with the path within the definition."""

from typing import Any

import pytest

from libs.apiserver.crd.structural import schema_errors
from libs.kube.crd_files import read_crds


def a_definition(*schemas: dict[str, Any] | None, **spec: Any) -> dict[str, Any]:
    versions = [
        {"name": f"v{index}", **({} if schema is None else {"schema": {"openAPIV3Schema": schema}})}
        for index, schema in enumerate(schemas)
    ]
    return {"spec": {"versions": versions, **spec}}


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


KEYED = {"type": "array", "x-kubernetes-list-type": "map"}


@pytest.mark.parametrize("kind", sorted(read_crds()))
def test_our_own_definitions_are_structural(kind: str) -> None:
    assert schema_errors(read_crds(overlay="kwok")[kind]) == []


@pytest.mark.parametrize(
    ("definition", "wanted"),
    [
        pytest.param(
            a_definition(None),
            ["spec.versions[0].schema.openAPIV3Schema: Required value"],
            id="no schema",
        ),
        pytest.param(
            a_definition(an_object(a={}, l={"type": "array"})),
            [
                "spec.validation.openAPIV3Schema.properties[a].type: "
                "Required value: must not be empty for specified object fields",
                "spec.validation.openAPIV3Schema.properties[l].items: "
                "Required value: must be specified",
            ],
            id="untyped property, list without items",
        ),
        pytest.param(
            a_definition(an_object(l={"type": "array", "items": [{"type": "string"}]})),
            [
                "spec.validation.openAPIV3Schema.properties[l].items: "
                "Forbidden: items must be a schema object and not an array"
            ],
            id="a list with a schema per item",
        ),
        pytest.param(
            a_definition({}),
            ["spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root"],
            id="untyped root",
        ),
        pytest.param(
            a_definition(an_object(), {"type": "array", "items": {"type": "string"}}),
            [
                "spec.versions[1].schema.openAPIV3Schema.type: "
                'Invalid value: "array": must be object at the root'
            ],
            id="a second version that is no object",
        ),
        pytest.param(
            a_definition(an_object(l={**KEYED, "items": an_object(k={"type": "string"})})),
            [
                "spec.validation.openAPIV3Schema.properties[l].x-kubernetes-list-map-keys: "
                "Required value: must not be empty if x-kubernetes-list-type is map"
            ],
            id="map without keys",
        ),
        pytest.param(
            a_definition(an_object(a={"type": "string", "default": 5})),
            [
                "spec.validation.openAPIV3Schema.properties[a].default: "
                'Invalid value: "integer":  in body must be of type string: "integer"'
            ],
            id="default of another type",
        ),
        pytest.param(
            a_definition(an_object(), preserveUnknownFields=True),
            [
                "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
                "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
            ],
            id="unknown fields kept altogether",
        ),
        pytest.param(
            a_definition(an_object(a={"x-kubernetes-preserve-unknown-fields": True})),
            [],
            id="an open property needs no type",
        ),
    ],
)
def test_a_schema_that_is_not_structural_is_refused(
    definition: dict[str, Any], wanted: list[str]
) -> None:
    assert [f"{error.field}: {error.message}" for error in schema_errors(definition)] == wanted


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "("},
        {"type": "string", "x-kubernetes-validations": [{"rule": "self ="}]},
        {**KEYED, "x-kubernetes-list-map-keys": ["x"], "items": an_object(k={"type": "string"})},
        {**KEYED, "x-kubernetes-list-map-keys": ["k"], "items": an_object(k={"type": "string"})},
        {"type": "object", "properties": {}, "default": {"unknown": 1}},
    ],
)
def test_a_schema_that_can_never_work_is_refused(schema: dict[str, Any]) -> None:
    (error,) = schema_errors(a_definition(an_object(a=schema)))

    assert error.field.startswith("spec.validation.openAPIV3Schema.properties[a]")
