"""HorizontalPodAutoscalers on a living cluster."""

from typing import Any

from libs.runtime.virtual import run_virtual
from tests.unit.services.simulator.living import Living, a_node, a_template, a_workload, living

AUTOSCALERS = "horizontalpodautoscalers.autoscaling"


def an_autoscaler(percent: int = 50, most: int = 10, **spec: Any) -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {
        "metadata": {"name": "h"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "maxReplicas": most,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
            **spec,
        },
    }


async def play(cluster: Living, usage: str, autoscaler: dict[str, Any]) -> None:
    cluster.api.create("nodes", a_node(capacity={"cpu": "64", "memory": "64Gi", "pods": "110"}))
    template = a_template("web", annotations={"simulator.joiner.io/cpu-usage": usage})
    cluster.api.create("deployments.apps", a_workload("web", template, replicas=2), "default")
    cluster.api.create(AUTOSCALERS, autoscaler, "default")


def replicas(cluster: Living) -> int:
    count: int = cluster.api.get("deployments.apps", "web", "default")["spec"]["replicas"]
    return count


def conditions(cluster: Living) -> dict[str, tuple[str, str]]:
    found = cluster.status(AUTOSCALERS, "h")["conditions"]
    return {one["type"]: (one["status"], one["reason"]) for one in found}


def test_a_workload_gets_as_many_replicas_as_its_load_asks() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster, "shared(1500m)", an_autoscaler())
            await cluster.after(120)

            assert replicas(cluster) == 6  # 1500m at 250m each
            status = cluster.status(AUTOSCALERS, "h")
            assert (status["currentReplicas"], status["desiredReplicas"]) == (6, 6)
            (metric,) = status["currentMetrics"]
            assert metric["resource"]["current"] == {
                "averageUtilization": 50,
                "averageValue": "250m",
            }
            assert conditions(cluster) == {
                "AbleToScale": ("True", "ReadyForNewScale"),
                "ScalingActive": ("True", "ValidMetricFound"),
                "ScalingLimited": ("False", "DesiredWithinRange"),
            }
            assert "lastScaleTime" in status

    run_virtual(scenario())


def test_it_comes_down_five_minutes_after_the_load_went() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster, "shared(1500m)", an_autoscaler())
            await cluster.after(120)
            quiet = {"metadata": {"annotations": {"simulator.joiner.io/cpu-usage": "10m"}}}
            for pod in cluster.pods():
                cluster.api.patch("pods", pod["metadata"]["name"], quiet, "default")
            await cluster.after(240)
            assert replicas(cluster) == 6
            assert conditions(cluster)["AbleToScale"] == ("True", "ScaleDownStabilized")
            await cluster.after(120)

            assert replicas(cluster) == 1

    run_virtual(scenario())


def test_it_says_what_keeps_it_from_scaling() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster, "90%", an_autoscaler(most=3))
            await cluster.after(120)
            assert replicas(cluster) == 3
            assert conditions(cluster)["ScalingLimited"] == ("True", "TooManyReplicas")

            other = {"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "none"}}}
            cluster.api.patch(AUTOSCALERS, "h", other, "default")
            await cluster.after(20)

            assert conditions(cluster)["AbleToScale"] == ("False", "FailedGetScale")

    run_virtual(scenario())


def test_without_requests_no_utilization_is_known() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster, "100m", an_autoscaler())
            empty = {"name": "main", "image": "x", "resources": {}}
            change = {"spec": {"template": {"spec": {"containers": [empty]}}}}
            cluster.api.patch("deployments.apps", "web", change, "default")
            await cluster.after(60)

            assert conditions(cluster)["ScalingActive"] == ("False", "FailedGetResourceMetric")
            events = cluster.api.list("events", "default")
            told = {e["message"] for e in events if e["reason"] == "FailedGetResourceMetric"}
            assert any("missing request for cpu in container main of Pod" in one for one in told)

    run_virtual(scenario())
