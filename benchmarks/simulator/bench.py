"""The benchmark: a simulator process, filled with nodes and pods, listed, watched and weighed.

Its order is part of what it measures: pods are created while 5,000 kubelets renew their leases and
start them; the list of all comes when all run; what watchers see comes last, in a full cluster.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from benchmarks.child import Child, child, cpu_seconds, free_addresses, peak_rss_bytes, rss_bytes
from benchmarks.record import spread
from benchmarks.simulator import load, objects
from benchmarks.simulator.load import Creates, FanOut, Listing, Pace, Tell

_PAGE = {"limit": "500"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How much of everything."""

    nodes: int = 5_000
    pods: int = 150_000
    """Those that run; there are some more that nobody runs."""
    idle: int = 20_000
    clients: int = 16
    watchers: int = 10
    changes_per_second: int = 500
    watched: timedelta = timedelta(seconds=20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Creates, and what each took of the server's core (its kubelets' work included)."""

    creates: Creates
    cpu_seconds: float | None

    def fields(self, name: str) -> dict[str, Any]:
        """Return the figures under a name."""
        each = self.cpu_seconds / max(1, self.creates.count) if self.cpu_seconds else None
        return {
            f"{name}_creates_per_second": round(self.creates.per_second, 1),
            f"{name}_cpu_seconds_per_create": round(each, 6) if each else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was measured."""

    course: Course
    nodes: Rate
    idle: Rate
    running: Rate
    started_seconds: float
    """From the last create to the last pod that runs."""
    rss_before_list: int | None
    listing: Listing
    peak_in_list: int | None
    page: Listing
    of_node: Listing
    fan_out: FanOut
    peak_rss_bytes: int | None

    def document(self) -> Mapping[str, Any]:
        """Return the JSON object."""
        return {
            "name": "simulator",
            "nodes": self.course.nodes,
            "pods": self.course.pods,
            "idle_pods": self.course.idle,
            "clients": self.course.clients,
            **self.nodes.fields("node"),
            **self.idle.fields("idle_pod"),
            **self.running.fields("pod"),
            "started_seconds": round(self.started_seconds, 3),
            "list_seconds": round(self.listing.seconds, 3),
            "list_bytes": self.listing.bytes,
            "page_of_500_seconds": round(self.page.seconds, 4),
            "pods_of_a_node_seconds": round(self.of_node.seconds, 4),
            "watchers": self.course.watchers,
            "changes_per_second": round(self.fan_out.changes_per_second, 1),
            "watch_seconds": spread(self.fan_out.seconds) if self.fan_out.seconds else None,
            "events_missing": self.fan_out.missing,
            "rss_before_list_bytes": self.rss_before_list,
            "peak_rss_in_list_bytes": self.peak_in_list,
            "peak_rss_bytes": self.peak_rss_bytes,
        }


def bench_simulator(course: Course, tell: Tell) -> Found:
    """Start a simulator, load it, and return what was measured.

    Raises:
        Unavailable: it does not start, refuses something, or a phase takes too long.
    """
    return asyncio.run(_measure(course, tell))


async def _measure(course: Course, tell: Tell) -> Found:
    api, listen, probe = free_addresses(3)
    settings = {
        "JOINER_CFG_API_LISTEN": api,
        "JOINER_CFG_LISTEN": listen,
        "JOINER_CFG_PROBE_LISTEN": probe,
        "JOINER_CFG_LOG_LEVEL": "warning",
        "JOINER_CFG_GRACE_PERIOD": "1s",
    }
    async with child("services.simulator", settings) as server:
        await server.wait_listening(api)
        return await _load(course, server, api, tell)


async def _load(course: Course, server: Child, api: str, tell: Tell) -> Found:
    async def created(path: str, bodies: list[bytes]) -> Rate:
        before = cpu_seconds(server.pid)
        creates = await load.create(api, path, bodies, course.clients, tell)
        after = cpu_seconds(server.pid)
        used = after - before if after is not None and before is not None else None
        return Rate(creates=creates, cpu_seconds=used)

    nodes = await created(objects.NODES, [objects.node(i) for i in range(course.nodes)])
    await load.wait_until(api, objects.LEASES, {}, course.nodes, tell)
    idle = await created(objects.PODS, [objects.idle_pod(i) for i in range(course.idle)])
    bodies = [objects.bound_pod(i, course.nodes) for i in range(course.pods)]
    running = await created(objects.PODS, bodies)
    starting = {"fieldSelector": "status.phase=Pending,spec.schedulerName!=nobody"}
    started = await load.wait_until(api, objects.PODS, starting, 0, tell)
    before = rss_bytes(server.pid)
    tell("listing all pods")
    listing = await load.list_all(api, "/api/v1/pods", {})
    peak = peak_rss_bytes(server.pid)
    page = await load.list_all(api, "/api/v1/pods", _PAGE)
    of_node = {"fieldSelector": f"spec.nodeName={objects.node_name(0)}"}
    one = await load.list_all(api, "/api/v1/pods", of_node)
    pace = Pace(
        per_second=course.changes_per_second,
        duration=course.watched,
        pods=course.pods,
        watchers=course.watchers,
        writers=course.clients,
    )
    seen = await load.fan_out(api, pace, tell)
    return Found(
        course=course,
        nodes=nodes,
        idle=idle,
        running=running,
        started_seconds=started,
        rss_before_list=before,
        listing=listing,
        peak_in_list=peak,
        page=page,
        of_node=one,
        fan_out=seen,
        peak_rss_bytes=peak_rss_bytes(server.pid),
    )
