"""Series of the watcher. Those that begin with karpenter are Karpenter's, name by name."""

from collections.abc import Callable
from enum import StrEnum

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from libs.runtime.metrics import DURATION_BUCKETS, start_at_zero


class Result(StrEnum):
    """What became of one attempt to decide."""

    APPLIED = "applied"
    NOTHING_WAITS = "nothing_waits"
    REPORTED = "reported"
    """Another autoscaler is alive: decided, said, not applied."""
    STALE = "stale"
    NOT_READY = "not_ready"
    UNAVAILABLE = "unavailable"
    REFUSED = "refused"


class Metrics:
    """Counts and durations of one process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.cluster_nodes = Gauge(
            "karpenter_cluster_state_node_count",
            "Nodes in the cluster state.",
            registry=registry,
        )
        self.synced = Gauge(
            "karpenter_cluster_state_synced",
            "1 where the first list of every kind is in.",
            registry=registry,
        )
        self.unsynced_seconds = Gauge(
            "karpenter_cluster_state_unsynced_time_seconds",
            "Time for which the cluster state has not been synced.",
            registry=registry,
        )
        self.published = Counter(
            "joiner_snapshot_published",
            "Snapshots published.",
            registry=registry,
        )
        self.build_durations = Histogram(
            "joiner_snapshot_build_duration_seconds",
            "Time to make one snapshot.",
            buckets=DURATION_BUCKETS,
            registry=registry,
        )
        self.set_aside = Gauge(
            "joiner_snapshot_set_aside_objects",
            "Objects that were left out of the newest snapshot.",
            registry=registry,
        )
        self.sink_lag = Gauge(
            "joiner_snapshot_sink_lag_seconds",
            "Age of a sink's view; 0 where it holds the newest. Labeled by sink.",
            ("sink",),
            registry=registry,
        )
        self.decisions = Counter(
            "joiner_provisioning_attempts",
            "Attempts to decide and apply. Labeled by result.",
            ("result",),
            registry=registry,
        )
        start_at_zero(self.decisions, list(Result))
        self.decision_durations = Histogram(
            "joiner_provisioning_decision_duration_seconds",
            "From the close of a batch to the end of its decision, retries included.",
            buckets=DURATION_BUCKETS,
            registry=registry,
        )
        self.rival = Gauge(
            "joiner_provisioning_rival_alive",
            "1 while another autoscaler holds its lease, so that nothing is applied.",
            registry=registry,
        )
        self.catalogue_age = Gauge(
            "joiner_provider_catalogue_age_seconds",
            "Time since a provider last answered for a node class. Labeled by node_class.",
            ("node_class",),
            registry=registry,
        )

    def observe_sync(self, synced: Callable[[], bool], unsynced_for: Callable[[], float]) -> None:
        """Have the two series of synchronization read when they are scraped."""
        self.synced.set_function(lambda: float(synced()))
        self.unsynced_seconds.set_function(lambda: 0.0 if synced() else unsynced_for())
