"""Series of the solver, Karpenter's, name by name; they are about the home cluster."""

from prometheus_client import CollectorRegistry, Gauge, Histogram

from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution
from libs.runtime.metrics import DURATION_BUCKETS

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

    def observe(self, snapshot: ClusterSnapshot, solution: Solution, seconds: float) -> None:
        """Record one decision."""
        self._durations.observe(seconds)
        self._unschedulable.set(
            sum(len(one.pod_uids) for one in solution.plan.unplaced if not one.reason.deferred)
        )
        self._ignored.set(sum(one.kind == "Pod" for one in snapshot.set_aside.values()))
