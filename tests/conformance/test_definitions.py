"""Custom resources: schemas, defaults, pruning, CEL, columns, versions, scale."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.objects import Object, a_definition

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

SPEC = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 10},
        "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
        "replicas": {"type": "integer"},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "either": {"x-kubernetes-int-or-string": True},
        "when": {"type": "string", "format": "date-time"},
        "tags": {
            "type": "array",
            "items": {"type": "string"},
            "x-kubernetes-list-type": "set",
        },
        "fixed": {
            "type": "string",
            "maxLength": 9,
            "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "fixed for ever"}],
        },
    },
    "x-kubernetes-validations": [
        {
            "rule": "!has(self.replicas) || self.replicas <= self.size",
            "message": "more replicas than size",
        },
        {
            "rule": "self.size >= oldSelf.size",
            "messageExpression": "self.size < 2 ? 'very small' : 'smaller'",
            "fieldPath": ".size",
        },
    ],
}
STATUS = {
    "type": "object",
    "properties": {"replicas": {"type": "integer"}, "selector": {"type": "string"}},
}
COLUMNS = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
    {"name": "Colour", "type": "string", "jsonPath": ".spec.colour", "priority": 1},
]
SUBRESOURCES = {
    "status": {},
    "scale": {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    },
}


@pytest.fixture
def group(unique: Callable[[str], str]) -> str:
    return unique("g") + ".example.com"


@pytest.fixture
def things(
    cluster: Cluster, namespace: str, group: str, create: Callable[[str, Object], Object]
) -> Iterator[str]:
    body = a_definition(
        group,
        {"spec": SPEC, "status": STATUS},
        subresources=SUBRESOURCES,
        additionalPrinterColumns=COLUMNS,
    )
    create(DEFINITIONS, body)
    cluster.until(f"{DEFINITIONS}/things.{group}", is_established)
    path = f"/apis/{group}/v1/namespaces/{namespace}/things"
    cluster.until(path, bool)
    yield path
    cluster.delete(path)


def is_established(definition: Object) -> bool:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)


def a_thing(things: str, **spec: Any) -> Object:
    _, _, group, version, *_ = things.split("/")
    return {
        "apiVersion": f"{group}/{version}",
        "kind": "Thing",
        "metadata": {"name": "t"},
        "spec": {"size": 3, **spec},
    }


def test_defaults_are_filled_in_and_unknown_fields_dropped(cluster: Cluster, things: str) -> None:
    made = cluster.post(things, a_thing(things, odd=1, free={"kept": 1}, either="1")).ok()

    assert made["spec"] == {"size": 3, "colour": "red", "free": {"kept": 1}, "either": "1"}
    assert made["metadata"]["generation"] == 1


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        ({"size": 0}, ("FieldValueInvalid", "spec.size")),
        ({"size": 11}, ("FieldValueInvalid", "spec.size")),
        ({"colour": "green"}, ("FieldValueNotSupported", "spec.colour")),
        ({"name": "A"}, ("FieldValueInvalid", "spec.name")),
        ({"name": "abcdef"}, ("FieldValueTooLong", "spec.name")),
        ({"size": "3"}, ("FieldValueTypeInvalid", "spec.size")),
        ({"when": "soon"}, ("FieldValueTypeInvalid", "spec.when")),
        ({"tags": ["a", "a"]}, ("FieldValueDuplicate", "spec.tags[1]")),
        ({"replicas": 4}, ("FieldValueInvalid", "spec")),
    ],
    ids=str,
)
def test_what_the_schema_forbids_is_refused(
    cluster: Cluster, things: str, spec: Object, cause: tuple[str, str]
) -> None:
    answer = cluster.post(things, a_thing(things, **spec))

    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    assert cause in answer.causes


def test_a_missing_field_is_required(cluster: Cluster, things: str) -> None:
    body = {**a_thing(things), "spec": {}}

    assert ("FieldValueRequired", "spec.size") in cluster.post(things, body).causes


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        pytest.param({"fixed": "a"}, {"fixed": "b"}, "fixed for ever", id="of a field"),
        pytest.param({"size": 5}, {"size": 4}, "smaller", id="of an object"),
        pytest.param({}, {"fixed": "a"}, "", id="first set"),
        pytest.param({"size": 5}, {"size": 6}, "", id="kept"),
    ],
)
def test_a_rule_sees_what_was(
    cluster: Cluster, things: str, before: Object, after: Object, message: str
) -> None:
    cluster.post(things, a_thing(things, **before)).ok()

    answer = cluster.patch(f"{things}/t", {"spec": after})

    assert answer.status == (422 if message else 200)
    assert not message or message in answer.message


def test_the_status_is_written_apart(cluster: Cluster, things: str) -> None:
    made = cluster.post(things, {**a_thing(things), "status": {"replicas": 1}}).ok()
    assert "status" not in made

    body = {**a_thing(things, size=9), "status": {"replicas": 2}}
    body["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"]
    written = cluster.put(f"{things}/t/status", body).ok()

    assert (written["spec"]["size"], written["status"]) == (3, {"replicas": 2})
    assert written["metadata"]["generation"] == 1


def test_a_change_of_the_spec_is_a_new_generation(cluster: Cluster, things: str) -> None:
    cluster.post(things, a_thing(things)).ok()

    labelled = cluster.patch(f"{things}/t", {"metadata": {"labels": {"a": "b"}}}).ok()
    changed = cluster.patch(f"{things}/t", {"spec": {"size": 4}}).ok()

    assert (labelled["metadata"]["generation"], changed["metadata"]["generation"]) == (1, 2)


def test_its_scale_is_read_and_written(cluster: Cluster, things: str) -> None:
    cluster.post(things, a_thing(things, replicas=1)).ok()
    cluster.patch(f"{things}/t/status", {"status": {"replicas": 1, "selector": "a=b"}}).ok()

    scale = cluster.get(f"{things}/t/scale").ok()
    assert (scale["spec"], scale["status"]) == (
        {"replicas": 1},
        {"replicas": 1, "selector": "a=b"},
    )

    cluster.patch(f"{things}/t/scale", {"spec": {"replicas": 2}}).ok()
    assert cluster.get(f"{things}/t").ok()["spec"]["replicas"] == 2
    assert cluster.patch(f"{things}/t/scale", {"spec": {"replicas": 9}}).status == 422


def test_its_columns_are_shown(cluster: Cluster, things: str) -> None:
    cluster.post(things, a_thing(things)).ok()

    table = cluster.table(things)

    columns = [(one["name"], one["priority"]) for one in table["columnDefinitions"]]
    assert columns == [("Name", 0), ("Size", 0), ("Colour", 1)]
    assert table["rows"][0]["cells"] == ["t", 3, "red"]


def test_it_is_applied_and_merged(cluster: Cluster, things: str) -> None:
    path = f"{things}/t"
    cluster.apply(path, a_thing(things), "one").ok()
    cluster.apply(path, {**a_thing(things), "spec": {"size": 3, "name": "x"}}, "two").ok()

    refused = cluster.apply(path, a_thing(things, size=4), "one")
    strategic = cluster.patch(path, {"spec": {"size": 4}}, "application/strategic-merge-patch+json")

    assert refused.causes == [("FieldManagerConflict", ".spec.size")]
    assert strategic.status == 415


def test_a_definition_is_discovered_and_goes_with_its_objects(
    cluster: Cluster, things: str, group: str
) -> None:
    cluster.post(things, a_thing(things)).ok()
    found = cluster.until(f"/apis/{group}/v1", lambda found: found["resources"])
    assert {one["name"] for one in found["resources"]} == {
        "things",
        "things/status",
        "things/scale",
    }

    cluster.delete(f"{DEFINITIONS}/things.{group}").ok()

    cluster.until_gone(f"{DEFINITIONS}/things.{group}")
    cluster.until_gone(things)


def test_versions_show_the_same_objects(
    cluster: Cluster, namespace: str, group: str, create: Callable[[str, Object], Object]
) -> None:
    body = a_definition(group, {"spec": {"type": "object", "properties": {}}})
    (version,) = body["spec"]["versions"]
    version["schema"]["openAPIV3Schema"]["properties"]["spec"] = {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
    }
    body["spec"]["versions"].append({**version, "name": "v2", "storage": False})
    create(DEFINITIONS, body)
    first, second = (f"/apis/{group}/{one}/namespaces/{namespace}/things" for one in ("v1", "v2"))
    cluster.until(second, bool)
    cluster.until(first, bool)
    cluster.post(first, a_thing(first, a=1)).ok()

    read = cluster.get(f"{second}/t").ok()

    assert (read["apiVersion"], read["spec"]["a"]) == (f"{group}/v2", 1)
    cluster.delete(f"{first}/t")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param({"scope": "Everywhere"}, "spec.scope", id="scope"),
        pytest.param({"versions": []}, "spec.versions", id="no version"),
        pytest.param({"group": "other.example.com"}, "metadata.name", id="name"),
    ],
)
def test_a_wrong_definition_is_refused(
    cluster: Cluster, group: str, change: Object, field: str
) -> None:
    body = a_definition(group, {"spec": SPEC})
    body["spec"] |= change

    answer = cluster.post(DEFINITIONS, body)

    assert answer.status == 422
    assert field in {at for _, at in answer.causes}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "object", "properties": {"a": {}}}, id="no type"),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": "string", "default": 5}}},
            id="default of another type",
        ),
        pytest.param(
            {"type": "object", "x-kubernetes-validations": [{"rule": "self.+"}]},
            id="a rule that is no expression",
        ),
    ],
)
def test_a_wrong_schema_is_refused(cluster: Cluster, group: str, schema: Object) -> None:
    assert cluster.post(DEFINITIONS, a_definition(group, {"spec": schema})).status == 422


def of_string(**more: Any) -> Object:
    return {"type": "object", "properties": {"a": {"type": "string", **more}}}


def ruled(rule: str, **more: Any) -> Object:
    return {**of_string(), "x-kubernetes-validations": [{"rule": rule, "message": "m", **more}]}


A = "spec.validation.openAPIV3Schema.properties[spec].properties[a]"
RULE = "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]"


@pytest.mark.parametrize(
    ("schema", "field", "why"),
    [
        pytest.param(
            of_string(pattern="("), f"{A}.pattern", "missing closing ): `(`", id="pattern"
        ),
        pytest.param(of_string(type="text"), f"{A}.type", 'Unsupported value: "text"', id="type"),
        pytest.param(
            of_string(uniqueItems=True), f"{A}.uniqueItems", "becomes quadratic", id="unique"
        ),
        pytest.param(
            of_string(oneOf=[{"type": "string"}]),
            f"{A}.oneOf[0].type",
            "must be empty to be structural",
            id="type within oneOf",
        ),
        pytest.param(
            of_string(**{"x-kubernetes-list-type": "set"}),
            f"{A}.type",
            "must be array if x-kubernetes-list-type is specified",
            id="list type of a string",
        ),
        pytest.param(
            {**of_string(), "additionalProperties": {"type": "string"}},
            "spec.validation.openAPIV3Schema.properties[spec].additionalProperties",
            "mutual exclusive",
            id="struct and map",
        ),
        pytest.param(ruled("self.a"), f"{RULE}.rule", "must evaluate to a bool", id="no truth"),
        pytest.param(ruled("self.b == 1"), f"{RULE}.rule", "undefined field 'b'", id="no field"),
        pytest.param(
            ruled("self.a > 1"), f"{RULE}.rule", "no matching overload for '_>_'", id="unlike"
        ),
        pytest.param(ruled("self.a >"), f"{RULE}.rule", "mismatched input '<EOF>'", id="cut off"),
        pytest.param(
            ruled("true", fieldPath=".b"), f"{RULE}.fieldPath", "must be a valid path", id="path"
        ),
        pytest.param(
            ruled("true", reason="Because"), f"{RULE}.reason", "Unsupported value", id="reason"
        ),
    ],
)
def test_a_schema_is_refused_with_its_reason(
    cluster: Cluster, group: str, schema: Object, field: str, why: str
) -> None:
    answer = cluster.post(DEFINITIONS, a_definition(group, {"spec": schema}), dryRun="All")

    assert answer.status == 422
    found = [one["message"] for one in answer.body["details"]["causes"] if one["field"] == field]
    assert [message for message in found if why in message]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param(
            {"additionalPrinterColumns": [{"name": "A", "type": "text", "jsonPath": ".spec.a"}]},
            "spec.additionalPrinterColumns[0].type",
            id="type of a column",
        ),
        pytest.param(
            {"additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": "spec.a"}]},
            "spec.additionalPrinterColumns[0].JSONPath",
            id="path of a column",
        ),
        pytest.param(
            {"selectableFields": [{"jsonPath": ".spec.none"}]},
            "spec.selectableFields[0].jsonPath",
            id="a field that is not there",
        ),
        pytest.param(
            {
                "subresources": {
                    "scale": {"specReplicasPath": ".n", "statusReplicasPath": ".status.n"}
                }
            },
            "spec.subresources.scale.specReplicasPath",
            id="replicas elsewhere",
        ),
        pytest.param({"name": "V1"}, "spec.versions[0].name", id="name of a version"),
    ],
)
def test_a_version_is_refused(cluster: Cluster, group: str, change: Object, field: str) -> None:
    body = a_definition(group, {"spec": of_string(), "status": STATUS})
    body["spec"]["versions"][0] |= change

    answer = cluster.post(DEFINITIONS, body, dryRun="All")

    assert answer.status == 422
    assert field in {at for _, at in answer.causes}


def test_an_embedded_resource_is_one(
    cluster: Cluster, namespace: str, group: str, create: Callable[[str, Object], Object]
) -> None:
    embedded = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
    schema = {"type": "object", "properties": {"e": embedded}}
    create(DEFINITIONS, a_definition(group, {"spec": schema}))
    things = f"/apis/{group}/v1/namespaces/{namespace}/things"
    cluster.until(things, bool)

    refused = cluster.post(things, a_thing(things, e={"x": 1}))
    assert refused.causes == [
        ("FieldValueRequired", "spec.e.apiVersion"),
        ("FieldValueRequired", "spec.e.kind"),
    ]
    whole = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "odd": 1}}
    made = cluster.post(things, a_thing(things, e=whole)).ok()
    assert made["spec"]["e"]["metadata"] == {"name": "p"}
    cluster.delete(f"{things}/t")
