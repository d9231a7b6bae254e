"""Makes each revision of the home cluster ready as it arrives, so that whoever asks need not.

Apart from the decision, which is the same without it. What is pushed is mostly asked about next,
with the options of the question before: so those are taken. Until somebody has asked, nothing is
made ready. How packing begins is made once: who asks the same again begins anew.
"""

import asyncio
import logging
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from libs.runtime.app import Runtime
from services.solver.columns import ColumnsCache
from services.solver.core.offers.market import Memory
from services.solver.core.packed import ready
from services.solver.core.packing.encode import Encoded, encode
from services.solver.core.packing.packing import Packer

logger = logging.getLogger(__name__)


class Ready(NamedTuple):
    """A revision as a decision begins with it."""

    encoded: Encoded
    packer: Packer | None
    """With nothing packed yet, for one decision; None where nobody waits, or one has had it."""


class Ahead:
    """Holds the newest revision, made ready; lives on one event loop."""

    def __init__(self, columns: ColumnsCache, runtime: Runtime) -> None:
        self._columns = columns
        self._runtime = runtime
        self._asked: SolveOptions | None = None
        self._ready: Ready | None = None

    async def look(self, snapshot: ClusterSnapshot) -> None:
        """Make a revision ready that has arrived; raise nothing."""
        asked = self._asked
        if asked is None or not self._is_home(snapshot):
            return
        now = asked.now or snapshot.observed_at
        work = self._runtime.compute(_made_ready, snapshot, asked, now, self._columns.memory)
        (outcome,) = await asyncio.gather(work, return_exceptions=True)
        if isinstance(outcome, BaseException):  # whoever asks about this snapshot is told the same
            logger.warning("snapshot could not be made ready", extra={"error": str(outcome)})
        elif self._asked == asked:
            self._ready = outcome

    def take(self, snapshot: ClusterSnapshot, options: SolveOptions) -> Ready | None:
        """Return the snapshot as it was made ready for these options; None if it was not."""
        if not self._is_home(snapshot):
            return None
        if self._asked != (asked := _unrefined(options)):
            self._asked, self._ready = asked, None
        there = self._ready
        if there is None or there.encoded.given is not snapshot:
            return None
        self._ready = there._replace(packer=None)
        return there._replace(encoded=replace(there.encoded, options=options))

    def _is_home(self, snapshot: ClusterSnapshot) -> bool:
        return snapshot.id.cluster_id == self._runtime.settings.cluster_id


def _made_ready(
    snapshot: ClusterSnapshot, options: SolveOptions, now: datetime, memory: Memory
) -> Ready:
    encoded = encode(snapshot, options, now, memory)
    return Ready(encoded, ready(encoded) if encoded.work.groups else None)


def _unrefined(options: SolveOptions) -> SolveOptions:
    """Return the options without those that only the refine stage reads."""
    return replace(options, refine_budget=timedelta(0), refine_iterations=None, seed=0)
