"""The HTTP edge over real sockets, with aiohttp's client and the official Kubernetes client."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import kubernetes.aio.client
import kubernetes.client
import pytest
import pytest_asyncio

from libs.runtime.clock import SystemClock
from services.simulator.http import Place, start
from tests.unit.services.simulator.cluster import Cluster, a_config_map, a_pod


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest_asyncio.fixture
async def url(cluster: Cluster) -> AsyncIterator[str]:
    runner = await start(cluster.server, SystemClock(), Place(host="127.0.0.1", port=0))
    port = runner.addresses[0][1]
    yield f"http://127.0.0.1:{port}"
    await runner.cleanup()


async def test_a_watch_streams_lines_as_they_are_written(cluster: Cluster, url: str) -> None:
    path = f"{url}/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=5"
    async with aiohttp.ClientSession() as session, session.get(path) as answer:
        for name in ("a", "b"):
            cluster.server.direct.create("configmaps", a_config_map(name))
            event = json.loads(await asyncio.wait_for(answer.content.readline(), 5))
            assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", name)


async def test_a_closed_connection_ends_the_watch(cluster: Cluster, url: str) -> None:
    bucket = cluster.server.store.storage.bucket("configmaps")
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{url}/api/v1/configmaps?watch=1"):
            assert len(bucket.listeners) == 1
        for number in range(50):
            if not bucket.listeners:
                break
            cluster.server.direct.create("configmaps", a_config_map(f"c{number}"))
            await asyncio.wait_for(session.get(f"{url}/version"), 5)

    assert bucket.listeners == []


async def test_warnings_travel_as_headers(url: str) -> None:
    body = {**a_config_map("a"), "odd": 1}
    async with aiohttp.ClientSession() as session:
        answer = await session.post(f"{url}/api/v1/namespaces/default/configmaps", json=body)

    assert answer.status == 201
    assert answer.headers["Warning"] == '299 - "unknown field \\"odd\\""'


async def test_a_body_beyond_the_limit_is_refused(url: str) -> None:
    body = io.BytesIO(b"x" * (4 * 1024 * 1024))
    async with aiohttp.ClientSession() as session:
        answer = await session.post(f"{url}/api/v1/namespaces/default/configmaps", data=body)
        status = await answer.json()

    assert (status["code"], status["reason"]) == (413, "RequestEntityTooLarge")


async def test_the_official_client_works_unmodified(cluster: Cluster, url: str) -> None:
    def use() -> tuple[str, str, Any]:
        configuration = kubernetes.client.Configuration(host=url)
        with kubernetes.client.ApiClient(configuration) as client:
            core = kubernetes.client.CoreV1Api(client)
            created = core.create_namespaced_pod("default", a_pod("p", labels={"a": "b"}))
            core.patch_namespaced_pod("p", "default", {"metadata": {"labels": {"c": "d"}}})
            listed = core.list_pod_for_all_namespaces(label_selector="a=b")
            core.delete_namespaced_pod("p", "default")
            return created.status.phase, listed.items[0].metadata.labels["c"], listed.metadata

    phase, label, metadata = await asyncio.to_thread(use)

    assert (phase, label) == ("Pending", "d")
    assert metadata.resource_version
    assert cluster.server.direct.find("pods", "p", "default") is None


async def test_the_official_asynchronous_client_works_unmodified(url: str) -> None:
    async with kubernetes.aio.client.ApiClient(
        kubernetes.aio.client.Configuration(host=url)
    ) as client:
        leases = kubernetes.aio.client.CoordinationV1Api(client)
        lease = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}}
        first = await leases.create_namespaced_lease("default", lease)
        first.spec.holder_identity = "b"
        second = await leases.replace_namespaced_lease("l", "default", first)
        with pytest.raises(kubernetes.aio.client.ApiException) as refused:
            await leases.replace_namespaced_lease("l", "default", first)

    assert second.spec.holder_identity == "b"
    assert refused.value.status == 409
