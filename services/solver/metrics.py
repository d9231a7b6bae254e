"""Series of the solver: Karpenter's, name by name, about the home cluster; and who computes."""

from enum import StrEnum

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from libs.domain.snapshot import ClusterSnapshot
from libs.runtime.metrics import DURATION_BUCKETS, start_at_zero

_CONTROLLER = "provisioner"


class Metrics:
    """What one process decided for its home cluster."""

    def __init__(self, registry: CollectorRegistry) -> None:
        durations = Histogram(
            "karpenter_scheduler_scheduling_duration_seconds",
            "Time to find a place for all waiting pods. Labeled by controller.",
            ("controller",),
            buckets=DURATION_BUCKETS,
            registry=registry,
        )
        unschedulable = Gauge(
            "karpenter_scheduler_unschedulable_pods_count",
            "Pods without a place, those apart that only wait. Labeled by controller.",
            ("controller",),
            registry=registry,
        )
        self._ignored = Gauge(
            "karpenter_scheduler_ignored_pods_count",
            "Pods that were left out because something in them is not valid.",
            registry=registry,
        )
        self._durations = durations.labels(_CONTROLLER)
        self._unschedulable = unschedulable.labels(_CONTROLLER)

    def observe(self, snapshot: ClusterSnapshot, unschedulable: int, seconds: float) -> None:
        """Record one decision: how many pods have no place, and how long it took."""
        self._durations.observe(seconds)
        self._unschedulable.set(unschedulable)
        self._ignored.set(sum(one.kind == "Pod" for one in snapshot.set_aside.values()))


class Place(StrEnum):
    """Where a question, or a part of one, was computed."""

    HERE = "here"
    PEER = "peer"
    RETURNED = "returned"
    """By a peer, which was asked and did not answer; then it was computed here."""


class CrewMetrics:
    """How the work is shared among processes."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.calls = Counter(
            "joiner_solver_calls_total",
            "Questions, or parts of one, by where they were computed. Labeled by place.",
            ("place",),
            registry=registry,
        )
        self.processes = Gauge(
            "joiner_solver_processes",
            "Processes that can compute now, this one among them.",
            registry=registry,
        )
        self.processes.set(1)
        start_at_zero(self.calls, tuple(Place))
