"""Shows which clusters' snapshots are held, as health names `snapshot/<cluster_id>`."""

from typing import NoReturn

from libs.runtime.health import Health
from libs.snapshots.holder import SnapshotHolder


async def show_held(holder: SnapshotHolder, health: Health) -> NoReturn:
    """Keep the health names up to date; a root task."""
    version, shown = 0, frozenset[str]()
    while True:
        current = await holder.changes.newer_than(version)
        version, held = current.version, frozenset(current.value)
        for cluster_id in sorted(held ^ shown):
            await health.set(f"snapshot/{cluster_id}", cluster_id in held)
        shown = held
