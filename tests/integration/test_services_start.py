"""Every service as a real process, with the variables that Kubernetes adds for our Services."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from libs.runtime.clock import SystemClock
from services.simulator import http
from services.simulator.core.api.messages import Request, Response
from services.simulator.core.api.server import ApiServer
from tests.support.rights import rights_of
from tests.unit.deploy.manifests import ROOT, everything, of_kind

pytestmark = pytest.mark.integration

STARTED = [file.parent.name for file in sorted((ROOT / "services").glob("*/__main__.py"))]

LEASED = {"JOINER_CFG_LEASE_NAMESPACE": "joiner-system"}
"""As the manifests set it: there they may keep their leases, and only there."""

OWN_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "disruption": LEASED,
    "lifecycle": LEASED,
    "simulator": {"JOINER_CFG_API_LISTEN": "127.0.0.1:0"},
    "watcher": {**LEASED, "JOINER_CFG_PROVIDERS": "karpenter.kwok.sh=127.0.0.1:1"},
}
"""Beyond what all get; nothing listens at the addresses of other services, and that is fine."""

WITHOUT_KUBERNETES = ("solver", "simulator")

WAIT = timedelta(seconds=30)


@pytest.mark.parametrize("service", STARTED)
async def test_a_service_starts_beside_kubernetes_variables_and_stops_when_told(
    service: str, cluster: "Cluster"
) -> None:
    environment = injected_variables() | settings_of(service, cluster.kubeconfig)

    async with running(service, environment) as process:
        await process.answers("/healthz")
        await process.answers("/readyz")
        process.terminate()
        status = await process.ended()

    assert status == 0, process.log
    assert cluster.requests_beyond(service) == []


@pytest.mark.parametrize("service", STARTED)
async def test_a_service_refuses_a_setting_that_it_does_not_know(
    service: str, cluster: "Cluster"
) -> None:
    environment = settings_of(service, cluster.kubeconfig) | {"JOINER_CFG_LISTENN": "127.0.0.1:0"}

    async with running(service, environment) as process:
        status = await process.ended()

    assert status == 2, process.log
    assert "JOINER_CFG_LISTENN is not a setting" in "\n".join(process.log)
    assert "did you mean JOINER_CFG_LISTEN?" in "\n".join(process.log)


def settings_of(service: str, kubeconfig: Path) -> dict[str, str]:
    """Return settings with which a service starts on this machine, whatever else runs here."""
    common = {
        "JOINER_CFG_LISTEN": "127.0.0.1:0",
        "JOINER_CFG_PROBE_LISTEN": "127.0.0.1:0",
    }
    if service not in WITHOUT_KUBERNETES:
        common["JOINER_CFG_KUBECONFIG"] = str(kubeconfig)
    return {**common, **OWN_SETTINGS.get(service, {})}


def injected_variables() -> dict[str, str]:
    """Return what the kubelet adds where `enableServiceLinks` is on.

    Source: Kubernetes' documentation of Services, "Environment variables".
    """
    found = dict(_variables_of("kubernetes", "10.96.0.1", {"https": 443}))
    for number, (name, obj) in enumerate(of_kind("Service").items(), start=10):
        if obj["spec"].get("clusterIP") != "None":
            ports = {one["name"]: one["port"] for one in obj["spec"]["ports"]}
            found |= _variables_of(name, f"10.96.0.{number}", ports)
    return found


def _variables_of(service: str, address: str, ports: dict[str, int]) -> dict[str, str]:
    name = service.upper().replace("-", "_")
    first = next(iter(ports.values()))
    found = {
        f"{name}_SERVICE_HOST": address,
        f"{name}_SERVICE_PORT": str(first),
        f"{name}_PORT": f"tcp://{address}:{first}",
    }
    for port_name, port in ports.items():
        found |= {
            f"{name}_SERVICE_PORT_{port_name.upper()}": str(port),
            f"{name}_PORT_{port}_TCP": f"tcp://{address}:{port}",
            f"{name}_PORT_{port}_TCP_PROTO": "tcp",
            f"{name}_PORT_{port}_TCP_PORT": str(port),
            f"{name}_PORT_{port}_TCP_ADDR": address,
        }
    return found


@dataclass
class Running:
    """A process of ours and what it wrote."""

    process: asyncio.subprocess.Process
    log: list[str] = field(default_factory=list)
    _probe_port: "asyncio.Future[int]" = field(default_factory=asyncio.Future)

    async def read(self) -> None:
        """Keep the log, line by line, until the process ends."""
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            self.log.append(line.decode().rstrip())
            with contextlib.suppress(json.JSONDecodeError):
                self._note(json.loads(line))

    async def answers(self, path: str) -> None:
        """Wait until the probe listener answers with success."""
        clock = SystemClock()
        async with self._limit(), aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{await self._probe_port}{path}"
            while True:
                async with session.get(url) as answer:
                    if answer.status == 200:
                        return
                await clock.sleep(timedelta(milliseconds=50))

    def terminate(self) -> None:
        """Ask the process to stop."""
        self.process.terminate()

    async def ended(self) -> int:
        """Wait for the end and return the exit status."""
        async with self._limit():
            return await self.process.wait()

    def _note(self, entry: Any) -> None:
        if isinstance(entry, dict) and entry.get("message") == "probes are served":
            self._probe_port.set_result(entry["port"])

    @contextlib.asynccontextmanager
    async def _limit(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(WAIT.total_seconds()):
                yield
        except TimeoutError:
            pytest.fail("not within 30 s; its log:\n" + "\n".join(self.log))


@contextlib.asynccontextmanager
async def running(service: str, environment: Mapping[str, str]) -> AsyncIterator[Running]:
    """Start `python -m services.<service>` and make sure that it is gone in the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        f"services.{service}",
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    started = Running(process)
    reading = asyncio.create_task(started.read())
    try:
        yield started
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await reading


