"""Buckets, the registry and what every process measures.

The series of a service are declared in its own `metrics.py`. Label values come from closed sets;
`start_at_zero` makes the known ones visible before they happen. Karpenter's series keep their
exact names and the bucket set D below.
"""

import contextlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import grpc
import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

# fmt: off
DURATION_BUCKETS = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0,
    25.0, 30.0, 40.0, 50.0, 60.0, 120.0, 150.0, 300.0, 450.0, 600.0,
)
"""Karpenter's duration buckets (set D), in seconds."""
# fmt: on

CALL_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Buckets of one call between services, in seconds."""


def process_registry(service: str, version: str) -> CollectorRegistry:
    """Return a registry with the series of the process itself and `joiner_build_info`."""
    prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]  # untyped there
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    build = Gauge(
        "joiner_build_info",
        "Constant 1. Labeled by service and version.",
        ("service", "version"),
        registry=registry,
    )
    build.labels(service, version).set(1)
    return registry


def start_at_zero(metric: Counter | Gauge | Histogram, *values: Iterable[str]) -> None:
    """Create the series of every combination of label values, in the order of the labels."""
    for combination in product(*values):
        metric.labels(*combination)


@dataclass(slots=True)
class Outcome:
    """What a measured call ended with."""

    code: grpc.StatusCode = grpc.StatusCode.OK


class ServerMetrics:
    """Calls served by this process, on all listeners."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.calls = Counter(
            "joiner_grpc_served_total",
            "Calls served. Labeled by method and code.",
            ("method", "code"),
            registry=registry,
        )
        self.durations = Histogram(
            "joiner_grpc_served_duration_seconds",
            "Duration of unary calls served. Labeled by method.",
            ("method",),
            buckets=CALL_BUCKETS,
            registry=registry,
        )

    @contextlib.contextmanager
    def measured(self, method: str, *, timed: bool) -> Iterator[Outcome]:
        """Count one call under the code that the body leaves; time it if it is not a stream."""
        outcome, started = Outcome(), time.perf_counter()
        try:
            yield outcome
        finally:
            self.calls.labels(method, outcome.code.name).inc()
            if timed:
                self.durations.labels(method).observe(time.perf_counter() - started)
