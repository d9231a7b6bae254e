"""Put the simulator together."""

import asyncio
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from libs.domain.errors import InvalidRequest
from libs.kube.crd_files import DEPLOYED, read_crds
from libs.runtime.app import App, Runtime
from services.simulator import http, kubeconfig
from services.simulator.config import Settings
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.plugins.admission import ALL_PLUGINS
from services.simulator.core.api.server import ApiServer
from services.simulator.core.kubelet.policy import KubeletPolicy
from services.simulator.core.life import all_parts
from services.simulator.loop import LifeLoop
from services.simulator.metrics import Metrics

_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5


def build(settings: Settings, runtime: Runtime) -> App:
    """Return the app: a cluster, and its API over HTTP.

    Raises:
        InvalidRequest: a CRD cannot be read or is refused.
    """
    server = new_server(settings, runtime)
    listening = asyncio.Event()

    async def serve_api() -> None:
        await _serve(settings, runtime, server, listening)

    async def ready() -> None:
        await listening.wait()

    app = assemble(settings, runtime, server)
    return replace(app, tasks=MappingProxyType({"api": serve_api, **app.tasks}), ready=ready)


def new_server(settings: Settings, runtime: Runtime) -> ApiServer:
    """Return the API server of a new cluster, with its CRDs.

    Raises:
        InvalidRequest: a CRD cannot be read or is refused.
    """
    random = runtime.random

    def suffix() -> str:
        return "".join(random.choice(_SUFFIX_LETTERS) for _ in range(_SUFFIX_LENGTH))

    server = ApiServer(
        runtime.clock.now,
        runtime.new_id,
        suffix,
        plugins=ALL_PLUGINS,
        token=settings.api_token,
    )
    for kind, crd in _crds(settings.crds or DEPLOYED).items():
        try:
            server.direct.create(_DEFINITIONS, crd)
        except ApiError as error:
            raise InvalidRequest(f"the CRD of {kind} is refused: {error}", field="crds") from error
    return server


def _crds(folder: Path) -> dict[str, dict[str, Any]]:
    if not folder.is_dir():
        raise InvalidRequest(f"{folder} is no folder", field="crds")
    try:
        return read_crds(folder)
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise InvalidRequest(
            f"a file in {folder} cannot be read: {error!r}", field="crds"
        ) from error


def assemble(settings: Settings, runtime: Runtime, server: ApiServer) -> App:
    """Return the app that keeps a cluster alive, without HTTP; tests reach the server in memory."""
    policy = KubeletPolicy(
        boot=settings.boot_delay,
        start=settings.pod_start_delay,
        stop=settings.pod_stop_delay,
        run=settings.job_run_time,
        volume_limits=settings.volume_limits,
    )
    parts = all_parts(server, policy)
    metrics = Metrics(runtime.metrics, runtime.clock, [part.name for part in parts])
    loop = LifeLoop(server.store, parts, runtime.clock, metrics)
    return App(tasks=MappingProxyType({"life": loop.run}))


async def _serve(
    settings: Settings, runtime: Runtime, server: ApiServer, listening: asyncio.Event
) -> None:
    """Serve the API until cancelled; say where it is once it can be reached."""
    host, _, port = settings.api_listen.rpartition(":")
    runner = await http.start(server, runtime.clock, host=host.strip("[]"), port=int(port))
    try:
        if settings.kubeconfig is not None:
            address = settings.advertise_address or f"{host}:{runner.addresses[0][1]}"
            kubeconfig.write(settings.kubeconfig, address, settings.api_token)
        listening.set()
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()
