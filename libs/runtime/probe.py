"""The probe listener: plaintext HTTP with health and metrics, nothing else.

HTTP and not gRPC because the kubelet's gRPC probes cannot do TLS and the main listener does nothing
else. `/healthz` answers as long as the event loop does; `/readyz` is the health board's overall
name.
"""

import asyncio
import logging

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from libs.runtime.health import Health

logger = logging.getLogger(__name__)


class ProbeServer:
    """Serves the probes and the metrics of one process."""

    def __init__(self, registry: CollectorRegistry, health: Health) -> None:
        self._registry = registry
        self._health = health
        self._runner: web.AppRunner | None = None

    async def start(self, address: str) -> int:
        """Listen at `host:port` and return the port.

        Raises:
            OSError: the address cannot be bound.
        """
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        host, _, port = address.rpartition(":")
        await web.TCPSite(self._runner, host.strip("[]"), int(port)).start()
        return int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _readyz(self, _: web.Request) -> web.Response:
        if self._health.serving():
            return web.Response(text="ok\n")
        return web.Response(status=503, text="not ready\n")

    async def _metrics(self, _: web.Request) -> web.Response:
        # thousands of series take long enough to delay every call of this process: not on the loop
        body = await asyncio.to_thread(generate_latest, self._registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})
