"""Snapshots and updates."""

from typing import Any

from hypothesis import strategies as st

from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId, SnapshotUpdate, full, keyed
from tests.support.strategies.cluster import (
    buffers,
    catalogues,
    daemonsets,
    gangs,
    namespaces,
    nodeclaims,
    nodepools,
    nodes,
    observed,
    overlays,
    pod_disruption_budgets,
    set_aside,
)
from tests.support.strategies.pod import (
    device_classes,
    device_pools,
    pod_tables,
    shapes,
    volume_kinds,
)
from tests.support.strategies.values import amounts, instants, names, sorted_names

epochs = st.builds(Epoch, lease_transitions=amounts, boot_id=names)
snapshot_ids = st.builds(
    SnapshotId, cluster_id=names, epoch=epochs, revision=st.integers(0, 2**64 - 1)
)
COLLECTIONS: dict[str, st.SearchStrategy[Any]] = {
    "shapes": shapes,
    "nodes": nodes,
    "nodeclaims": nodeclaims,
    "nodepools": nodepools,
    "catalogues": catalogues,
    "daemonsets": daemonsets,
    "pod_disruption_budgets": pod_disruption_budgets,
    "namespaces": namespaces,
    "buffers": buffers,
    "gangs": gangs,
    "overlays": overlays,
    "observed_allocatable": observed,
    "device_pools": device_pools,
    "device_classes": device_classes,
    "volume_kinds": volume_kinds,
    "set_aside": set_aside,
}


@st.composite
def snapshots(draw: st.DrawFn, revision: int = 1, collections: int = 4) -> ClusterSnapshot:
    """A snapshot with something in a few of its collections; references may lead nowhere."""
    chosen = draw(st.sets(st.sampled_from(sorted(COLLECTIONS)), max_size=collections))
    held: dict[str, Any] = {
        name: keyed(name, draw(st.lists(COLLECTIONS[name], max_size=2))) for name in sorted(chosen)
    }
    return ClusterSnapshot(
        id=SnapshotId(cluster_id="c", epoch=Epoch(boot_id="b"), revision=revision),
        observed_at=draw(instants),
        pods=draw(pod_tables),
        **held,
    )


updates = snapshots().map(full) | st.builds(
    SnapshotUpdate,
    id=snapshot_ids.filter(lambda one: one.revision > 0),
    base_revision=st.just(0),
    observed_at=instants,
    pods=pod_tables,
    removed_pods=sorted_names,
    upserts=st.just(dict.fromkeys(COLLECTIONS, ())),
    removals=st.just(dict.fromkeys(COLLECTIONS, ())),
)
