"""What the simulator measures of its own parts."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Histogram

from libs.runtime.clock import Clock
from libs.runtime.metrics import CALL_BUCKETS


class Metrics:
    """Steps of the cluster's parts; label values are the names of the parts."""

    def __init__(self, registry: CollectorRegistry, clock: Clock, parts: Iterable[str]) -> None:
        self._clock = clock
        steps = Histogram(
            "joiner_simulator_step_duration_seconds",
            "Duration of one step of a part of the simulated cluster. Labeled by part.",
            ("part",),
            buckets=CALL_BUCKETS,
            registry=registry,
        )
        refusals = Counter(
            "joiner_simulator_refusals_total",
            "Work of a part that was refused and is tried again. Labeled by part.",
            ("part",),
            registry=registry,
        )
        self._of_part = {part: (steps.labels(part), refusals.labels(part)) for part in parts}

    @contextmanager
    def measured(self, part: str) -> Iterator[None]:
        """Time the step that is the body."""
        started = self._clock.monotonic()
        yield
        self._of_part[part][0].observe(self._clock.monotonic() - started)

    def refused(self, part: str) -> None:
        """Count one refusal."""
        self._of_part[part][1].inc()
