from typing import Any

import pytest

from libs.apiserver.types import codec, walking
from libs.apiserver.types.mismatch import Mismatch


def decoded(type_: str, value: Any) -> Any:
    return codec.decode(type_, value, codec.Decoding())


def test_nulls_and_empty_optional_values_are_left_out() -> None:
    meta: dict[str, Any] = {
        "name": "a",
        "labels": {},
        "annotations": None,
        "finalizers": [],
        "generation": 0,
    }

    assert decoded("meta/v1.ObjectMeta", meta) == {"name": "a"}


def test_required_values_are_there_with_their_zero() -> None:
    node = decoded("core/v1.Node", {"metadata": {"name": "n"}})

    assert node["spec"] == {}
    assert node["status"]["nodeInfo"]["kubeletVersion"] == ""
    assert node["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}


def test_a_pointer_keeps_its_zero() -> None:
    assert decoded("apps/v1.DeploymentSpec", {"replicas": 0})["replicas"] == 0


def test_the_input_is_not_shared() -> None:
    labels = {"a": "b"}
    meta = decoded("meta/v1.ObjectMeta", {"labels": labels})
    labels["c"] = "d"

    assert meta == {"labels": {"a": "b"}}


def test_unknown_fields_are_dropped_and_named() -> None:
    pod = {"spec": {"containers": [{"name": "c", "odd": 1}], "more": 2}, "x": 3}
    decoding = codec.Decoding()
    codec.decode("core/v1.Pod", pod, decoding)

    assert decoding.unknown == 3
    found = [one.path for one in walking.unknown_fields("core/v1.Pod", pod)]
    assert found == ["spec.containers[0].odd", "spec.more", "x"]


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        (
            "core/v1.Pod",
            {"metadata": {"name": 1}},
            "json: cannot unmarshal number into Go struct field "
            "ObjectMeta.metadata.name of type string",
        ),
        (
            "apps/v1.Deployment",
            {"spec": {"replicas": "3"}},
            "json: cannot unmarshal string into Go struct field "
            "DeploymentSpec.spec.replicas of type int32",
        ),
        (
            "core/v1.Pod",
            {"spec": {"volumes": [{"secret": []}]}},
            "json: cannot unmarshal array into Go struct field "
            "Volume.spec.volumes.VolumeSource.secret of type v1.SecretVolumeSource",
        ),
        (
            "core/v1.PersistentVolumeClaim",
            {"spec": {"accessModes": [5]}},
            "json: cannot unmarshal number into Go struct field "
            "PersistentVolumeClaimSpec.spec.accessModes of type v1.PersistentVolumeAccessMode",
        ),
        (
            "core/v1.ResourceQuota",
            {"spec": {"hard": []}},
            "json: cannot unmarshal array into Go struct field "
            "ResourceQuotaSpec.spec.hard of type v1.ResourceList",
        ),
        ("core/v1.Secret", {"data": {"a": "Bad!"}}, "illegal base64 data at input byte 3"),
        ("core/v1.Secret", {"data": {"a": "aGkxa"}}, "illegal base64 data at input byte 4"),
        ("core/v1.Pod", [], "json: cannot unmarshal array into Go value of type v1.Pod"),
    ],
)
def test_a_wrong_type_is_named_with_its_path(type_: str, value: Any, message: str) -> None:
    with pytest.raises(Mismatch) as refused:
        decoded(type_, value)

    assert refused.value.message() == message


def test_times_are_brought_to_utc_seconds() -> None:
    condition = decoded(
        "core/v1.NodeCondition",
        {"type": "Ready", "status": "True", "lastTransitionTime": "2030-01-01T02:00:00.5+02:00"},
    )

    assert condition["lastTransitionTime"] == "2030-01-01T00:00:00Z"