@dataclass
class Cluster:
    """An empty cluster with our definitions, which notes what it is asked."""

    kubeconfig: Path
    requests: list[Request] = field(default_factory=list)

    def requests_beyond(self, service: str) -> list[str]:
        """Return the requests that no role of a service permits."""
        rights = rights_of(f"joiner-{service.replace('_', '-')}", everything())
        return [
            f"{one.method} {one.path} {query}"
            for one in self.requests
            for query in [{name: values[-1] for name, values in one.query.items()}]
            if not rights.permit(one.method, one.path, query)
        ]


@pytest.fixture
async def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cluster]:
    """Serve a cluster over HTTP."""
    clock, numbers = SystemClock(), count(1)
    found = Cluster(tmp_path / "kubeconfig")
    server = ApiServer(clock.now, lambda: _uid(numbers), lambda: f"{next(numbers):05d}")
    answer = server.handle

    def handle(request: Request) -> Response:
        found.requests.append(request)
        return answer(request)

    monkeypatch.setattr(server, "handle", handle)
    runner = await http.start(server, clock, http.Place(host="127.0.0.1", port=0))
    try:
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        server.direct.create("namespaces", {"metadata": {"name": "joiner-system"}})
        await _define(url)
        found.requests.clear()
        _write_kubeconfig(found.kubeconfig, url)
        yield found
    finally:
        await runner.cleanup()


def _uid(numbers: Iterator[int]) -> str:
    return f"00000000-0000-4000-8000-{next(numbers):012d}"


async def _define(url: str) -> None:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    async with aiohttp.ClientSession() as session:
        for crd in of_kind("CustomResourceDefinition").values():
            async with session.post(url + path, json=crd) as answer:
                assert answer.status == 201, await answer.text()


def _write_kubeconfig(path: Path, url: str) -> None:
    path.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "test",
                "clusters": [{"name": "test", "cluster": {"server": url}}],
                "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
                "users": [{"name": "test", "user": {}}],
            }
        )
    )
