"""A smaller request is proposed for the field that counts, and works when just that is edited."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.fields import with_field
from tests.unit.cli.command import NODE, POD, POOL, TYPE, joiner, with_members, written


def _container(cpu: str, **more: Any) -> dict[str, Any]:
    return {"name": f"c{cpu}", "resources": {"requests": {"cpu": cpu}}, **more}


_SIDECAR = {"restartPolicy": "Always"}
_RUNTIME = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "kata"},
    "handler": "kata",
}

CASES: dict[str, tuple[dict[str, Any], str]] = {
    "an init container": (
        {"initContainers": [_container("6")], "containers": [_container("1")]},
        "spec.initContainers[0].resources.requests.cpu",
    ),
    "an init container beside a sidecar that starts first": (
        {
            "initContainers": [_container("500m", **_SIDECAR), _container("6")],
            "containers": [_container("1")],
        },
        "spec.initContainers[1].resources.requests.cpu",
    ),
    "a sidecar that starts last": (
        {
            "initContainers": [_container("1", name="first"), _container("6", **_SIDECAR)],
            "containers": [_container("1")],
        },
        "spec.initContainers[1].resources.requests.cpu",
    ),
    "a container beside overhead": (
        {"containers": [_container("6")], "overhead": {"cpu": "250m"}},
        "spec.containers[0].resources.requests.cpu",
    ),
    "overhead": (
        {"containers": [_container("1")], "overhead": {"cpu": "6"}},
        "spec.overhead.cpu",
    ),
    "what the pod asks for itself": (
        {"containers": [_container("1")], "resources": {"requests": {"cpu": "6"}}},
        "spec.resources.requests.cpu",
    ),
    "the only container": (
        {"containers": [_container("6")]},
        "spec.containers[*].resources.requests.cpu",
    ),
}


@pytest.mark.parametrize(("spec", "field"), CASES.values(), ids=CASES)
def test_the_field_that_counts_is_named_and_what_is_proposed_for_it_works(
    tmp_path: Path, spec: dict[str, Any], field: str
) -> None:
    pod = with_members(POD, spec=spec)

    change = _change(tmp_path, pod)

    assert change["field"] == field
    edited = with_field(pod, field, change["new"])
    assert _planned(tmp_path, pod) == 3
    assert _planned(tmp_path, edited) == 0


def test_overhead_is_written_in_the_runtime_class(tmp_path: Path) -> None:
    spec = {
        "containers": [_container("1")],
        "overhead": {"cpu": "6"},
        "runtimeClassName": "kata",
    }
    pod = with_members(POD, spec=spec)

    change = _change(tmp_path, pod)

    assert change["field"] == "RuntimeClass/kata.overhead.podFixed.cpu"
    assert 'runtimeclass "kata"' in change["message"]
    edited = with_field(pod, "spec.overhead.cpu", change["new"])
    assert _planned(tmp_path, edited) == 0


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"initContainers": [_container("6")], "containers": [_container("5")]},
            "even without spec.initContainers[0].resources.requests (6) it asks for 5",
        ),
        (
            {
                "initContainers": [_container("6", name="first"), _container("6")],
                "containers": [_container("1")],
            },
            "spec.initContainers[0].resources.requests (6) and "
            "spec.initContainers[1].resources.requests count alike",
        ),
    ],
    ids=["one after the other", "two alike"],
)
def test_where_no_single_field_is_enough_that_is_said(
    tmp_path: Path, spec: dict[str, Any], told: str
) -> None:
    change = _change(tmp_path, with_members(POD, spec=spec))

    assert change["field"] == ""
    assert change["message"].endswith(f"; no single field is enough: {told}")


def test_a_pod_that_is_yet_to_be_resized_counts_by_what_it_was_given(tmp_path: Path) -> None:
    spec = {"nodeName": "n1", "containers": [_container("1")]}
    given = {"name": "c1", "resources": {"requests": {"cpu": "6"}}}
    status = {"phase": "Running", "containerStatuses": [given]}
    pod = with_members(POD, spec=spec, status=status)
    claim = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {
            "name": "claim",
            "labels": {"karpenter.sh/nodepool": "pool"},
            "deletionTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"nodeClassRef": POOL["spec"]["template"]["spec"]["nodeClassRef"]},
        "status": {"providerID": "kwok://n1", "nodeName": "n1"},
    }
    node = with_members(NODE, spec={"providerID": "kwok://n1"})

    change = _change(tmp_path, pod, node, claim)

    assert change["field"] == "status.containerStatuses[0].resources.requests.cpu"
    assert "on its node it counts by what it was given" in change["message"]
    edited = with_field(pod, change["field"], change["new"])
    assert _planned(tmp_path, edited, node, claim) == 0


def _change(folder: Path, pod: dict[str, Any], *others: dict[str, Any]) -> dict[str, Any]:
    done = joiner("explain", "pod", "shop/web", *_input(folder, pod, *others), "--format", "json")
    assert done.code == 0
    changes = json.loads(done.out)["pod"]["changes"]
    found = [one for one in changes if one["kind"] == "CHANGE_KIND_REQUEST"]
    assert found, done.out
    change: dict[str, Any] = found[0]
    return change


def _planned(folder: Path, pod: dict[str, Any], *others: dict[str, Any]) -> int:
    return joiner("plan", *_input(folder, pod, *others)).code


def _input(folder: Path, pod: dict[str, Any], *others: dict[str, Any]) -> tuple[object, ...]:
    types = written(folder, json.dumps([TYPE]), name="types.json")
    return "-f", written(folder, pod, POOL, *others), "--catalogue", types
