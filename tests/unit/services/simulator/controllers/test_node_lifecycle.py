"""Taints that follow from a node's state, pods that leave for taints, events that expire."""

from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from services.simulator.core.controllers.node_states import ttl_of, with_state_taints
from services.simulator.core.taints import tolerates
from tests.unit.services.simulator.living import START, a_node, a_pod, living

FOREIGN = {"key": "team", "value": "x", "effect": "NoExecute"}
READY = {"type": "Ready", "status": "True"}


def taint(key: str, effect: str = "NoSchedule") -> dict[str, str]:
    return {"key": f"node.kubernetes.io/{key}", "effect": effect}


@pytest.mark.parametrize(
    ("conditions", "spec", "taints"),
    [
        pytest.param([], {"taints": [taint("not-ready")]}, [], id="no condition"),
        pytest.param(
            [{"type": "Ready", "status": "False"}],
            {"taints": [FOREIGN]},
            [FOREIGN, taint("not-ready")],
            id="not ready",
        ),
        pytest.param(
            [{"type": "Ready", "status": "Unknown"}],
            {"taints": [taint("not-ready")]},
            [taint("unreachable")],
            id="lost",
        ),
        pytest.param([READY], {"taints": [taint("not-ready"), FOREIGN]}, [FOREIGN], id="ready"),
        pytest.param([READY], {"unschedulable": True}, [taint("unschedulable")], id="cordoned"),
        pytest.param([READY], {"taints": [taint("unschedulable")]}, [], id="uncordoned"),
    ],
)
def test_a_nodes_state_decides_its_own_taints_and_leaves_others(
    conditions: list[dict[str, str]], spec: dict[str, Any], taints: list[dict[str, str]]
) -> None:
    node = {"metadata": {"name": "n"}, "spec": spec, "status": {"conditions": conditions}}

    found = [
        {k: v for k, v in t.items() if k != "timeAdded"} for t in with_state_taints(node, START)
    ]

    assert found == taints


@pytest.mark.parametrize(
    ("toleration", "covers"),
    [
        pytest.param({"operator": "Exists"}, True, id="everything"),
        pytest.param({"key": "team", "operator": "Exists"}, True, id="any value"),
        pytest.param({"key": "team", "value": "x"}, True, id="the value"),
        pytest.param({"key": "team", "value": "y"}, False, id="another value"),
        pytest.param({"key": "other", "operator": "Exists"}, False, id="another key"),
        pytest.param({"operator": "Exists", "effect": "NoSchedule"}, False, id="another effect"),
    ],
)
def test_tolerations_of_a_no_execute_taint(toleration: dict[str, str], covers: bool) -> None:
    assert tolerates(toleration, FOREIGN) is covers


def test_pods_leave_when_their_toleration_ends() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            for name, seconds in (("never", None), ("later", 60), ("now", 0)):
                toleration: dict[str, Any] = {"key": "team", "operator": "Exists"}
                if seconds is not None:
                    toleration |= {"effect": "NoExecute", "tolerationSeconds": seconds}
                cluster.api.create("pods", a_pod(name, tolerations=[toleration]), "default")
            cluster.api.create("pods", a_pod("intolerant"), "default")
            await cluster.until(lambda: len(cluster.running()) == 4)

            cluster.api.patch("nodes", "n1", {"spec": {"taints": [FOREIGN]}})
            await cluster.after(5)
            assert [pod["metadata"]["name"] for pod in cluster.pods()] == ["later", "never"]
            await cluster.after(60)

            assert [pod["metadata"]["name"] for pod in cluster.pods()] == ["never"]

    run_virtual(scenario())


def test_a_pod_tells_its_way_in_events_for_an_hour() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("pods", a_pod("p"), "default")
            await cluster.after(1)
            cluster.api.create("nodes", a_node())
            await cluster.until(cluster.running)

            told = {e["reason"]: e["message"] for e in cluster.api.list("events", "default")}
            assert told["Scheduled"] == "Successfully assigned default/p to n1"
            assert "FailedScheduling" in told
            await cluster.after(3700)

            assert not cluster.api.list("events", "default")

    run_virtual(scenario())


def test_a_namespace_goes_with_all_that_is_in_it() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create("namespaces", {"metadata": {"name": "x"}})
            cluster.api.create("pods", a_pod("p"), "x")
            await cluster.after(3)
            assert cluster.api.get("pods", "p", "x")["status"]["phase"] == "Running"

            cluster.api.delete("namespaces", "x")
            await cluster.after(2)

            assert cluster.api.find("namespaces", "x") is None

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("nodes", "before", "after"),
    [
        pytest.param(100, 0, 0, id="small"),
        pytest.param(101, 0, 1, id="larger"),
        pytest.param(95, 1, 1, id="hardly smaller"),
        pytest.param(89, 1, 0, id="smaller"),
        pytest.param(5000, 0, 4, id="large at once"),
    ],
)
def test_the_size_of_the_cluster_decides_how_long_secrets_are_kept(
    nodes: int, before: int, after: int
) -> None:
    assert ttl_of(nodes, before) == after
