"""Which pods wait, in which order, and what runs where.

Apart because from here on the solver sees groups, the waiting pods of one shape, and of pods on
nodes only their numbers.

Source: `docs/sources.md` B (reschedulable, do-not-disrupt), B1.4.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import compress

import numpy as np

from libs.collections.codes import Codes
from libs.domain.eviction import PodBudgets, is_disruptable
from libs.domain.pod import PodRow, Target
from libs.domain.pod_table import PodBlock
from libs.domain.reason import TargetKind
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.workload import SetAside, virtual_pods
from services.solver.core.pods.grouping import Group, Waiting, grouped, picked
from services.solver.core.reading.block_columns import read
from services.solver.core.reading.bound_pods import (
    NO_PODS,
    BoundPods,
    PodCounts,
    daemonsets_of,
    less,
    nodes_of,
)
from services.solver.core.reading.node_columns import NodeColumns
from services.solver.core.reading.pod_columns import PodColumns
from services.solver.core.vectors import Bools, Ints


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
    gang_held: Mapping[str, tuple[str, ...]]
    """Names of the pods of such a gang that are there and are not to be placed, as behind gates."""
    gang_aside: Mapping[str, tuple[SetAside, ...]]
    """Pods of such a gang that wait and are not in the snapshot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supposed:
    """What is supposed to be otherwise than a snapshot has it."""

    left: tuple[PodRow, ...] = ()
    """Pods on nodes that have left them; no daemon is expected on any node then."""
    given_up: frozenset[str] = frozenset()
    """Uids of waiting pods whose nominated node does not count."""


AS_IT_IS = Supposed()


def workload(
    snapshot: ClusterSnapshot,
    now: datetime,
    pods: PodColumns,
    nodes: NodeColumns,
    supposed: Supposed = AS_IT_IS,
) -> Workload:
    """Return the pods to place and the pods that stay, without those that take no room.

    Args:
        snapshot: the cluster.
        now: the instant of the decision.
        pods: the columns of its pods.
        nodes: the columns of its nodes.
        supposed: what is otherwise.
    """
    codes = nodes.codes("name")
    leaving = _leaving(snapshot, nodes)
    moving = _moving(snapshot, now, leaving)
    # Nobody has left twice.
    gone = {row.uid: row for row in (*moving, *_astray(snapshot, pods.bound, codes))}
    gone.update((row.uid, row) for row in supposed.left)
    bound = pods.bound.after(_without([*gone.values()], pods.bound.codes), snapshot.shapes)
    groups = grouped(
        _waiting(snapshot, pods, moving, leaving, supposed.given_up),
        snapshot.shapes,
        snapshot.volume_kinds,
    )
    return Workload(
        groups=groups,
        bound=bound,
        daemons=_daemons(snapshot, bound, codes) | bool(supposed.left),
        gang_members=_gang_members(groups, pods, gone.values()),
        gang_held=_gang_held(groups, snapshot, pods),
        gang_aside=_gang_aside(groups, snapshot),
    )


def _leaving(snapshot: ClusterSnapshot, nodes: NodeColumns) -> frozenset[str]:
    """Return the names of the nodes that are about to go."""
    leaving = nodes.has("leaving")
    if not leaving.any():
        return frozenset()
    return frozenset(compress(snapshot.nodes, leaving.tolist()))


def _moving(snapshot: ClusterSnapshot, now: datetime, leaving: frozenset[str]) -> Sequence[PodRow]:
    """Return the pods on nodes that need another place."""
    if not leaving:
        return ()
    now_ms = int(now.timestamp() * 1000)
    budgets = PodBudgets(snapshot)
    rows = (row for row in snapshot.pods.bound_to(leaving) if not row.terminal)
    return [row for row in rows if _moves(row, budgets, now_ms)]


def _moves(pod: PodRow, budgets: PodBudgets, now_ms: int) -> bool:
    """Tell whether a pod on a leaving node will really go and need another place."""
    return pod.reschedulable and is_disruptable(pod, now_ms) and not budgets.forbid_for_ever(pod)


def _astray(snapshot: ClusterSnapshot, bound: BoundPods, codes: Ints) -> Iterable[PodRow]:
    """Yield the pods on nodes that are not there: no snapshot that is published has any."""
    if bound.on(codes).sum() != len(bound):
        for row in snapshot.pods.rows():
            if row.node and row.node not in snapshot.nodes and not row.terminal:
                yield row


def _without(gone: Sequence[PodRow], codes: Codes) -> PodCounts:
    """Return what pods on nodes that go make less."""
    if not gone:
        return NO_PODS
    (there,) = read((PodBlock.from_rows(gone),), codes)
    return less(there.bound)


def _daemons(snapshot: ClusterSnapshot, bound: BoundPods, codes: Ints) -> Bools:
    found = np.zeros((len(snapshot.daemonsets), len(codes)), np.bool_)
    there = bound.daemons()
    nodes, owners = nodes_of(there), daemonsets_of(there)
    for row, one in zip(found, snapshot.daemonsets.values(), strict=True):
        (owner,) = bound.codes.of((one.uid,))
        has = np.zeros(len(bound.codes), np.bool_)
        has[nodes[owners == owner]] = True
        row[:] = has[codes]
    return found


