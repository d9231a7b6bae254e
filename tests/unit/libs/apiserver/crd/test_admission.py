"""A custom resource's way through its CRD: pruning, defaults, status, lists, silenced rules."""

import copy
from typing import Any

import pytest

from libs.apiserver.crd.admission import Admission, CompiledVersion, compile_crd
from libs.apiserver.field_errors import FieldError
from libs.domain.errors import InvalidRequest
from services.simulator.core.api.frozen import freeze


def a_version(spec: dict[str, Any], status: dict[str, Any] | None = None) -> CompiledVersion:
    properties: dict[str, Any] = {"spec": {"type": "object", "properties": spec}}
    version: dict[str, Any] = {"name": "v1"}
    if status is not None:
        properties["status"] = status
        version["subresources"] = {"status": {}}
    version["schema"] = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    names = {"kind": "Thing", "plural": "things"}
    crd = {"spec": {"group": "x.io", "names": names, "scope": "Cluster", "versions": [version]}}
    return compile_crd(crd).versions["v1"]


def a_thing(spec: Any = None, **more: Any) -> dict[str, Any]:
    thing = {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "t"}, **more}
    return thing if spec is None else {**thing, "spec": spec}


def fields(admission: Admission) -> list[str]:
    return [cause.field for cause in admission.causes]


def test_unknown_fields_are_pruned_and_named() -> None:
    version = a_version({"a": {"type": "object", "properties": {"b": {"type": "string"}}}})

    admission = version.admit(a_thing({"a": {"b": "x", "c": 1}, "d": [1]}, extra=1), None)

    assert admission.object["spec"] == {"a": {"b": "x"}}
    assert admission.unknown == ("extra", "spec.a.c", "spec.d")


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        pytest.param({"x-kubernetes-preserve-unknown-fields": True}, {"z": [{"q": 1}]}, id="free"),
        pytest.param(
            {
                "type": "object",
                "x-kubernetes-embedded-resource": True,
                "properties": {"spec": {"type": "object"}},
            },
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}},
            id="an embedded resource keeps its envelope",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": {"type": "string"}}, {"any": "x"}, id="map"
        ),
    ],
)
def test_what_a_schema_leaves_open_is_not_pruned(schema: dict[str, Any], kept: object) -> None:
    admission = a_version({"a": schema}).admit(a_thing({"a": kept}), None)

    assert admission.object["spec"] == {"a": kept}
    assert admission.causes == ()


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        pytest.param({}, {}, id="no default below an absent parent"),
        pytest.param({"p": {}}, {"p": {"d": "x"}}, id="default below a present parent"),
        pytest.param({"p": {"d": None}}, {"p": {"d": "x"}}, id="null is absence"),
        pytest.param({"p": None}, {}, id="null without a default is dropped"),
        pytest.param({"n": None}, {"n": None}, id="nullable null stays"),
        pytest.param(
            {"m": {"k": None, "l": "v"}}, {"m": {"l": "v"}}, id="null in a map is dropped"
        ),
        pytest.param({"i": 2.0}, {"i": 2}, id="whole doubles are stored as integers"),
    ],
)
def test_defaults_and_nulls(sent: dict[str, Any], stored: dict[str, Any]) -> None:
    version = a_version(
        {
            "p": {"type": "object", "properties": {"d": {"type": "string", "default": "x"}}},
            "n": {"type": "string", "nullable": True},
            "m": {"type": "object", "additionalProperties": {"type": "string"}},
            "i": {"type": "integer"},
        }
    )

    admission = version.admit(a_thing(sent), None)

    assert admission.causes == ()
    assert repr(admission.object["spec"]) == repr(stored)


STATUS = {"type": "object", "properties": {"n": {"type": "integer"}}}


def test_a_main_update_keeps_the_stored_status() -> None:
    version = a_version({"a": {"type": "string"}}, STATUS)
    old = a_thing({"a": "x"}, status={"n": 1})

    admission = version.admit(a_thing({"a": "y"}, status="nonsense"), old)

    assert admission.causes == ()
    assert admission.object["spec"] == {"a": "y"}
    assert admission.object["status"] == {"n": 1}


def test_a_creation_drops_the_status() -> None:
    admission = a_version({}, STATUS).admit(a_thing({}, status={"n": 1}), None)

    assert "status" not in admission.object


