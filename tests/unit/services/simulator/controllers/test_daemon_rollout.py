"""How a DaemonSet's old pods are replaced, with and without surge."""

from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from services.simulator.core.controllers.daemon_rollout import Sides, moves
from tests.unit.services.simulator.living import a_node, a_workload, living

Obj = dict[str, Any]
DAEMON_SETS = "daemonsets.apps"


def a_strategy(surge: int = 0, unavailable: int = 1) -> Obj:
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {"type": "RollingUpdate", "rollingUpdate": rolling}


def on(*pods: str) -> Sides:
    """Return a node with pods such as `old`, `new` and `new!`, which is not available."""
    listed = [{"metadata": {"name": name}} for name in pods]
    return Sides(
        new=tuple(pod for pod in listed if pod["metadata"]["name"].startswith("new")),
        old=tuple(pod for pod in listed if pod["metadata"]["name"].startswith("old")),
    )


def serves(pod: Obj) -> bool:
    return not pod["metadata"]["name"].endswith("!")


@pytest.mark.parametrize(
    ("strategy", "nodes", "deleted", "created"),
    [
        pytest.param(a_strategy(), [("old",), ("old",)], 1, 0, id="one goes"),
        pytest.param(a_strategy(unavailable=2), [("old",), ("old",)], 2, 0, id="two go"),
        pytest.param(a_strategy(), [("new!",), ("old",)], 0, 0, id="not while one starts"),
        pytest.param(a_strategy(), [("new",), ("old!",)], 1, 0, id="who serves nobody goes"),
        pytest.param(a_strategy(surge=1), [("old",), ("old",)], 0, 1, id="one comes first"),
        pytest.param(a_strategy(surge=1), [("old", "new!"), ("old",)], 0, 0, id="no second yet"),
        pytest.param(a_strategy(surge=1), [("old", "new"), ("old",)], 1, 1, id="then the old goes"),
        pytest.param(a_strategy(surge=1), [("old!",), ("old!",)], 0, 2, id="who serves nobody"),
        pytest.param({"type": "OnDelete"}, [("old",)], 0, 0, id="by hand"),
    ],
)
def test_what_is_done_next(
    strategy: Obj, nodes: list[tuple[str, ...]], deleted: int, created: int
) -> None:
    there = {f"n{number}": on(*pods) for number, pods in enumerate(nodes)}

    found = moves(strategy, there, serves)

    assert (len(found.delete), len(found.create)) == (deleted, created)


def test_a_surge_has_two_pods_on_a_node_until_the_new_one_serves() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            body = a_workload("agent", updateStrategy=a_strategy(surge=1, unavailable=0))
            cluster.api.create(DAEMON_SETS, body, "default")
            await cluster.until(cluster.running)
            change = {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}}
            cluster.api.patch(DAEMON_SETS, "agent", change, "default")
            most = least = 1
            for _ in range(100):
                await cluster.after(0.1)
                serving = len(cluster.running())
                most, least = max(most, serving), min(least, serving)

            assert (least, most) == (1, 2)
            assert cluster.status(DAEMON_SETS, "agent")["updatedNumberScheduled"] == 1
            assert len(cluster.pods()) == 1

    run_virtual(scenario())


def test_a_daemon_that_ended_is_told_of_and_made_anew() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create(DAEMON_SETS, a_workload("agent"), "default")
            await cluster.until(cluster.running)
            (pod,) = cluster.pods()
            name = pod["metadata"]["name"]
            status = {"status": {"phase": "Failed"}}
            cluster.api.patch("pods", name, status, "default", subresource="status")
            await cluster.after(5)

            assert [one["metadata"]["name"] for one in cluster.running()] != [name]
            told = {e["reason"]: e["message"] for e in cluster.api.list("events", "default")}
            assert told["FailedDaemonPod"] == (
                f"Found failed daemon pod default/{name} on node n1, will try to kill it"
            )

    run_virtual(scenario())