def _gang_members(
    groups: Iterable[Group], pods: PodColumns, gone: Iterable[PodRow]
) -> Mapping[str, int]:
    wanted = {gang for group in groups for gang in group.gangs if gang}
    if not wanted:
        return {}
    found: Counter[str] = Counter()
    for gang in wanted & pods.gangs.keys():
        found[gang] = pods.gangs[gang]
    found.subtract(row.gang for row in gone if row.gang in wanted and not row.deleting_ms)
    return +found


def _gang_held(
    groups: Iterable[Group], snapshot: ClusterSnapshot, pods: PodColumns
) -> Mapping[str, tuple[str, ...]]:
    wanted = {gang for group in groups for gang in group.gangs if gang}
    if not wanted:
        return {}
    uids, gangs, provisionable = pods.loose.uids, pods.loose.gangs, pods.loose.numbers[2]
    found: dict[str, list[str]] = defaultdict(list)
    for at in np.flatnonzero(provisionable == 0).tolist():
        if gangs[at] in wanted and (row := snapshot.pods.find(uids[at])) and not row.terminal:
            found[gangs[at]].append(row.name)
    return {gang: tuple(sorted(names)) for gang, names in found.items()}


def _gang_aside(
    groups: Iterable[Group], snapshot: ClusterSnapshot
) -> Mapping[str, tuple[SetAside, ...]]:
    wanted = {gang for group in groups for gang in group.gangs if gang}
    found: dict[str, list[SetAside]] = defaultdict(list)
    for one in snapshot.set_aside.values() if wanted else ():
        if one.gang in wanted:
            found[one.gang].append(one)
    return {gang: tuple(sorted(own, key=lambda one: one.name)) for gang, own in found.items()}


def _waiting(
    snapshot: ClusterSnapshot,
    pods: PodColumns,
    moving: Sequence[PodRow],
    leaving: frozenset[str],
    given_up: frozenset[str],
) -> Waiting:
    """Return the pods to place: those that wait, virtual ones, and those that lose their place.

    A node that is nominated for a pod counts as long as it stays, unless that is given up.
    """
    loose = pods.loose
    shape, created_ms, provisionable, priority = loose.numbers
    virtual = _are_virtual(snapshot, loose.uids)
    named: Sequence[str] = loose.nominated
    if any(named):
        there = snapshot.nodes.keys() - leaving
        each = zip(loose.uids, named, strict=True)
        named = [node if node in there and uid not in given_up else "" for uid, node in each]
    held = np.fromiter(map(bool, named), np.bool_, len(named)) & (provisionable == 0) & ~virtual
    rows = np.flatnonzero((provisionable != 0) | virtual | held)
    own = [(row.shape, row.created_ms, row.priority) for row in moving]
    mine = np.array(own, np.int64).reshape(-1, 3)
    uids = [*picked(loose.uids, rows), *(row.uid for row in moving)]
    gangs = [*picked(loose.gangs, rows), *(row.gang for row in moving)]
    targets = [*picked(loose.targets, rows), *(row.target for row in moving)]
    nominated = [*picked(named, rows), *("" for _ in moving)]
    asking = frozenset(key for key, gang in snapshot.gangs.items() if gang.existing_only)
    existing_only = np.zeros(len(uids), np.bool_)
    if asking:
        existing_only[[at for at, gang in enumerate(gangs) if gang in asking]] = True
    found = Waiting(
        uids=uids,
        gangs=gangs,
        targets=targets,
        shape=np.concatenate([shape[rows], mine[:, 0]]),
        created_ms=np.concatenate([created_ms[rows], mine[:, 1]]),
        virtual=np.concatenate([virtual[rows], np.zeros(len(mine), np.bool_)]),
        existing_only=existing_only,
        priority=np.concatenate([priority[rows], mine[:, 2]]),
        nominated=nominated,
        only_held=np.concatenate([held[rows], np.zeros(len(mine), np.bool_)]),
    )
    found = _expected_where_nominated(found) if any(nominated) else found
    return found.by_uid() if moving else found  # those that wait are in order


def _expected_where_nominated(waiting: Waiting) -> Waiting:
    """Return the pods with the nodes that are nominated as where they are expected first.

    Nothing is bought for them: kube-scheduler is about to make room.
    """
    there = [bool(node) for node in waiting.nominated]
    each = zip(waiting.nominated, waiting.targets, strict=True)
    return replace(
        waiting,
        targets=[Target(TargetKind.NODE, node) if node else target for node, target in each],
        existing_only=waiting.existing_only | np.array(there, np.bool_),
    )


def _are_virtual(snapshot: ClusterSnapshot, uids: Sequence[str]) -> Bools:
    """Return (n,): which of the pods are a buffer's."""
    by_buffer = virtual_pods(snapshot.buffers.values(), uids)
    virtual = frozenset().union(*by_buffer.values())
    if not virtual:
        return np.zeros(len(uids), np.bool_)
    return np.array([uid in virtual for uid in uids], np.bool_)
