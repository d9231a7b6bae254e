"""Remains: a cluster after some commands, in the columns that the packer reads.

Apart because a cluster is read once, and each command changes a few rows of it: what is tried, and
what comes of it, costs no new reading.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType

import numpy as np

from libs.domain.pod import PodRow
from libs.domain.pod_change import merged
from libs.domain.pod_table import PodTable
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from services.solver.core.consolidating.bound_pods import Moved, with_pods, without_nodes
from services.solver.core.offers.market import Memory
from services.solver.core.packing.bins import Bins
from services.solver.core.packing.encode import Encoded, encode
from services.solver.core.pods.grouping import Group
from services.solver.core.reading.bound_pods import BoundPods
from services.solver.core.standing.node_bins import positions
from services.solver.core.standing.standing import Standing, StandingClass
from services.solver.core.vectors import Bools, Ints, covering

_SAMPLE = "\0sample-"
"""Begins uids of pods that stand for their shape; no object has such a uid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """A cluster after some commands."""

    encoded: Encoded
    """Nobody waits in it."""
    closed: frozenset[str]
    """Bins that take no pods that move."""


def read(
    snapshot: ClusterSnapshot,
    shapes: Set[int],
    options: SolveOptions,
    now: datetime,
    memory: Memory,
) -> Encoded:
    """Return the cluster in columns, ready for pods of these shapes to move.

    What a pod asks for is worked out for those that wait, so that one of each shape is made to.
    """
    samples = [
        PodRow(
            uid=f"{_SAMPLE}{number}",
            namespace=snapshot.shapes[number].namespace,
            name=f"sample-{number}",
            shape=number,
            provisionable=True,
        )
        for number in sorted(shapes)
    ]
    pods = merged(snapshot.pods, PodTable.from_rows(samples), ())
    encoded = encode(replace(snapshot, pods=pods), options, now, memory)
    groups = (_without_samples(group) for group in encoded.work.groups)
    work = replace(encoded.work, groups=tuple(one for one in groups if one.uids))
    return replace(encoded, work=work, snapshot=replace(encoded.snapshot, pods=snapshot.pods))


def trial_of(
    remains: Remains, gone: Set[str], groups: tuple[Group, ...], also_closed: Set[str]
) -> Encoded:
    """Return the cluster as a command would leave it, with the pods that would wait then.

    The nodes that go are still charged to their pools: replacements start before they are gone.

    Args:
        remains: the cluster before.
        gone: names of the nodes that the command is about.
        groups: the pods that would wait.
        also_closed: more bins that take nobody.
    """
    encoded = remains.encoded
    standing = _tightest_first(encoded.standing, gone)
    barred = remains.closed | also_closed
    full = np.array([name in barred for name in standing.names], np.bool_)
    free = np.where(full[:, None], -1, standing.free)
    bound = without_nodes(encoded.work.bound, gone)
    return replace(
        encoded,
        standing=replace(standing, free=free),
        work=replace(encoded.work, groups=groups, bound=bound),
    )


def after(remains: Remains, tried: Encoded, bins: Bins, moved: Iterable[Moved]) -> Remains:
    """Return what remains once pods have moved to standing bins.

    Args:
        remains: the cluster before.
        tried: the same, as it was packed.
        bins: how packing ended.
        moved: who went where.
    """
    before = remains.encoded
    position = {name: number for number, name in enumerate(before.standing.names)}
    here = [position[name] for name in tried.standing.names]
    standing = _rows(before.standing, np.array(here, np.int64))
    coming = tuple(moved)
    return replace(
        remains,
        encoded=replace(
            before,
            standing=replace(
                standing,
                free=standing.free - (tried.standing.free - bins.free),
                attachable=MappingProxyType(dict(bins.holdings.attachable)),
                taken=tuple(bins.holdings.taken(number) for number in range(len(standing))),
                shared_volumes=_shared(standing, tried.work.bound, coming),
            ),
            work=replace(before.work, bound=with_pods(tried.work.bound, coming)),
            snapshot=_without_nodes(before.snapshot, frozenset(standing.names)),
        ),
    )


def with_bin(remains: Remains, added: Standing) -> Remains:
    """Return the remains with one bin more, which takes nobody."""
    before = remains.encoded.standing
    (new,) = added.classes
    classes = before.classes
    alike = [number for number, one in enumerate(classes) if _are_alike(one, new)]
    if not alike:
        classes = (*classes, new)
    standing = Standing(
        names=(*before.names, *added.names),
        kinds=(*before.kinds, *added.kinds),
        free=np.concatenate([before.free, added.free]),
        class_of=np.append(before.class_of, (*alike, len(before.classes))[0]),
        classes=classes,
        taken=(*before.taken, *added.taken),
        hostnames=np.append(before.hostnames, added.hostnames),
        attachable={
            driver: np.append(room, added.attachable.get(driver, np.zeros(1, np.int64)))
            for driver, room in before.attachable.items()
        },
        codes=np.append(before.codes, added.codes),
        shared_volumes=before.shared_volumes,
        daemons=(*before.daemons, *added.daemons),
    )
    return Remains(
        encoded=replace(remains.encoded, standing=standing),
        closed=remains.closed.union(added.names),
    )


