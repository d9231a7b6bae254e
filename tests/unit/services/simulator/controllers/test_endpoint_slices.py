"""Endpoints of services: who is in them, ready or not, in both forms."""

from typing import Any

from libs.runtime.virtual import run_virtual
from tests.unit.services.simulator.living import Living, a_node, a_template, a_workload, living

SLICES = "endpointslices.discovery.k8s.io"


def a_service(**spec: Any) -> dict[str, Any]:
    ports = [{"name": "http", "port": 80, "targetPort": "web"}]
    return {"metadata": {"name": "s"}, "spec": {"selector": {"app": "w"}, "ports": ports, **spec}}


async def play(cluster: Living, replicas: int = 2, **spec: Any) -> None:
    cluster.api.create("nodes", a_node(capacity={"cpu": "900", "memory": "1Ti", "pods": "999"}))
    cluster.api.create("services", a_service(**spec), "default")
    port = {"name": "web", "containerPort": 8080}
    template = a_template("w", container={"ports": [port]})
    workload = a_workload("w", template, replicas=replicas)
    cluster.api.create("deployments.apps", workload, "default")
    await cluster.until(lambda: len(cluster.running()) == replicas)
    await cluster.after(3)


def test_the_ready_pods_of_a_service_are_its_endpoints() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster)

            (one,) = cluster.api.list(SLICES, "default")
            assert one["metadata"]["labels"]["kubernetes.io/service-name"] == "s"
            assert one["metadata"]["ownerReferences"][0]["kind"] == "Service"
            assert one["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
            addresses = {address for entry in one["endpoints"] for address in entry["addresses"]}
            assert addresses == {pod["status"]["podIP"] for pod in cluster.pods()}
            assert {(entry["nodeName"], entry["zone"]) for entry in one["endpoints"]} == {
                ("n1", "zone-a")
            }
            assert all(entry["conditions"]["ready"] for entry in one["endpoints"])
            (subset,) = cluster.api.get("endpoints", "s", "default")["subsets"]
            assert {entry["ip"] for entry in subset["addresses"]} == addresses

    run_virtual(scenario())


def test_a_pod_that_leaves_serves_but_is_not_ready() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster, replicas=1)
            (pod,) = cluster.pods()
            note = {"metadata": {"annotations": {"simulator.joiner.io/stop-seconds": "20"}}}
            cluster.api.patch("pods", pod["metadata"]["name"], note, "default")
            await cluster.after(1)
            cluster.api.delete("pods", pod["metadata"]["name"], "default")
            await cluster.after(3)

            (one,) = cluster.api.list(SLICES, "default")
            states = sorted(tuple(entry["conditions"].values()) for entry in one["endpoints"])
            assert states == [(False, True, True), (True, True, False)]
            await cluster.after(30)

            (one,) = cluster.api.list(SLICES, "default")
            assert len(one["endpoints"]) == 1

    run_virtual(scenario())


def test_a_slice_has_a_hundred_endpoints_and_goes_with_its_service() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster, replicas=130)
            found = cluster.api.list(SLICES, "default")
            assert sorted(len(one["endpoints"]) for one in found) == [30, 100]

            cluster.api.delete("services", "s", "default")
            await cluster.after(3)

            assert not cluster.api.list(SLICES, "default")
            assert cluster.api.find("endpoints", "s", "default") is None

    run_virtual(scenario())
