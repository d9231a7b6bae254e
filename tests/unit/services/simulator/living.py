"""A simulated cluster that lives on simulated time, and small objects for it."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from prometheus_client import CollectorRegistry

from libs.runtime.clock import LoopClock
from services.simulator.core.api.plugins.admission import ALL_PLUGINS
from services.simulator.core.api.server import ApiServer
from services.simulator.core.kubelet.fate import FateBook
from services.simulator.core.kubelet.policy import KubeletPolicy
from services.simulator.core.life import all_parts
from services.simulator.core.objects import controller_of
from services.simulator.core.usage.meter import UsageBook
from services.simulator.loop import LifeLoop
from services.simulator.metrics import Metrics
from tests.support.world import a_runtime

Obj = dict[str, Any]

START = datetime(2026, 1, 1, tzinfo=UTC)


class Living:
    """The API of a cluster whose parts run beside the test."""

    def __init__(self, server: ApiServer, clock: LoopClock, registry: CollectorRegistry) -> None:
        self.server = server
        self.api = server.direct
        self.clock = clock
        self.registry = registry

    async def after(self, seconds: float) -> None:
        await self.clock.sleep(timedelta(seconds=seconds))

    async def until(self, condition: Callable[[], object], within: float = 60) -> None:
        async with asyncio.timeout(within):
            while not condition():
                await self.after(0.05)

    def pods(self, app: str = "") -> list[Obj]:
        labels = f"app={app}" if app else ""
        return list(self.api.list("pods", "default", labels=labels))

    def running(self, app: str = "") -> list[Obj]:
        return [p for p in self.pods(app) if p["status"]["phase"] == "Running"]

    def owner_names(self) -> set[str]:
        owners = [controller_of(pod) for pod in self.pods()]
        return {owner["name"] for owner in owners if owner is not None}

    def status(self, resource: str, name: str) -> Obj:
        status: Obj = self.api.get(resource, name, "default")["status"]
        return status


@contextlib.asynccontextmanager
async def living(
    policy: KubeletPolicy | None = None,
    fates: FateBook | None = None,
    usage: UsageBook | None = None,
) -> AsyncIterator[Living]:
    clock = LoopClock(START)
    runtime, numbers = a_runtime(clock=clock), itertools.count()
    server = ApiServer(
        clock.now, runtime.new_id, lambda: f"{next(numbers):05}", plugins=ALL_PLUGINS
    )
    parts = all_parts(server, policy or KubeletPolicy(), fates, usage)
    registry = CollectorRegistry()
    metrics = Metrics(registry, clock, [part.name for part in parts])
    loop = LifeLoop(server.store, parts, clock, metrics)
    task = asyncio.create_task(loop.run(), name="life")
    try:
        yield Living(server, clock, registry)
    finally:
        failed = task.done()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert not failed


def a_node(name: str = "n1", zone: str = "zone-a", **spec: Any) -> Obj:
    capacity = spec.pop("capacity", {"cpu": "4", "memory": "16Gi", "pods": "20"})
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}
    return {
        "metadata": {"name": name, "labels": {**labels, **spec.pop("labels", {})}},
        "spec": {"providerID": f"kwok://{name}", **spec},
        "status": {"capacity": capacity},
    }


def a_template(app: str, cpu: str = "500m", **spec: Any) -> Obj:
    meta = {"labels": {"app": app}}
    if "annotations" in spec:
        meta["annotations"] = spec.pop("annotations")
    resources = {"requests": {"cpu": cpu, "memory": "64Mi"}}
    container = {"name": "main", "image": "app:1", "resources": resources}
    container |= spec.pop("container", {})
    return {"metadata": meta, "spec": {"containers": [container], **spec}}


def a_workload(app: str, template: Obj | None = None, **spec: Any) -> Obj:
    return {
        "metadata": {"name": app},
        "spec": {
            "selector": {"matchLabels": {"app": app}},
            "template": template or a_template(app),
            **spec,
        },
    }


def a_pod(name: str, **spec: Any) -> Obj:
    template = a_template(name, **spec)
    return {"metadata": {"name": name, **template["metadata"]}, "spec": template["spec"]}
