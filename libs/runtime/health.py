"""Which health names are served, over gRPC (`grpc.health.v1`) and for the probes.

The empty name is the whole process: its readiness. A service adds names of its own, such as
`snapshot/<cluster_id>`, for what a caller may want to know before it calls.
"""

from grpc_health.v1 import health, health_pb2

OVERALL = ""


class Health:
    """The board of health names; the stock servicer answers `Check` and `Watch` from it."""

    def __init__(self) -> None:
        self.servicer = health.aio.HealthServicer()
        self._serving: dict[str, bool] = {}

    def serving(self, name: str = OVERALL) -> bool:
        """Return whether `name` is served; an unknown name is not."""
        return self._serving.get(name, False)

    async def set(self, name: str, serving: bool) -> None:
        """Change one name and tell every watcher of it."""
        self._serving[name] = serving
        statuses = health_pb2.HealthCheckResponse
        await self.servicer.set(name, statuses.SERVING if serving else statuses.NOT_SERVING)

    async def shut_down(self) -> None:
        """Set every name to not serving, for good."""
        self._serving = dict.fromkeys(self._serving, False)
        await self.servicer.enter_graceful_shutdown()
