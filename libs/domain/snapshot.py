"""A cluster at one revision: immutable, keyed, and how one revision becomes another.

Laws:
- `apply(delta(a, b), a) == b` for all snapshots of one cluster and epoch; `full(a)` is the delta
  from the empty one.
- Every collection is a read-only mapping in the order of its keys, so that equal contents are equal
  bytes on the wire.
- `inconsistencies` is empty for every snapshot that is published.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from libs.domain.capacity import Catalogue, ObservedAllocatable
from libs.domain.device import DeviceClass, DevicePool
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.nodepool import NodePool
from libs.domain.pod import PodShape
from libs.domain.pod_change import changes, merged
from libs.domain.pod_table import PodBlock, PodTable
from libs.domain.sorted_map import SortedMap
from libs.domain.volume import VolumeKind
from libs.domain.workload import (
    CapacityBuffer,
    DaemonSet,
    Gang,
    Namespace,
    NodeOverlay,
    PodDisruptionBudget,
    SetAside,
)

_EMPTY: SortedMap[Any, Any] = SortedMap.of({})
_NO_PODS = PodTable()


def _nothing() -> Mapping[Any, Any]:
    """Return the empty collection; a dictionary is refused as a default value."""
    return _EMPTY


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Epoch:
    """A pusher's life: more lease transitions win; the boot id tells processes apart."""

    lease_transitions: int = 0
    boot_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotId:
    """One revision of one cluster; revisions are ordered only within an epoch."""

    cluster_id: str
    epoch: Epoch
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSnapshot:
    """Everything that a decision may read."""

    id: SnapshotId
    observed_at: datetime
    shapes: Mapping[int, PodShape] = field(default_factory=_nothing)
    pods: PodTable = _NO_PODS
    nodes: Mapping[str, Node] = field(default_factory=_nothing)
    nodeclaims: Mapping[str, NodeClaim] = field(default_factory=_nothing)
    nodepools: Mapping[str, NodePool] = field(default_factory=_nothing)
    catalogues: Mapping[str, Catalogue] = field(default_factory=_nothing)
    daemonsets: Mapping[str, DaemonSet] = field(default_factory=_nothing)
    pod_disruption_budgets: Mapping[str, PodDisruptionBudget] = field(default_factory=_nothing)
    namespaces: Mapping[str, Namespace] = field(default_factory=_nothing)
    buffers: Mapping[str, CapacityBuffer] = field(default_factory=_nothing)
    gangs: Mapping[str, Gang] = field(default_factory=_nothing)
    overlays: Mapping[str, NodeOverlay] = field(default_factory=_nothing)
    observed_allocatable: Mapping[str, ObservedAllocatable] = field(default_factory=_nothing)
    device_pools: Mapping[str, DevicePool] = field(default_factory=_nothing)
    device_classes: Mapping[str, DeviceClass] = field(default_factory=_nothing)
    volume_kinds: Mapping[str, VolumeKind] = field(default_factory=_nothing)
    set_aside: Mapping[str, SetAside] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotUpdate:
    """Upserts and removals by the names of `ClusterSnapshot`'s fields; pods apart."""

    id: SnapshotId
    base_revision: int | None
    """Revision that it changes; None: the empty snapshot, so the update is full."""
    observed_at: datetime
    pods: PodTable = _NO_PODS
    removed_pods: tuple[str, ...] = ()
    upserts: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    removals: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


class PushResult(StrEnum):
    """What whoever was sent an update answers."""

    HELD = "Held"
    """The revision, or a newer one of the same pusher, is held."""
    NEEDS_FULL = "NeedsFull"
    """The revision that the update changes is not held."""
    SUPERSEDED = "Superseded"
    """A pusher with more lease transitions was seen; this one must stop."""


KEYS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "shapes": lambda item: item.id,
        "nodes": lambda item: item.name,
        "nodeclaims": lambda item: item.name,
        "nodepools": lambda item: item.name,
        "catalogues": lambda item: item.key,
        "daemonsets": lambda item: item.key,
        "pod_disruption_budgets": lambda item: item.key,
        "namespaces": lambda item: item.name,
        "buffers": lambda item: item.key,
        "gangs": lambda item: item.key,
        "overlays": lambda item: item.name,
        "observed_allocatable": lambda item: item.key,
        "device_pools": lambda item: item.key,
        "device_classes": lambda item: item.name,
        "volume_kinds": lambda item: item.key,
        "set_aside": lambda item: item.key,
    }
)
"""The keyed collections, and what each is keyed by."""


def keyed(collection: str, items: Iterable[Any]) -> Mapping[Any, Any]:
    """Return the read-only mapping, in the order of its keys, that a snapshot holds."""
    key = KEYS[collection]
    return SortedMap.of({key(item): item for item in items})


