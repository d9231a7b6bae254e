"""DaemonSets on a living cluster."""

from typing import Any

from libs.runtime.virtual import run_virtual
from tests.unit.services.simulator.living import Living, a_node, a_template, a_workload, living

DAEMON_SETS = "daemonsets.apps"


def covered(cluster: Living) -> list[str]:
    return sorted(pod["spec"].get("nodeName", "") for pod in cluster.running())


def test_a_pod_runs_on_every_node_also_on_one_that_comes_later() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node("n1"))
            cluster.api.create(DAEMON_SETS, a_workload("agent"), "default")
            await cluster.until(lambda: covered(cluster) == ["n1"])

            cluster.api.create("nodes", a_node("n2", unschedulable=True))
            await cluster.until(lambda: covered(cluster) == ["n1", "n2"])

            status = cluster.status(DAEMON_SETS, "agent")
            counts = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady")
            assert [status[count] for count in counts] == [2, 2, 2]

    run_virtual(scenario())


def test_selector_and_taints_keep_pods_away() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            taint = {"key": "team", "value": "x", "effect": "NoSchedule"}
            cluster.api.create("nodes", a_node("tainted", taints=[taint], labels={"pool": "a"}))
            cluster.api.create("nodes", a_node("other"))
            cluster.api.create("nodes", a_node("fits", labels={"pool": "a"}))
            template = a_template("agent", nodeSelector={"pool": "a"})
            cluster.api.create(DAEMON_SETS, a_workload("agent", template), "default")
            await cluster.after(5)

            assert covered(cluster) == ["fits"]
            assert cluster.status(DAEMON_SETS, "agent")["desiredNumberScheduled"] == 1

    run_virtual(scenario())


def test_a_pod_leaves_for_a_no_execute_taint_but_not_for_a_no_schedule_taint() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            for name in ("n1", "n2"):
                cluster.api.create("nodes", a_node(name))
            cluster.api.create(DAEMON_SETS, a_workload("agent"), "default")
            await cluster.until(lambda: covered(cluster) == ["n1", "n2"])

            for name, effect in (("n1", "NoSchedule"), ("n2", "NoExecute")):
                taints = [{"key": "team", "effect": effect}]
                cluster.api.patch("nodes", name, {"spec": {"taints": taints}})
            await cluster.after(5)

            assert covered(cluster) == ["n1"]

    run_virtual(scenario())


def test_pods_of_a_node_that_goes_are_not_left_behind() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node("n1"))
            cluster.api.create(DAEMON_SETS, a_workload("agent"), "default")
            await cluster.until(cluster.running)

            cluster.api.delete("nodes", "n1")
            await cluster.after(41)

            assert not cluster.pods()

    run_virtual(scenario())


def test_a_new_template_is_rolled_out_one_node_at_a_time() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            for name in ("n1", "n2", "n3"):
                cluster.api.create("nodes", a_node(name))
            cluster.api.create(DAEMON_SETS, a_workload("agent"), "default")
            await cluster.until(lambda: len(cluster.running()) == 3)
            template: dict[str, Any] = a_template("agent", container={"image": "app:2"})
            cluster.api.patch(DAEMON_SETS, "agent", {"spec": {"template": template}}, "default")
            fewest = 3

            def renewed() -> bool:
                nonlocal fewest
                present = [p for p in cluster.running() if "deletionTimestamp" not in p["metadata"]]
                fewest = min(fewest, len(present))
                images = [pod["spec"]["containers"][0]["image"] for pod in present]
                return images == ["app:2"] * 3

            await cluster.until(renewed)

            assert fewest == 2

    run_virtual(scenario())
