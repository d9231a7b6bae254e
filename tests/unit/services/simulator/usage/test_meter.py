"""What pods and nodes use, and the metrics API that tells it."""

import json
from typing import Any

from libs.runtime.virtual import run_virtual
from services.simulator.core.api.messages import Request, Response
from services.simulator.core.usage.meter import UsageBook, UsageRule
from tests.unit.services.simulator.living import Living, a_node, a_pod, living

METRICS = "/apis/metrics.k8s.io/v1beta1"


def get(cluster: Living, path: str, **headers: str) -> Response:
    path, _, query = path.partition("?")
    name, _, value = query.partition("=")
    parameters = {name: (value,)} if name else {}
    return cluster.server.handle(
        Request(method="GET", path=path, query=parameters, headers=headers)
    )


def read(cluster: Living, path: str) -> Any:
    answer = get(cluster, path)
    assert answer.status == 200, answer.body
    return json.loads(answer.body)


def usage(cluster: Living, pod: str) -> dict[str, str]:
    body = read(cluster, f"{METRICS}/namespaces/default/pods/{pod}")
    shown: dict[str, str] = body["containers"][0]["usage"]
    return shown


def test_a_pod_uses_what_its_annotation_says_and_never_more_than_its_limit() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            notes = {"simulator.joiner.io/cpu-usage": "300m"}
            notes |= {"main.simulator.joiner.io/memory-usage": "100Mi"}
            limited = {"resources": {"limits": {"cpu": "200m", "memory": "1Gi"}}}
            cluster.api.create("pods", a_pod("said", annotations=notes), "default")
            cluster.api.create(
                "pods", a_pod("limited", annotations=notes, container=limited), "default"
            )
            cluster.api.create("pods", a_pod("silent"), "default")
            await cluster.until(lambda: len(cluster.running()) == 3)

            assert usage(cluster, "said") == {"cpu": "300000000n", "memory": "102400Ki"}
            assert usage(cluster, "limited")["cpu"] == "200000000n"
            assert usage(cluster, "silent") == {"cpu": "250000000n", "memory": "32768Ki"}

    run_virtual(scenario())


def test_rules_of_a_script_hold_whatever_annotations_say() -> None:
    async def scenario() -> None:
        book = UsageBook((UsageRule(labels={"app": "p"}, cpu="50m"),))
        async with living(usage=book) as cluster:
            cluster.api.create("nodes", a_node())
            notes = {"simulator.joiner.io/cpu-usage": "300m"}
            cluster.api.create("pods", a_pod("p", annotations=notes), "default")
            await cluster.until(cluster.running)
            assert usage(cluster, "p")["cpu"] == "50000000n"

            book.rules = (*book.rules, UsageRule(cpu="70m"))

            assert usage(cluster, "p")["cpu"] == "70000000n"

    run_virtual(scenario())


def test_the_metrics_api_is_announced_and_lists_what_runs() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            for name in ("a", "b"):
                cluster.api.create("pods", a_pod(name), "default")
            cluster.api.create("pods", a_pod("waits", cpu="100"), "default")
            await cluster.until(lambda: len(cluster.running()) == 2)

            groups = {group["name"] for group in read(cluster, "/apis")["groups"]}
            assert "metrics.k8s.io" in groups
            resources = {one["name"]: one["verbs"] for one in read(cluster, METRICS)["resources"]}
            assert resources == {"nodes": ["get", "list"], "pods": ["get", "list"]}
            listed = read(cluster, f"{METRICS}/pods")
            assert listed["kind"] == "PodMetricsList"
            assert [one["metadata"]["name"] for one in listed["items"]] == ["a", "b"]
            chosen = read(cluster, f"{METRICS}/pods?labelSelector=app=b")
            assert [one["metadata"]["name"] for one in chosen["items"]] == ["b"]
            (node,) = read(cluster, f"{METRICS}/nodes")["items"]
            assert node["usage"] == {"cpu": "550000000n", "memory": f"{464 * 1024}Ki"}
            assert get(cluster, f"{METRICS}/namespaces/default/pods/waits").status == 404
            assert get(cluster, f"{METRICS}/nodes/none").status == 404

    run_virtual(scenario())
