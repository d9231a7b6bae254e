"""Which pods wait, in which order, and what runs where.

Apart because from here on the solver sees groups, the waiting pods of one shape, and of pods on
nodes only their numbers.

Source: `docs/sources.md` B (reschedulable, do-not-disrupt), B1.4, D4.1. Difference on purpose: of
pods of one size those come first, before older ones, that have fewest domains to choose from of a
key over which they look at others.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import compress
from typing import TypeVar

import numpy as np

from libs.collections.identity_memo import IdentityMemo
from libs.domain import labels as label_keys
from libs.domain.eviction import PodBudgets, is_disruptable
from libs.domain.pod import PodRow, PodShape, Target
from libs.domain.requirements import Requirements
from libs.domain.resources import CPU, MEMORY
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.workload import virtual_pods
from services.solver.core.pod_columns import PodColumns
from services.solver.core.sums import positions
from services.solver.core.vectors import Bools, Ints

_ANY = 2**31
"""More domains than there are."""

_NOWHERE = -1

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Waiting pods of one shape, in the order in which they get places."""

    shape: PodShape
    uids: tuple[str, ...]
    gangs: tuple[str, ...]
    targets: tuple[Target | None, ...]
    """Where an earlier plan put each of them."""
    virtual: bool
    """Whether they are a buffer's: they come last and are given up to real pods."""
    existing_only: bool
    """Whether they only ask if there is room: no node is bought for them."""
    late: int = 0
    """Groups of a higher rank get what those of lower ones leave; the queue's is 0."""

    def of(self, pods: Sequence[int]) -> "Group":
        """Return the group with these of its pods only, in this order."""
        return replace(
            self,
            uids=tuple(map(self.uids.__getitem__, pods)),
            gangs=tuple(map(self.gangs.__getitem__, pods)),
            targets=tuple(map(self.targets.__getitem__, pods)),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoundPods:
    """The pods that are on nodes, in columns of equal length (n,)."""

    shapes: tuple[PodShape, ...]
    nodes: tuple[str, ...]
    shape: Ints
    """Index into `shapes`."""
    node: Ints
    """Index into `nodes`."""
    count: Ints
    terminating: Bools
    notable: tuple[int, ...] | None = None
    """Indexes of the shapes that take more of a node than room, as far as known: see `notable`."""

    def of_shapes(self, wanted: Callable[[PodShape], bool]) -> Iterator[tuple[PodShape, int, int]]:
        """Yield (shape, index of the node, count) of the notable shapes that are wanted."""
        asked = range(len(self.shapes)) if self.notable is None else self.notable
        of_them = [number for number in asked if wanted(self.shapes[number])]
        if not of_them:
            return
        interesting = np.zeros(len(self.shapes), np.bool_)
        interesting[of_them] = True
        rows = np.flatnonzero(interesting[self.shape])
        found: Counter[tuple[int, int]] = Counter()
        places = zip(self.shape[rows].tolist(), self.node[rows].tolist(), strict=True)
        for place, count in zip(places, self.count[rows].tolist(), strict=True):
            found[place] += count
        for (shape, node), count in sorted(found.items()):
            yield self.shapes[shape], node, count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workload:
    """All pods that matter, grouped."""

    groups: tuple[Group, ...]
    """In the order of the queue, virtual ones last."""
    bound: BoundPods
    daemons: Bools
    """(n_daemonsets, n_nodes), in the order of the snapshot: whether the daemon's pod is there."""
    gang_members: Mapping[str, int]
    """How many pods run already of each gang that waits."""


def notable(shape: PodShape) -> bool:
    """Tell whether such a pod takes more of its node than room: ports, disks, volumes."""
    return bool(
        shape.host_ports
        or shape.exclusive_disks
        or shape.shared_volumes
        or shape.volume_attach_counts
    )


def workload(
    snapshot: ClusterSnapshot,
    now: datetime,
    pods: PodColumns,
    notable_of: IdentityMemo[PodShape, bool],
) -> Workload:
    """Return the pods to place and the pods that stay, without those that take no room.

    Args:
        snapshot: the cluster.
        now: the instant of the decision.
        pods: the columns of its pods.
        notable_of: tells, and remembers, which shapes are notable.
    """
    node = pods.places(pods.node, tuple(snapshot.nodes), _NOWHERE)
    moving, rows = _moving(snapshot, now, node)
    stays = node != _NOWHERE
    stays[moving] = False
    groups = _groups(_waiting(snapshot, pods, rows), snapshot.shapes)
    bound = _bound(snapshot, pods, node, stays)
    told = notable_of.of_all(bound.shapes)
    return Workload(
        groups=groups,
        bound=replace(bound, notable=tuple(compress(range(len(told)), told))),
        daemons=_daemons(snapshot, pods, node, stays),
        gang_members=_gang_members(groups, pods, stays),
    )


def _moving(snapshot: ClusterSnapshot, now: datetime, node: Ints) -> tuple[Ints, Sequence[PodRow]]:
    """Return which of the pods on nodes need another place, (n_moving,), and their rows."""
    leaving = [one.leaving for one in snapshot.nodes.values()]
    if True not in leaving:
        return np.zeros(0, np.int64), ()
    names = frozenset(compress(snapshot.nodes, leaving))
    now_ms = int(now.timestamp() * 1000)
    budgets = PodBudgets(snapshot)
    rows = [row for row in snapshot.pods.bound_to(names) if not row.terminal]
    moves = np.array([_moves(row, budgets, now_ms) for row in rows], np.bool_)
    there = np.flatnonzero(np.array([*leaving, False], np.bool_)[node])
    return there[moves], list(compress(rows, moves))


def _moves(pod: PodRow, budgets: PodBudgets, now_ms: int) -> bool:
    """Tell whether a pod on a leaving node will really go and need another place."""
    return pod.reschedulable and is_disruptable(pod, now_ms) and not budgets.forbid_for_ever(pod)


def _bound(snapshot: ClusterSnapshot, pods: PodColumns, node: Ints, stays: Bools) -> BoundPods:
    # Most often all of them stay, and copies of all columns would take most of the time.
    rows: Bools | slice = slice(None) if stays.all() else stays
    shape = positions(tuple(snapshot.shapes), pods.shape[rows])
    counts = np.bincount(shape, minlength=len(snapshot.shapes))
    if not counts.all():
        used = np.flatnonzero(counts)
        renumbered = np.zeros(len(counts), np.int64)
        renumbered[used] = np.arange(len(used))
        shape = renumbered[shape]
    return BoundPods(
        shapes=tuple(compress(snapshot.shapes.values(), counts.tolist())),
        nodes=tuple(snapshot.nodes),
        shape=shape,
        node=node[rows],
        count=np.ones(len(shape), np.int64),
        terminating=pods.terminating[rows] != 0,
    )


def _daemons(snapshot: ClusterSnapshot, pods: PodColumns, node: Ints, stays: Bools) -> Bools:
    found = np.zeros((len(snapshot.daemonsets) + 1, len(snapshot.nodes)), np.bool_)
    uids = tuple(one.uid for one in snapshot.daemonsets.values())
    rows = np.flatnonzero((pods.daemonset != 0) & stays)
    owner = pods.places(pods.daemonset[rows], uids, _NOWHERE)
    # What belongs to no DaemonSet that is there goes to the last row.
    found[owner, node[rows]] = True
    return found[:-1]


def _gang_members(groups: Iterable[Group], pods: PodColumns, stays: Bools) -> Mapping[str, int]:
    wanted = {gang for group in groups for gang in group.gangs if gang}
    if not wanted:
        return {}
    counted = stays & (pods.terminating == 0)
    return Counter(gang for at, gang in pods.gangs() if gang in wanted and counted[at])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Waiting:
    """Pods that want a place, in columns of equal length (n,), in order of uid."""

    uids: Sequence[str]
    gangs: Sequence[str]
    targets: Sequence[Target | None]
    shape: Ints
    """Ids."""
    created_ms: Ints
    virtual: Bools
    existing_only: Bools


def _waiting(snapshot: ClusterSnapshot, pods: PodColumns, moving: Sequence[PodRow]) -> _Waiting:
    """Return the pods to place: those that wait, virtual ones, and those that lose their place."""
    loose = pods.loose("uids")
    shape, created_ms, provisionable = pods.waiting
    virtual = _are_virtual(snapshot, loose)
    rows = np.flatnonzero((provisionable != 0) | virtual)
    mine = np.array([(row.shape, row.created_ms) for row in moving], np.int64).reshape(-1, 2)
    uids = [*map(loose.__getitem__, rows.tolist()), *(row.uid for row in moving)]
    order = sorted(range(len(uids)), key=uids.__getitem__)
    gangs = [*_picked(pods.loose("gangs"), rows), *(row.gang for row in moving)]
    targets = [*_picked(pods.loose("targets"), rows), *(row.target for row in moving)]
    asking = frozenset(key for key, gang in snapshot.gangs.items() if gang.existing_only)
    return _Waiting(
        uids=[uids[at] for at in order],
        gangs=[gangs[at] for at in order],
        targets=[targets[at] for at in order],
        shape=np.concatenate([shape[rows], mine[:, 0]])[order],
        created_ms=np.concatenate([created_ms[rows], mine[:, 1]])[order],
        virtual=np.concatenate([virtual[rows], np.zeros(len(mine), np.bool_)])[order],
        existing_only=np.array([gangs[at] in asking for at in order], np.bool_),
    )


def _are_virtual(snapshot: ClusterSnapshot, uids: Sequence[str]) -> Bools:
    """Return (n,): which of the pods are a buffer's."""
    by_buffer = virtual_pods(snapshot.buffers.values(), uids)
    virtual = frozenset().union(*by_buffer.values())
    return np.array([uid in virtual for uid in uids] if virtual else [False] * len(uids), np.bool_)


def _picked(column: Sequence[T], rows: Ints) -> Iterator[T]:
    return map(column.__getitem__, rows.tolist())


def _groups(waiting: _Waiting, shapes: Mapping[int, PodShape]) -> tuple[Group, ...]:
    keys = (waiting.shape, waiting.existing_only, waiting.virtual)
    rows = np.lexsort((waiting.created_ms, *keys))
    changes = [np.diff(key[rows].astype(np.int64)) != 0 for key in keys]
    ends = np.flatnonzero(np.logical_or.reduce([*changes])) + 1
    ordered = []
    for part in np.split(rows, ends) if len(rows) else ():
        first = int(part[0])
        group = Group(
            shape=shapes[int(waiting.shape[first])],
            uids=tuple(_picked(waiting.uids, part)),
            gangs=tuple(_picked(waiting.gangs, part)),
            targets=tuple(_picked(waiting.targets, part)),
            virtual=bool(waiting.virtual[first]),
            existing_only=bool(waiting.existing_only[first]),
        )
        oldest = int(waiting.created_ms[first]), waiting.uids[first]
        ordered.append(((group.virtual, *_rank(group.shape), *oldest), group))
    ordered.sort(key=lambda item: item[0])
    return tuple(group for _, group in ordered)


def _rank(shape: PodShape) -> tuple[int, int, int]:
    """Return by what groups are ordered: large pods first, of those the ones with least choice."""
    return -shape.requests.get(CPU), -shape.requests.get(MEMORY), choice(shape)


def choice(shape: PodShape) -> int:
    """Return how many domains a pod names for itself, of the keys over which it looks at others.

    Of pods of one size it comes first that names fewest, or one with more of a choice takes the
    only zone that it can use: a disk, say, ties one replica of a set whose replicas keep out of
    each other's zones.
    """
    spread = (one.topology_key for one in shape.topology_spread if one.required)
    others = (one.topology_key for one in (*shape.affinity, *shape.anti_affinity))
    keys = {label_keys.canonical_key(key) for key in (*spread, *others)}
    terms = tuple(term.requirements for term in shape.required_node_terms)
    asked = [one for one in ((shape.node_selector,), terms, *shape.volumes) if one]
    return min((_named(key, one) for key in keys for one in asked), default=_ANY)


def _named(key: str, alternatives: Iterable[Requirements]) -> int:
    values: set[str] = set()
    for one in alternatives:
        if any(own.key.startswith(label_keys.MIGRATED) and not own.absent for own in one):
            # The same volume as CSI drivers have it, which does not concern new nodes.
            continue
        own = one.get(key)
        if own is None:
            return _ANY
        if own.complement:
            return _ANY - 1
        values |= own.values
    return len(values)
