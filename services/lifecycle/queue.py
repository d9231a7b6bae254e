"""`AdmissionQueue`: plans and commands, one at a time, each on the newest state.

Apart because laws 3 and 6 are kept here: whoever gets a turn is alone, the process leads, its
caches hold what was stored when its term began, and the sender's epoch is not a past one.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta

from libs.domain.errors import InvalidRequest, NotReady, StaleRevision
from libs.domain.snapshot import SnapshotId
from services.lifecycle.metrics import Metrics
from services.lifecycle.ports import Permission


class AdmissionQueue:
    """Hands out turns in the order of arrival."""

    def __init__(self, permission: Permission, cluster_id: str, metrics: Metrics) -> None:
        self._permission = permission
        self._metrics = metrics
        self._cluster_id = cluster_id
        self._turn = asyncio.Lock()
        self._opened_at: float | None = None
        self._transitions = -1

    def open(self, now: float) -> None:
        """Admit from now on: the caches hold what was stored when the term began."""
        self._opened_at = now

    def close(self) -> None:
        """Admit nothing more."""
        self._opened_at = None

    def require_age(self, span: timedelta, now: float) -> None:
        """Return if the term has lasted for a span: what an earlier one knew has run out since.

        Raises:
            NotReady: it has not.
        """
        if self._opened_at is None or now - self._opened_at < span.total_seconds():
            raise NotReady("nominations of an earlier term may still stand")

    @contextlib.asynccontextmanager
    async def turn(self, kind: str, snapshot: SnapshotId) -> AsyncIterator[None]:
        """Wait for a turn and hold it; `kind` is `plan` or `command`, for the counter.

        Raises:
            NotReady: this process may not act now, or has not read the cluster yet.
            InvalidRequest: the decision is about another cluster.
            StaleRevision: the decision's maker was superseded.
        """
        with self._metrics.received(kind):
            self.check(snapshot)
            async with self._turn:
                self.check(snapshot)
                self._transitions = max(self._transitions, snapshot.epoch.lease_transitions)
                yield

    def check(self, snapshot: SnapshotId) -> None:
        """Return if a decision on this snapshot may be taken now; raises as `turn` does."""
        self._permission.require()
        if self._opened_at is None:
            raise NotReady("the cluster's state is not read yet")
        if snapshot.cluster_id != self._cluster_id:
            raise InvalidRequest(
                f'it is about cluster "{snapshot.cluster_id}", this is "{self._cluster_id}"',
                field="snapshot.cluster_id",
            )
        if snapshot.epoch.lease_transitions < self._transitions:
            raise StaleRevision(
                f"its maker's term {snapshot.epoch.lease_transitions} is over, "
                f"term {self._transitions} was seen"
            )
