import json
from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.kube.objects.decoding import decode_event, decode_list, decode_object, from_document
from libs.kube.objects.karpenter import NodeClass
from libs.kube.objects.kinds import STRUCTS, KubeObject, is_namespaced, kind_of, struct_of
from libs.kube.objects.pod import Pod
from libs.kube.objects.storage import CsiNode
from tests.unit.libs.kube.manifests import a_pod


def _bytes(document: Any) -> bytes:
    return json.dumps(document).encode()


def _list(*items: Any, **metadata: str) -> bytes:
    return _bytes({"kind": "PodList", "metadata": metadata, "items": list(items)})


def test_unknown_fields_are_skipped_and_absent_ones_are_zero() -> None:
    found = decode_object(_bytes({"metadata": {"name": "a", "x": 1}, "spec": {"y": []}}), Pod)

    assert (found.metadata.name, found.spec.containers, found.metadata.labels) == ("a", (), {})


def test_a_null_is_an_absent_field() -> None:
    document = {"metadata": {"name": "a", "labels": None}, "spec": {"containers": None}}

    found = decode_object(_bytes(document), Pod)

    assert (found.metadata.labels, found.spec.containers) == ({}, ())


def test_names_that_are_not_plain_camel_case_are_read() -> None:
    port = {"containerPort": 1, "hostIP": "10.0.0.1"}

    found = decode_object(_bytes(a_pod(containers=[{"name": "c", "ports": [port]}])), Pod)

    assert found.spec.containers[0].ports[0].host_ip == "10.0.0.1"


@pytest.mark.parametrize(
    ("document", "field"),
    [
        pytest.param({"spec": {"containers": [{"name": 3}]}}, "spec.containers[0].name", id="type"),
        pytest.param({"metadata": {"labels": {"a": 1}}}, "metadata.labels.a", id="map value"),
        pytest.param(
            {"metadata": {"creationTimestamp": "yesterday"}},
            "metadata.creationTimestamp",
            id="timestamp",
        ),
        pytest.param({"spec": []}, "spec", id="object expected"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(document: Any, field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        decode_object(_bytes(document), Pod)

    assert caught.value.field == field


def test_bytes_that_are_no_json_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="not JSON"):
        decode_list(b"{", Pod)


def test_a_broken_item_does_not_lose_the_list() -> None:
    broken = {"metadata": {"name": "b", "namespace": "n"}, "spec": {"nodeName": 1}}

    found = decode_list(_list(a_pod("a"), broken, a_pod("c"), resourceVersion="7"), Pod)

    assert [one.metadata.name for one in found.items] == ["a", "c"]
    (error,) = found.broken
    assert (error.kind, error.namespace, error.name) == ("Pod", "n", "b")
    assert error.error.field == "spec.nodeName"
    assert found.metadata.resource_version == "7"


def test_a_broken_item_without_a_kind_is_named_by_its_struct() -> None:
    found = decode_list(_list({"metadata": {"name": "b"}, "spec": 1}), CsiNode)

    assert found.broken[0].kind == "CSINode"


def test_a_list_of_nothing_may_be_null() -> None:
    data = _bytes({"metadata": {"resourceVersion": "7", "continue": "more"}, "items": None})

    found = decode_list(data, Pod)

    assert (found.items, found.metadata.continue_token) == ((), "more")


def test_an_event_brings_its_object() -> None:
    found = decode_event(_bytes({"type": "ADDED", "object": a_pod("a")}), Pod)

    assert found.object is not None
    assert (found.type, found.object.metadata.name) == ("ADDED", "a")


def test_an_event_with_a_broken_object_says_which() -> None:
    broken = {"metadata": {"name": "b"}, "spec": {"nodeName": 1}}

    found = decode_event(_bytes({"type": "MODIFIED", "object": broken}), Pod)

    assert found.object is None
    assert found.broken is not None
    assert found.broken.name == "b"


@pytest.mark.parametrize("key", STRUCTS, ids=lambda key: f"{key[0]} {key[1]}")
def test_every_kind_is_read_and_known_again(key: tuple[str, str]) -> None:
    group, kind = key
    struct = struct_of(f"{group}/v9" if group else "v1", kind)
    assert struct is not None

    found: KubeObject = from_document({"metadata": {"name": "a"}}, struct)

    assert kind_of(found) == kind


def test_any_kind_of_node_class_is_one() -> None:
    struct = struct_of("karpenter.k8s.aws/v1", "EC2NodeClass")
    assert struct is NodeClass

    found = from_document(
        {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "spec": {"role": "r"}},
        NodeClass,
    )

    assert (found.group, kind_of(found), found.spec) == (
        "karpenter.k8s.aws",
        "EC2NodeClass",
        {"role": "r"},
    )
    assert not is_namespaced(found)


def test_a_kind_that_planning_does_not_read_has_no_struct() -> None:
    assert struct_of("v1", "ConfigMap") is None