def has_room(remains: Remains, load: Ints, also_closed: Set[str]) -> bool:
    """Tell whether so much, (n_resources,), is free in sum on the bins that take pods."""
    standing = remains.encoded.standing
    free = np.maximum(standing.free[_open(remains, also_closed)], 0).sum(axis=0)
    return bool(covering(free, load))


def _are_alike(one: StandingClass, other: StandingClass) -> bool:
    return (one.labels, one.taints, one.cordoned) == (
        other.labels,
        other.taints,
        other.cordoned,
    ) and one.possible is None


def spare(remains: Remains) -> tuple[tuple[str, ...], Ints]:
    """Return the bins that take pods that move, and what is free on each, (n, n_resources)."""
    standing = remains.encoded.standing
    open_ = _open(remains, frozenset())
    names = tuple(name for name, is_open in zip(standing.names, open_, strict=True) if is_open)
    return names, np.maximum(standing.free[open_], 0)


def _open(remains: Remains, also_closed: Set[str]) -> Bools:
    """Return (n_bins,): those with room to count on; few pods tolerate that a node is cordoned."""
    standing = remains.encoded.standing
    barred = remains.closed | also_closed
    cordoned = np.array([one.cordoned for one in standing.classes], np.bool_)
    named = np.array([name not in barred for name in standing.names], np.bool_)
    return named & ~cordoned[standing.class_of] if len(named) else named


def _without_samples(group: Group) -> Group:
    kept = [at for at, uid in enumerate(group.uids) if not uid.startswith(_SAMPLE)]
    return group if len(kept) == len(group.uids) else group.of(kept)


def _tightest_first(standing: Standing, gone: Set[str]) -> Standing:
    """Return the bins that stay, fullest first, so that large room stays whole."""
    stays = np.array([name not in gone for name in standing.names], np.bool_)
    kept = np.flatnonzero(stays)
    return _rows(standing, kept[_share(standing, stays).argsort(kind="stable")])


def _share(standing: Standing, stays: Bools) -> Ints:
    """Return (n_kept,): by the scarcest resource, what is free in millionths of the most on any."""
    free = np.maximum(standing.free[stays], 0)
    most = np.maximum(free.max(axis=0, initial=0), 1)
    found: Ints = (free * 1.0 / most * 10**6).astype(np.int64).sum(axis=1)
    return found


def _rows(standing: Standing, rows: Ints) -> Standing:
    """Return these bins only, (n,), in this order."""
    if len(rows) == len(standing) and (rows[:-1] < rows[1:]).all():
        return standing
    numbers = rows.tolist()
    place = {old: new for new, old in enumerate(numbers)}
    return replace(
        standing,
        names=tuple(standing.names[one] for one in numbers),
        kinds=tuple(standing.kinds[one] for one in numbers),
        free=standing.free[rows],
        class_of=standing.class_of[rows],
        taken=tuple(standing.taken[one] for one in numbers),
        hostnames=standing.hostnames[rows],
        attachable={driver: room[rows] for driver, room in standing.attachable.items()},
        codes=standing.codes[rows],
        shared_volumes={
            claim: tuple(sorted(place[old] for old in positions if old in place))
            for claim, positions in standing.shared_volumes.items()
        },
        daemons=tuple(standing.daemons[one] for one in numbers),
    )


def _shared(
    standing: Standing, bound: BoundPods, moved: Iterable[Moved]
) -> Mapping[str, tuple[int, ...]]:
    found = {claim: set(bins) for claim, bins in standing.shared_volumes.items()}
    position = positions(standing.codes, bound)
    for shape, node, _ in moved:
        for one in shape.shared_volumes:
            (code,) = bound.codes.of((node,))
            if position[code] >= 0:
                found.setdefault(one.claim, set()).add(int(position[code]))
    return {claim: tuple(sorted(bins)) for claim, bins in found.items()}


def _without_nodes(snapshot: ClusterSnapshot, left: Set[str]) -> ClusterSnapshot:
    """Return the snapshot with those nodes only that are left, for what pools may still buy."""
    gone = {node.name: node for node in snapshot.nodes.values() if node.name not in left}
    gone = {name: node for name, node in gone.items() if not node.leaving}
    if not gone:
        return snapshot
    claims = {node.nodeclaim for node in gone.values()}
    return replace(
        snapshot,
        nodes=MappingProxyType({k: v for k, v in snapshot.nodes.items() if k not in gone}),
        nodeclaims=MappingProxyType(
            {k: v for k, v in snapshot.nodeclaims.items() if k not in claims}
        ),
    )
