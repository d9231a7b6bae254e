from collections.abc import Mapping
from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.oracle.requests import node_resources, pod_requests


def container(name: str = "main", **fields: Any) -> dict[str, Any]:
    requests = fields.pop("requests", {})
    return {"name": name, "resources": {"requests": requests}, **fields}


def given(cpu: str) -> dict[str, Any]:
    return {"name": "main", "resources": {"requests": {"cpu": cpu}}, "allocatedResources": {}}


INFEASIBLE = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(
            {"containers": [container(requests={"cpu": "0.4m"})] * 2}, {"cpu": 1}, id="exact sums"
        ),
        pytest.param(
            {"containers": [container(requests={"cpu": "0", "memory": "1.5"})]},
            {"memory": 2},
            id="zeroes are left out and fractions rounded up",
        ),
        pytest.param(
            {"containers": [{"name": "main", "resources": {"limits": {"cpu": 1}}}]},
            {"cpu": 1000},
            id="a limit stands in for a missing request",
        ),
        pytest.param(
            {
                "containers": [container(requests={"cpu": "1"})],
                "initContainers": [
                    container("before", requests={"cpu": "1"}),
                    container("sidecar", restartPolicy="Always", requests={"cpu": "2"}),
                    container("after", requests={"cpu": "3"}),
                ],
            },
            {"cpu": 5000},
            id="an init container runs beside the sidecars before it",
        ),
        pytest.param(
            {
                "containers": [container(requests={"cpu": "1", "example.com/gpu": "1"})],
                "resources": {"requests": {"cpu": "3", "example.com/gpu": "9"}},
                "overhead": {"cpu": "1"},
            },
            {"cpu": 4000, "example.com/gpu": 1},
            id="the pod level replaces what it may and overhead comes on top",
        ),
        pytest.param(
            {
                "containers": [container(requests={"cpu": "1"})],
                "resources": {"limits": {"cpu": "8", "memory": "1Gi"}},
            },
            {"cpu": 1000, "memory": 2**30},
            id="a pod-level limit stands in only where no container asks",
        ),
        pytest.param(
            {"containers": [container(requests={"storage": "1Gi"})]}, {}, id="unknown resources"
        ),
    ],
)
def test_requests_of_a_pending_pod(spec: dict[str, Any], expected: Mapping[str, int]) -> None:
    assert pod_requests({"spec": spec}, resized=False) == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param({"containerStatuses": [given("2")]}, 2000, id="still holds more"),
        pytest.param({"containerStatuses": [given("100m")]}, 1000, id="wants more"),
        pytest.param(
            {"containerStatuses": [given("100m")], "conditions": INFEASIBLE},
            100,
            id="wants more than the node can ever give",
        ),
        pytest.param({"containerStatuses": [{"name": "main"}]}, 1000, id="no word of resources"),
    ],
)
def test_a_bound_pod_takes_the_largest_of_asked_and_given(
    status: dict[str, Any], expected: int
) -> None:
    pod = {"spec": {"containers": [container(requests={"cpu": "1"})]}, "status": status}

    assert pod_requests(pod, resized=True) == {"cpu": expected}
    assert pod_requests(pod, resized=False) == {"cpu": 1000}


def test_a_malformed_quantity_names_its_resource() -> None:
    with pytest.raises(InvalidRequest, match="memory: "):
        node_resources({"memory": "much"})
    with pytest.raises(InvalidRequest, match="memory: "):
        node_resources({"memory": ["1Gi"]})


def test_a_node_that_states_no_pod_count_takes_none() -> None:
    assert node_resources({"cpu": "1"}) == {"cpu": 1000, "pods": 0}


@pytest.mark.parametrize(
    ("resized", "conditions", "expected"),
    [
        pytest.param(False, [], {"cpu": 2000}, id="while it waits its status says nothing"),
        pytest.param(True, [], {"cpu": 4000}, id="the largest of asked, allocated and actual"),
        pytest.param(True, INFEASIBLE, {"cpu": 4000}, id="what cannot be had does not count"),
    ],
)
def test_a_pod_that_is_resized_as_a_whole(
    resized: bool, conditions: list[Any], expected: Mapping[str, int]
) -> None:
    pod = {
        "spec": {
            "containers": [container(requests={"cpu": "1"})],
            "resources": {"requests": {"cpu": "5" if conditions else "2"}},
        },
        "status": {
            "resources": {"requests": {"cpu": "3", "memory": "1"}},
            "allocatedResources": {"cpu": "4"},
            "conditions": conditions,
        },
    }

    assert pod_requests(pod, resized=resized) == expected
