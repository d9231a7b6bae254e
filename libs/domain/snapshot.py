"""A cluster at one revision: immutable, keyed, and how one revision becomes another.

Laws:
- `apply(delta(a, b), a) == b` for all snapshots of one cluster and epoch; `full(a)` is the delta
  from the empty one.
- Every collection is a read-only mapping in the order of its keys, so that equal contents are equal
  bytes on the wire.
- `inconsistencies` is empty for every snapshot that is published.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from libs.domain.capacity import Catalogue, ObservedAllocatable
from libs.domain.device import DeviceClass, DevicePool
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.nodepool import NodePool
from libs.domain.pod import PodShape, PodTable
from libs.domain.pod_change import changed_rows, merged
from libs.domain.workload import (
    CapacityBuffer,
    DaemonSet,
    Gang,
    Namespace,
    NodeOverlay,
    PodDisruptionBudget,
    SetAside,
)

_EMPTY: Mapping[Any, Any] = MappingProxyType({})
_NO_PODS = PodTable()


def _nothing() -> Mapping[Any, Any]:
    """Return the empty collection; Python 3.11 refuses a mapping proxy as a default value."""
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
        "set_aside": lambda item: item.key,
    }
)
"""The keyed collections, and what each is keyed by."""


def keyed(collection: str, items: Iterable[Any]) -> Mapping[Any, Any]:
    """Return the read-only mapping, in the order of its keys, that a snapshot holds."""
    key = KEYS[collection]
    by_key = {key(item): item for item in items}
    return MappingProxyType({name: by_key[name] for name in sorted(by_key)})


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
    there = frozenset(target.pods.uids)
    upserts, removals = {}, {}
    for name in KEYS:
        old, new = getattr(base, name), getattr(target, name)
        upserts[name] = tuple(item for key, item in new.items() if old.get(key) != item)
        removals[name] = tuple(key for key in old if key not in new)
    return SnapshotUpdate(
        id=target.id,
        base_revision=base.id.revision,
        observed_at=target.observed_at,
        pods=changed_rows(base.pods, target.pods),
        removed_pods=tuple(uid for uid in base.pods.uids if uid not in there),
        upserts=upserts,
        removals=removals,
    )


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
        pods=_merge_pods(update, base.pods if base is not None else _NO_PODS),
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
    removals = frozenset(update.removals.get(name, ()))
    old = getattr(base, name) if base is not None else {}
    if not upserts and not removals and old:
        return old
    return keyed(name, [*(item for key, item in old.items() if key not in removals), *upserts])


def _merge_pods(update: SnapshotUpdate, base: PodTable) -> PodTable:
    if not len(base):
        return update.pods
    if not len(update.pods) and not update.removed_pods:
        return base
    return merged(base, update.pods, update.removed_pods)


def inconsistencies(snapshot: ClusterSnapshot) -> tuple[str, ...]:
    """Return, in words, every reference that leads nowhere; a published snapshot has none."""
    pods, shapes, nodes = snapshot.pods, snapshot.shapes, snapshot.nodes
    unknown_shapes = set(pods.shapes).difference(shapes)
    problems = [
        f'pod "{pods.namespaces[row]}/{pods.names[row]}" has unknown shape {shape}'
        for row, shape in enumerate(pods.shapes if unknown_shapes else ())
        if shape in unknown_shapes
    ]
    unknown_nodes = set(pods.nodes).difference(nodes, ("",))
    problems += [
        f'pod "{pods.namespaces[row]}/{pods.names[row]}" is bound to unknown node "{node}"'
        for row, node in enumerate(pods.nodes if unknown_nodes else ())
        if node in unknown_nodes
    ]
    problems += [
        f'daemonset "{key}" has unknown shape {item.shape}'
        for key, item in snapshot.daemonsets.items()
        if item.shape not in shapes
    ]
    problems += [
        f'node "{node.name}" belongs to unknown nodeclaim "{node.nodeclaim}"'
        for node in nodes.values()
        if node.nodeclaim and node.nodeclaim not in snapshot.nodeclaims
    ]
    return tuple(problems)
