"""Series of disruption. Those that begin with karpenter are Karpenter's, name by name.

Source: `docs/sources.md` 5.2, H3 and H16. One difference: an evaluation's duration does not include
the validation delay.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from libs.domain.nodepool import DisruptionReason
from libs.domain.plan import Command
from libs.runtime.metrics import DURATION_BUCKETS, start_at_zero
from services.disruption.core.budgets import Allowance, Allowances
from services.disruption.core.candidates import Candidate
from services.disruption.core.decide import Verdict
from services.disruption.core.methods.method import Method, Selection


class Result(StrEnum):
    """What became of one pass."""

    STARTED = "started"
    NOTHING_TO_DO = "nothing_to_do"
    NOT_STARTED = "not_started"
    """There was something to do, but it did not survive validation, or lifecycle refused it."""
    STALE = "stale"
    """The watcher is silent."""
    SETTLING = "settling"
    """Another watcher took over a moment ago."""


class Metrics:
    """Counts and durations of one process."""

    def __init__(self, registry: CollectorRegistry, methods: Sequence[Method]) -> None:
        self._declare_reference(registry)
        self.passes = Counter(
            "joiner_disruption_passes",
            "Passes. Labeled by result.",
            ("result",),
            registry=registry,
        )
        start_at_zero(self.passes, list(Result))
        self.pass_durations = Histogram(
            "joiner_disruption_pass_duration_seconds",
            "Time to decide on all nodes.",
            buckets=DURATION_BUCKETS,
            registry=registry,
        )
        self.snapshot_age = Gauge(
            "joiner_disruption_snapshot_age_seconds",
            "For how long the watcher had been silent when the last pass began.",
            registry=registry,
        )
        for method in methods:
            labels = _labels(method)
            self.failed_validations.labels(method.consolidation_type)
            self.durations.labels(*labels)
            for decision in ("delete", "replace"):
                self.decisions.labels(decision, *labels)

    def measured(self, methods: Iterable[Method]) -> tuple[Method, ...]:
        """Return the same methods, whose selections are timed."""
        return tuple(self._measured(method) for method in methods)

    def note(self, verdict: Verdict) -> None:
        """Show what a verdict counted."""
        for proposal in verdict.proposals:
            reason = proposal.method.reason.value.lower()
            self.eligible_nodes.labels(reason).set(proposal.eligible)
        self._note_allowances(verdict.allowances)

    def started(self, method: Method, command: Command) -> None:
        """Count a command that lifecycle has started."""
        labels = ("replace" if command.replacements else "delete", *_labels(method))
        self.decisions.labels(*labels).inc()
        for nodepool in sorted({one.nodepool for one in command.candidates}):
            self.decisions_by_nodepool.labels(nodepool, *labels).inc()

    def _declare_reference(self, registry: CollectorRegistry) -> None:
        subsystem = "karpenter_voluntary_disruption"
        by_method = ("reason", "consolidation_type")
        self.durations = Histogram(
            f"{subsystem}_decision_evaluation_duration_seconds",
            "Time for which a method decides. Labeled by reason and consolidation type.",
            by_method,
            buckets=DURATION_BUCKETS,
            registry=registry,
        )
        self.decisions = Counter(
            f"{subsystem}_decisions",
            "Commands started. Labeled by decision, reason and consolidation type.",
            ("decision", *by_method),
            registry=registry,
        )
        self.decisions_by_nodepool = Counter(
            f"{subsystem}_decisions_by_nodepool",
            "Commands started, once for each pool that they are about. "
            "Labeled by nodepool, decision, reason and consolidation type.",
            ("nodepool", "decision", *by_method),
            registry=registry,
        )
        self.eligible_nodes = Gauge(
            f"{subsystem}_eligible_nodes",
            "Nodes that a method is for, budgets apart. Labeled by reason.",
            ("reason",),
            registry=registry,
        )
        self.failed_validations = Counter(
            f"{subsystem}_failed_validations",
            "Candidates that did not survive validation. Labeled by consolidation type.",
            ("consolidation_type",),
            registry=registry,
        )
        self._declare_budgets(registry)

    def _declare_budgets(self, registry: CollectorRegistry) -> None:
        self._shown: set[tuple[str, DisruptionReason]] = set()
        self.allowed_disruptions = Gauge(
            "karpenter_nodepools_allowed_disruptions",
            "Nodes that budgets allow to be disrupted, those being disrupted included. "
            "Labeled by nodepool and reason.",
            ("nodepool", "reason"),
            registry=registry,
        )
        self.nodes_consuming_budgets = Gauge(
            "karpenter_nodepools_nodes_consuming_budgets",
            "Nodes that are being disrupted or are not ready. Labeled by nodepool and reason.",
            ("nodepool", "reason"),
            registry=registry,
        )

    def _measured(self, method: Method) -> Method:
        durations = self.durations.labels(*_labels(method))

        def select(candidates: Iterable[Candidate], allowances: Allowances) -> Selection:
            with durations.time():
                return method.select(candidates, allowances)

        return replace(method, select=select)

    def _note_allowances(self, allowances: Iterable[Allowance]) -> None:
        shown = set()
        for one in allowances:
            self.allowed_disruptions.labels(one.nodepool, one.reason).set(one.allowed)
            self.nodes_consuming_budgets.labels(one.nodepool, one.reason).set(one.disrupting)
            shown.add((one.nodepool, one.reason))
        for gone in self._shown - shown:
            self.allowed_disruptions.remove(*gone)
            self.nodes_consuming_budgets.remove(*gone)
        self._shown = shown


def _labels(method: Method) -> tuple[str, str]:
    return method.reason.value.lower(), method.consolidation_type