def in_order(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Return the snapshot with its collections in the order of their keys; itself if they are."""
    sorted_anew: dict[str, Any] = {}
    for name in KEYS:
        held = getattr(snapshot, name)
        if not isinstance(held, SortedMap) and sorted(held) != list(held):
            sorted_anew[name] = SortedMap.of(held)
    return replace(snapshot, **sorted_anew) if sorted_anew else snapshot


def full(snapshot: ClusterSnapshot) -> SnapshotUpdate:
    """Return the update that makes `snapshot` out of nothing."""
    return SnapshotUpdate(
        id=snapshot.id,
        base_revision=None,
        observed_at=snapshot.observed_at,
        pods=snapshot.pods,
        upserts={name: tuple(getattr(snapshot, name).values()) for name in KEYS},
        removals=dict.fromkeys(KEYS, ()),
    )


def delta(base: ClusterSnapshot, target: ClusterSnapshot) -> SnapshotUpdate:
    """Return the update that makes `target` out of `base`."""
    pods, removed_pods = changes(base.pods, target.pods)
    upserts, removals = {}, {}
    for name in KEYS:
        old, new = getattr(base, name), getattr(target, name)
        upserts[name] = () if old is new else _put(old, new)
        removals[name] = () if old is new else tuple(sorted(old.keys() - new.keys()))
    return SnapshotUpdate(
        id=target.id,
        base_revision=base.id.revision,
        observed_at=target.observed_at,
        pods=pods,
        removed_pods=removed_pods,
        upserts=upserts,
        removals=removals,
    )


def _put(old: Mapping[Any, Any], new: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Return the items of `new` that `old` does not have, in order."""
    before = map(old.get, new)
    pairs = zip(before, new.values(), strict=True)
    # Most are the very same, and need not be compared.
    return tuple(item for known, item in pairs if known is not item and known != item)


def apply(update: SnapshotUpdate, base: ClusterSnapshot | None) -> ClusterSnapshot:
    """Return what `update` makes of `base`, which a full update does not look at.

    Raises:
        ValueError: the update is a delta and `base` is not the revision that it changes.
    """
    if update.base_revision is None:
        base = None
    elif base is None or not _follows(update, base):
        raise ValueError("update does not follow this snapshot")
    collections = {name: _merge(name, update, base) for name in KEYS}
    return ClusterSnapshot(
        id=update.id,
        observed_at=update.observed_at,
        pods=merged(base.pods if base is not None else _NO_PODS, update.pods, update.removed_pods),
        **collections,
    )


def _follows(update: SnapshotUpdate, base: ClusterSnapshot) -> bool:
    return (
        update.id.cluster_id == base.id.cluster_id
        and update.id.epoch == base.id.epoch
        and update.base_revision == base.id.revision
    )


def _merge(name: str, update: SnapshotUpdate, base: ClusterSnapshot | None) -> Mapping[Any, Any]:
    upserts = update.upserts.get(name, ())
    removals = update.removals.get(name, ())
    old = getattr(base, name) if base is not None else _EMPTY
    if not upserts and not removals:
        return old
    if not old:
        return keyed(name, upserts)
    return SortedMap.of(old).after(removals, keyed(name, upserts))


def inconsistencies(
    snapshot: ClusterSnapshot, base: ClusterSnapshot | None = None
) -> tuple[str, ...]:
    """Return, in words, every reference that leads nowhere; a published snapshot has none.

    Args:
        snapshot: the cluster.
        base: an earlier revision that has none: then only what is not shared with it is looked at.
    """
    problems = [*_astray(snapshot, base, "shapes"), *_astray(snapshot, base, "nodes")]
    if not _shares(snapshot, base, "daemonsets", "shapes"):
        problems += [
            f'daemonset "{key}" has unknown shape {item.shape}'
            for key, item in snapshot.daemonsets.items()
            if item.shape not in snapshot.shapes
        ]
    if not _shares(snapshot, base, "nodes", "nodeclaims"):
        problems += [
            f'node "{node.name}" belongs to unknown nodeclaim "{node.nodeclaim}"'
            for node in snapshot.nodes.values()
            if node.nodeclaim and node.nodeclaim not in snapshot.nodeclaims
        ]
    return tuple(problems)


def _shares(snapshot: ClusterSnapshot, base: ClusterSnapshot | None, *collections: str) -> bool:
    return base is not None and all(
        getattr(snapshot, name) is getattr(base, name) for name in collections
    )


def _astray(
    snapshot: ClusterSnapshot, base: ClusterSnapshot | None, collection: str
) -> Iterable[str]:
    """Yield which pods refer to a shape, or are bound to a node, that is not there."""
    there = getattr(snapshot, collection)
    blocks: Iterable[PodBlock] = snapshot.pods.blocks
    if base is not None and getattr(base, collection).keys() <= there.keys():
        checked = set(map(id, base.pods.blocks))
        blocks = (block for block in blocks if id(block) not in checked)
    referring = [(block, getattr(block, collection)) for block in blocks]
    unknown = set().union(*(column for _, column in referring)).difference(("",), there)
    for block, column in referring if unknown else ():
        for row, one in enumerate(column):
            if one in unknown:
                where = f"has unknown shape {one}"
                if collection == "nodes":
                    where = f'is bound to unknown node "{one}"'
                yield f'pod "{block.namespaces[row]}/{block.names[row]}" {where}'
