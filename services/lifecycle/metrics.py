"""The series that lifecycle exports; Karpenter's keep their exact names and labels.

Source: `docs/sources.md` 5.1 and 5.2.
"""

import contextlib
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from libs.domain.errors import InvalidRequest, JoinerError, NotReady, StaleRevision
from libs.runtime.metrics import CALL_BUCKETS, start_at_zero
from services.lifecycle.core.step import Count, Series

_ZONED = ("nodepool", "zone")

_LABELS: dict[Series, tuple[str, ...]] = {
    Series.CLAIMS_CREATED: ("reason", "nodepool", "min_values_relaxed"),
    Series.CLAIMS_DISRUPTED: (
        "reason",
        "nodepool",
        "capacity_type",
        "consolidation_policy",
        "termination_mode",
    ),
    Series.CLAIMS_TERMINATED: ("nodepool", "capacity_type", "zone"),
    Series.NODES_CREATED: _ZONED,
    Series.NODES_TERMINATED: _ZONED,
    Series.NODES_DRAINED: ("nodepool",),
}
_WHAT = {
    Series.CLAIMS_CREATED: "NodeClaims created",
    Series.CLAIMS_DISRUPTED: "NodeClaims ended on purpose",
    Series.CLAIMS_TERMINATED: "NodeClaims gone",
    Series.NODES_CREATED: "Nodes registered",
    Series.NODES_TERMINATED: "Nodes gone",
    Series.NODES_DRAINED: "Nodes drained",
}
_ADMITTED = "admitted"
_RESULTS: dict[type[JoinerError], str] = {
    NotReady: "not_ready",
    StaleRevision: "stale",
    InvalidRequest: "invalid",
}
_FAILED = "failed"


class Metrics:
    """Counters and gauges of one process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._series = {
            series: Counter(
                series.value,
                f"{_WHAT[series]}. Labeled by {', '.join(labels)}.",
                labels,
                registry=registry,
            )
            for series, labels in _LABELS.items()
        }
        self.eviction_requests = Counter(
            "karpenter_pods_eviction_requests_total",
            "Evictions asked for. Labeled by code.",
            ("code",),
            registry=registry,
        )
        self.pods_drained = Counter(
            "karpenter_pods_drained_total",
            "Pods evicted from nodes that go. Labeled by reason.",
            ("reason",),
            registry=registry,
        )
        self.plans = Counter(
            "joiner_nodeclaims_plans_total",
            "Plans and commands received. Labeled by kind and result.",
            ("kind", "result"),
            registry=registry,
        )
        start_at_zero(self.plans, ("plan", "command"), (_ADMITTED, _FAILED, *_RESULTS.values()))
        self.reconciles = Histogram(
            "joiner_nodeclaims_reconcile_duration_seconds",
            "Duration of one look at an object. Labeled by kind.",
            ("kind",),
            buckets=CALL_BUCKETS,
            registry=registry,
        )
        self.failures = Counter(
            "joiner_nodeclaims_reconcile_failures_total",
            "Looks at objects that failed and are repeated. Labeled by kind.",
            ("kind",),
            registry=registry,
        )
        self.queued = Gauge(
            "joiner_nodeclaims_reconcile_queued",
            "Objects that wait for a look that is due. Labeled by nothing.",
            registry=registry,
        )

    def count(self, count: Count) -> None:
        """Count one more."""
        self._series[count.series].labels(*count.labels).inc()

    @contextlib.contextmanager
    def received(self, kind: str) -> Iterator[None]:
        """Count one plan or command under what becomes of it in the body."""
        try:
            yield
        except JoinerError as error:
            self.plans.labels(kind, _RESULTS.get(type(error), _FAILED)).inc()
            raise
        self.plans.labels(kind, _ADMITTED).inc()

    def created(self, reason: str, nodepool: str, min_values_relaxed: str) -> None:
        """Count a NodeClaim that was created."""
        labels = (reason, nodepool, min_values_relaxed)
        self.count(Count(series=Series.CLAIMS_CREATED, labels=labels))
