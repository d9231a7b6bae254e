"""Builds the columns of the home cluster before anybody asks about it.

The first decision about a new catalogue takes three times as long as the next; a catalogue mostly
arrives while no pod waits. What was built then, of the catalogue and of the nodes and pods that are
there, is kept from the collector of cycles.
"""

import asyncio
import logging
from dataclasses import replace
from typing import NoReturn

from libs.domain.feature_gates import FeatureGate
from libs.domain.labels import WELL_KNOWN
from libs.domain.pod_table import PodTable
from libs.domain.snapshot import ClusterSnapshot, SnapshotId
from libs.domain.solution import SolveOptions
from libs.runtime.app import Runtime
from libs.snapshots.holder import SnapshotHolder
from services.solver.columns import ColumnsCache
from services.solver.core.solve import solve

_EVERYTHING = SolveOptions(feature_gates={FeatureGate.NODE_OVERLAY: True})
"""Nobody has asked yet, so nobody knows whether overlays count; without them is in this, too."""

WARM = "warm"
"""Health name: the columns of what the home cluster had first are there."""

logger = logging.getLogger(__name__)


async def keep_warm(holder: SnapshotHolder, columns: ColumnsCache, runtime: Runtime) -> NoReturn:
    """Take each new catalogue or overlay of the home cluster in; a root task."""
    home = runtime.settings.cluster_id
    seen: SnapshotId | None = None
    known: tuple[object, ...] = ()
    while True:
        snapshot = await holder.newer_than(home, seen)
        seen = snapshot.id
        found = (*snapshot.catalogues.values(), *snapshot.overlays.values())
        if not _all_among(found, known):
            known = found
            await _warm(snapshot, columns, runtime)
            runtime.spare()
            await runtime.health.set(WARM, True)


async def _warm(snapshot: ClusterSnapshot, columns: ColumnsCache, runtime: Runtime) -> None:
    """Decide where nothing waits: that looks at everything that depends on the catalogues."""
    work = runtime.compute(_look, snapshot, columns)
    (outcome,) = await asyncio.gather(work, return_exceptions=True)
    if isinstance(outcome, BaseException):  # whoever asks about this snapshot is told the same
        logger.warning("columns could not be built ahead", extra={"error": str(outcome)})


def _look(snapshot: ClusterSnapshot, columns: ColumnsCache) -> None:
    solve(replace(snapshot, pods=PodTable()), _EVERYTHING, memory=columns.memory)
    columns.memory.reader().look_over(snapshot)
    # Nobody asks yet, and most pods that do ask by some of these.
    for catalogue in snapshot.catalogues.values():
        for key in sorted(WELL_KNOWN):
            columns.of(catalogue).key(key)


def _all_among(found: tuple[object, ...], known: tuple[object, ...]) -> bool:
    """Tell whether all are known, by identity as in `ColumnsCache`."""
    return all(any(one is old for old in known) for one in found)