def test_a_status_update_keeps_the_stored_spec_whatever_the_body_says() -> None:
    version = a_version({"a": {"type": "string"}}, STATUS)
    old = a_thing({"a": "x"}, status={"n": 1})

    admission = version.admit(a_thing({"a": 5}, status={"n": 2}), old, subresource="status")

    assert admission.causes == ()
    assert admission.object["spec"] == {"a": "x"}
    assert admission.object["status"] == {"n": 2}


def test_errors_of_a_status_name_paths_below_it() -> None:
    version = a_version({}, STATUS)

    admission = version.admit(a_thing({}, status={"n": "x"}), a_thing({}), subresource="status")

    (cause,) = admission.causes
    assert cause.field == "status.n"
    assert ': n in body must be of type integer: "string"' in cause.message


RULED = {"a": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 5"}]}}


@pytest.mark.parametrize(
    ("spec", "extra", "asked"),
    [
        pytest.param({"a": 1}, {}, True, id="without other errors"),
        pytest.param({"a": 1, "b": 1}, {"b": {"type": "string"}}, False, id="type error"),
        pytest.param(
            {"a": 1, "b": "c"}, {"b": {"type": "string", "enum": ["d"]}}, False, id="enum"
        ),
        pytest.param(
            {"a": 1, "b": "c"}, {"b": {"type": "string", "pattern": "d"}}, True, id="pattern"
        ),
        pytest.param(
            {"a": 1, "b": 0}, {"b": {"type": "integer", "minimum": 1}}, True, id="minimum"
        ),
    ],
)
def test_some_schema_errors_keep_the_rules_from_being_asked(
    spec: dict[str, Any], extra: dict[str, Any], asked: bool
) -> None:
    admission = a_version({**RULED, **extra}).admit(a_thing(spec), None)

    assert ("spec.a" in fields(admission)) is asked
    assert ("<nil>" in fields(admission)) is not asked


def test_errors_of_the_metadata_can_keep_the_rules_from_being_asked() -> None:
    missing = FieldError("FieldValueRequired", "Required value", "metadata.name")

    admission = a_version(RULED).admit(a_thing({"a": 1}), None, metadata_causes=(missing,))

    assert fields(admission) == ["metadata.name", "<nil>"]


def test_another_kind_is_the_only_cause() -> None:
    body = {**a_thing({"a": "x"}), "kind": "Other"}

    (cause,) = a_version({"a": {"type": "integer"}}).admit(body, None).causes

    assert (cause.field, cause.message) == ("kind", 'Invalid value: "Other": must be Thing')


@pytest.mark.parametrize(
    ("value", "where", "message"),
    [
        ({"s": ["a", "b", "a"]}, "spec.s[2]", 'Duplicate value: "a"'),
        ({"m": [{"k": "a"}, {"k": "a"}]}, "spec.m[1]", 'Duplicate value: {"k":"a"}'),
    ],
)
def test_repeated_items_of_sets_and_maps_are_refused(
    value: dict[str, Any], where: str, message: str
) -> None:
    text = {"type": "string"}
    keyed = {"type": "object", "properties": {"k": text}}
    version = a_version(
        {
            "s": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
            "m": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": keyed,
            },
        }
    )

    (cause,) = version.admit(a_thing(value), None).causes
    kept = version.admit(a_thing(value), a_thing(value))

    assert (cause.field, cause.reason, cause.message) == (where, "FieldValueDuplicate", message)
    assert kept.causes == ()


def test_neither_argument_is_changed() -> None:
    version = a_version(
        {"p": {"type": "object", "properties": {"d": {"type": "string", "default": "x"}}}}, STATUS
    )
    body, old = (
        a_thing({"p": {}, "unknown": 1}),
        freeze(a_thing({"p": {"d": "y"}}, status={"n": 1})),
    )
    before = copy.deepcopy(body)

    admission = version.admit(body, old)

    assert body == before
    assert admission.object["status"] == {"n": 1}
    admission.object["status"]["n"] = 2
    assert old["status"] == {"n": 1}


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "string", "pattern": "("}, "spec.versions[0].schema.openAPIV3Schema."),
        (
            {"type": "string", "x-kubernetes-validations": [{"rule": "self."}]},
            "x-kubernetes-validations[0]",
        ),
        (
            {
                "type": "string",
                "x-kubernetes-validations": [{"rule": "true", "messageExpression": "nope"}],
            },
            "x-kubernetes-validations[0]",
        ),
    ],
)
def test_a_crd_that_does_not_compile_names_the_place(schema: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        a_version({"a": schema})

    assert place in refusal.value.field
