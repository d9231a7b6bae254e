"""Gangs: whole or not at all."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.server import ApiServer
from services.simulator.core.objects import condition_of
from services.simulator.core.scheduler.scheduler import Scheduler
from tests.unit.services.simulator.living import a_node, a_pod

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEEPS_ALL = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION = {
    "metadata": {"name": "podgroups.scheduling.x-k8s.io"},
    "spec": {
        "group": "scheduling.x-k8s.io",
        "names": {"kind": "PodGroup", "plural": "podgroups", "singular": "podgroup"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": KEEPS_ALL},
            }
        ],
    },
}


def a_server() -> DirectApi:
    numbers = itertools.count(1)
    return ApiServer(lambda: NOW, lambda: f"uid-{next(numbers)}", lambda: "abcde").direct


@pytest.fixture
def api() -> DirectApi:
    made = a_server()
    made.create("customresourcedefinitions.apiextensions.k8s.io", DEFINITION)
    made.create("nodes", a_node("n1"))  # 4 cpus
    return made


def group(api: DirectApi, least: int, **spec: Any) -> None:
    kind = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup"}
    made = {**kind, "metadata": {"name": "g"}, "spec": {"minMember": least, **spec}}
    api.create("podgroups.scheduling.x-k8s.io", made, "default")


def join(api: DirectApi, *names: str, cpu: str = "1") -> None:
    for name in names:
        pod = a_pod(name, cpu=cpu)
        pod["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": "g"}
        api.create("pods", pod, "default")


def bound(api: DirectApi) -> list[str]:
    pods = api.list("pods", "default")
    return [pod["metadata"]["name"] for pod in pods if pod["spec"].get("nodeName")]


def message(api: DirectApi, name: str) -> str:
    condition = condition_of(api.get("pods", name, "default"), "PodScheduled")
    return str((condition or {}).get("message", ""))


def test_a_gang_is_bound_once_all_of_it_have_nodes(api: DirectApi) -> None:
    group(api, 3)
    join(api, "a", "b", "c")

    Scheduler(api).step(NOW)

    assert bound(api) == ["a", "b", "c"]


def test_a_gang_waits_until_enough_of_its_pods_exist(api: DirectApi) -> None:
    group(api, 3)
    join(api, "a", "b")
    scheduler = Scheduler(api)
    scheduler.step(NOW)
    assert bound(api) == []
    assert message(api, "a") == (
        "0/1 nodes are available: pre-filter pod a cannot find enough sibling pods, "
        "current pods number: 2, minMember of group: 3."
    )

    join(api, "c")
    scheduler.step(NOW + timedelta(seconds=1))

    assert bound(api) == ["a", "b", "c"]


def test_where_one_has_no_place_none_has(api: DirectApi) -> None:
    group(api, 3)
    join(api, "a", "b", "c", cpu="2")
    scheduler = Scheduler(api)

    scheduler.step(NOW)

    assert bound(api) == []
    assert message(api, "c").startswith("0/1 nodes are available: 1 Insufficient cpu. ")
    for name in ("a", "b"):
        assert message(api, name) == (
            "0/1 nodes are available: 1 optimistic rejection in PostFilter."
        )
        assert "nominatedNodeName" not in api.get("pods", name, "default")["status"]
    api.create("pods", a_pod("other", cpu="4"), "default")
    scheduler.step(NOW + timedelta(seconds=1))
    assert bound(api) == ["other"], "the room is free for others"


def test_once_there_is_room_all_of_it_are_bound(api: DirectApi) -> None:
    group(api, 3)
    join(api, "a", "b", "c", cpu="2")
    scheduler = Scheduler(api)
    scheduler.step(NOW)

    api.create("nodes", a_node("n2"))
    for second in (2, 4):
        scheduler.step(NOW + timedelta(seconds=second))

    assert bound(api) == ["a", "b", "c"]


def test_more_than_the_gang_asks_for_are_bound_as_they_fit(api: DirectApi) -> None:
    group(api, 2)
    join(api, "a", "b", "c", cpu="2")

    Scheduler(api).step(NOW)

    assert bound(api) == ["a", "b"]


def test_a_label_without_a_group_means_nothing() -> None:
    api = a_server()
    api.create("nodes", a_node("n1"))
    join(api, "a")

    Scheduler(api).step(NOW)

    assert bound(api) == ["a"]
