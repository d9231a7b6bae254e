"""Which fields the requests of a pod come from."""

from typing import Any

import pytest

from libs.domain.resources import CPU
from libs.kube.convert.pod import raw_shape
from libs.kube.objects.decoding import from_document
from libs.kube.objects.pod import Pod
from tests.support.fields import with_field
from tests.unit.libs.kube.manifests import a_container, a_pod, pod

_MAIN = "spec.containers[0].resources.requests"


def _sidecar(cpu: str) -> dict[str, Any]:
    return a_container(cpu, restartPolicy="Always")


def _given(cpu: str, **more: Any) -> dict[str, Any]:
    return {"name": "main", "resources": {"requests": {"cpu": cpu}}, **more}


CASES = {
    "plain containers are not told apart": (
        {"containers": [a_container("1"), a_container("2")]},
        {},
    ),
    "several containers beside overhead": (
        {"overhead": {"cpu": "1"}, "containers": [a_container("1"), a_container("2")]},
        {
            _MAIN: (1000, 3000),
            "spec.containers[1].resources.requests": (2000, 2000),
            "spec.overhead": (1000, 3000),
        },
    ),
    "an init container that takes more than all that run": (
        {"initContainers": [a_container("1"), a_container("6")], "containers": [a_container("2")]},
        {"spec.initContainers[1].resources.requests": (6000, 2000)},
    ),
    "a sidecar counts with what runs and with what starts after it": (
        {"initContainers": [_sidecar("1"), a_container("6")], "containers": [a_container("2")]},
        {
            "spec.initContainers[0].resources.requests": (1000, 6000),
            "spec.initContainers[1].resources.requests": (6000, 3000),
        },
    ),
    "of two steps that are equal neither counts alone": (
        {"initContainers": [a_container("6"), a_container("6")], "containers": [a_container("2")]},
        {
            _MAIN: (2000, 6000),
            "spec.initContainers[0].resources.requests": (6000, 6000),
            "spec.initContainers[1].resources.requests": (6000, 6000),
        },
    ),
    "what the pod itself asks for, down to what its containers do": (
        {"resources": {"requests": {"cpu": "6"}}, "containers": [a_container("2")]},
        {"spec.resources.requests": (6000, 2000)},
    ),
    "a limit of the pod stands in where no container asks": (
        {"resources": {"limits": {"cpu": "6"}}, "containers": [a_container()]},
        {"spec.resources.requests": (6000, 0)},
    ),
    "overhead counts beside them": (
        {"overhead": {"cpu": "500m"}, "containers": [a_container("2")]},
        {_MAIN: (2000, 500), "spec.overhead": (500, 2000)},
    ),
    "overhead of a class is written there": (
        {"overhead": {"cpu": "3"}, "runtimeClassName": "kata", "containers": [a_container("2")]},
        {_MAIN: (2000, 3000), "RuntimeClass/kata.overhead.podFixed": (3000, 2000)},
    ),
    "what a pod on a node was given and is yet to give back": (
        {
            "nodeName": "n1",
            "containers": [a_container("2")],
            "status": {"containerStatuses": [_given("3", allocatedResources={"cpu": "4"})]},
        },
        {"status.containerStatuses[0].resources.requests": (4000, 2000)},
    ),
    "what it was given is what it asks for": (
        {
            "nodeName": "n1",
            "containers": [a_container("2")],
            "status": {"containerStatuses": [_given("2")]},
        },
        {},
    ),
    "what the pod as a whole was given": (
        {
            "nodeName": "n1",
            "resources": {"requests": {"cpu": "2"}},
            "containers": [a_container("1")],
            "status": {"resources": {"requests": {"cpu": "5"}}},
        },
        {"status.resources.requests": (5000, 2000)},
    ),
}


@pytest.mark.parametrize(("spec", "fields"), CASES.values(), ids=CASES)
def test_listed_are_the_fields_that_count(
    spec: dict[str, Any], fields: dict[str, tuple[int, int]]
) -> None:
    found = raw_shape(pod(**spec)).request_fields

    assert {one.field: (one.amount, one.without) for one in found} == fields
    assert {one.resource for one in found} <= {CPU}


@pytest.mark.parametrize("spec", [case[0] for case in CASES.values()], ids=CASES)
def test_less_in_a_field_is_as_much_less_in_all_down_to_what_the_rest_asks_for(
    spec: dict[str, Any],
) -> None:
    shape = raw_shape(pod(**spec))

    for one in shape.request_fields:
        if not one.field.startswith("spec."):
            continue
        asked = shape.requests.get(CPU)
        if one.without == asked:
            continue
        for less in (1, asked - one.without):
            amount = f"{one.amount - less}m"
            edited = with_field(a_pod(**spec), f"{one.field}.cpu", amount)
            settled = {**edited, "status": {}}
            assert raw_shape(from_document(settled, Pod)).requests.get(CPU) == asked - less
