"""Encodes each revision of the home cluster as it arrives, so that whoever asks about it need not.

Apart from the decision, which is the same without it. What is pushed is mostly asked about next,
with the options of the question before: so those are taken. Until somebody has asked, nothing is
encoded ahead.
"""

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta

from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from libs.runtime.app import Runtime
from services.solver.columns import ColumnsCache
from services.solver.core.packing.encode import Encoded, encode

logger = logging.getLogger(__name__)


class Ahead:
    """Holds the newest revision, encoded; lives on one event loop."""

    def __init__(self, columns: ColumnsCache, runtime: Runtime) -> None:
        self._columns = columns
        self._runtime = runtime
        self._asked: SolveOptions | None = None
        self._encoded: Encoded | None = None

    async def look(self, snapshot: ClusterSnapshot) -> None:
        """Encode a revision that has arrived; raise nothing."""
        asked = self._asked
        if asked is None or not self._is_home(snapshot):
            return
        now = asked.now or snapshot.observed_at
        work = self._runtime.compute(encode, snapshot, asked, now, self._columns.memory)
        (outcome,) = await asyncio.gather(work, return_exceptions=True)
        if isinstance(outcome, BaseException):  # whoever asks about this snapshot is told the same
            logger.warning("snapshot could not be encoded ahead", extra={"error": str(outcome)})
        elif self._asked == asked:
            self._encoded = outcome

    def encoded(self, snapshot: ClusterSnapshot, options: SolveOptions) -> Encoded | None:
        """Return the snapshot as it is encoded for these options; None if it is not yet."""
        if not self._is_home(snapshot):
            return None
        if self._asked != (asked := _unrefined(options)):
            self._asked, self._encoded = asked, None
        there = self._encoded
        if there is None or there.given is not snapshot:
            return None
        return replace(there, options=options)

    def _is_home(self, snapshot: ClusterSnapshot) -> bool:
        return snapshot.id.cluster_id == self._runtime.settings.cluster_id


def _unrefined(options: SolveOptions) -> SolveOptions:
    """Return the options without those that only the refine stage reads."""
    return replace(options, refine_budget=timedelta(0), refine_iterations=None, seed=0)
