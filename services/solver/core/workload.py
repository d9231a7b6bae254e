"""Which pods wait, in which order, and what runs where.

Apart because this is the one pass over all pods; from here on the solver sees groups: the waiting
pods of one shape.

Source: `docs/sources.md` B (reschedulable, do-not-disrupt), B1.4, D4.1. Difference on purpose: of
pods of one size those come first, before older ones, that have fewest domains to choose from of a
key over which they look at others.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.eviction import PodBudgets, is_disruptable
from libs.domain.pod import PodRow, PodShape, Target
from libs.domain.requirements import Requirements
from libs.domain.resources import CPU, MEMORY
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.workload import virtual_pods
from services.solver.core.vectors import Bools, Ints

_ANY = 2**31
"""More domains than there are."""

_GroupKey = tuple[bool, bool, int]
"""Virtual, existing only, id of the shape."""


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
    """Groups of a higher rank get what those of lower ones leave."""

    def of(self, pods: Sequence[int]) -> "Group":
        """Return the group with these of its pods only, in this order."""
        return replace(
            self,
            uids=tuple(map(self.uids.__getitem__, pods)),
            gangs=tuple(map(self.gangs.__getitem__, pods)),
            targets=tuple(map(self.targets.__getitem__, pods)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundPods:
    """How many pods of which shape a node has, in columns of equal length (n,)."""

    shapes: tuple[PodShape, ...]
    nodes: tuple[str, ...]
    shape: Ints
    """Index into `shapes`."""
    node: Ints
    """Index into `nodes`."""
    count: Ints
    terminating: Bools

    def of_shapes(self, wanted: Callable[[PodShape], bool]) -> Iterator[tuple[PodShape, str, int]]:
        """Yield (shape, node, count) of the shapes that are wanted."""
        interesting = np.array([wanted(shape) for shape in self.shapes], np.bool_)
        for row in np.flatnonzero(interesting[self.shape]).tolist():
            yield self.shapes[self.shape[row]], self.nodes[self.node[row]], int(self.count[row])


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """All pods that matter, grouped."""

    groups: tuple[Group, ...]
    """In the order of the queue, virtual ones last."""
    bound: BoundPods
    daemons: frozenset[tuple[str, str]]
    """(node, uid of the owner) of the daemon pods that are there."""
    gang_members: Mapping[str, int]
    """How many pods of each gang run already."""


def workload(snapshot: ClusterSnapshot, now: datetime) -> Workload:
    """Return the pods to place and the pods that stay, without those that take no room."""
    leaving = frozenset(node.name for node in snapshot.nodes.values() if node.leaving)
    virtual = _virtual_pods(snapshot)
    now_ms = int(now.timestamp() * 1000)
    budgets = PodBudgets(snapshot)
    waiting: dict[_GroupKey, list[PodRow]] = defaultdict(list)
    bound: Counter[tuple[int, str, bool]] = Counter()
    daemons: set[tuple[str, str]] = set()
    members: Counter[str] = Counter()
    for pod in snapshot.pods.rows():
        if pod.terminal:
            continue
        if pod.node in leaving and _moves(pod, budgets, now_ms):
            waiting[False, _asks_only(pod, snapshot), pod.shape].append(pod)
        elif pod.node:
            place = (pod.shape, pod.node, pod.terminating)
            bound[place] += 1
            members[pod.gang] += not pod.terminating
            if pod.owner is not None and pod.owner.is_daemonset:
                daemons.add((pod.node, pod.owner.uid))
        elif pod.provisionable or pod.uid in virtual:
            key = (pod.uid in virtual, _asks_only(pod, snapshot), pod.shape)
            waiting[key].append(pod)
    return Workload(
        groups=_groups(waiting, snapshot.shapes),
        bound=_bound(bound, snapshot),
        daemons=frozenset(daemons),
        gang_members=members,
    )


def _asks_only(pod: PodRow, snapshot: ClusterSnapshot) -> bool:
    gang = snapshot.gangs.get(pod.gang) if pod.gang else None
    return gang is not None and gang.existing_only


def _bound(counted: Mapping[tuple[int, str, bool], int], snapshot: ClusterSnapshot) -> BoundPods:
    shapes = sorted({shape for shape, _, _ in counted})
    nodes = sorted({node for _, node, _ in counted})
    shape_index = {number: index for index, number in enumerate(shapes)}
    node_index = {name: index for index, name in enumerate(nodes)}
    return BoundPods(
        shapes=tuple(snapshot.shapes[number] for number in shapes),
        nodes=tuple(nodes),
        shape=np.array([shape_index[shape] for shape, _, _ in counted], np.int64),
        node=np.array([node_index[node] for _, node, _ in counted], np.int64),
        count=np.array(list(counted.values()), np.int64),
        terminating=np.array([terminating for _, _, terminating in counted], np.bool_),
    )


def _virtual_pods(snapshot: ClusterSnapshot) -> frozenset[str]:
    by_buffer = virtual_pods(snapshot.buffers.values(), snapshot.pods.uids)
    return frozenset().union(*by_buffer.values())


def _moves(pod: PodRow, budgets: PodBudgets, now_ms: int) -> bool:
    """Tell whether a pod on a leaving node will really go and need another place."""
    return pod.reschedulable and is_disruptable(pod, now_ms) and not budgets.forbid_for_ever(pod)


def _groups(
    waiting: Mapping[_GroupKey, list[PodRow]], shapes: Mapping[int, PodShape]
) -> tuple[Group, ...]:
    ordered = []
    for (virtual, existing_only, shape), pods in waiting.items():
        pods.sort(key=lambda pod: (pod.created_ms, pod.uid))
        group = Group(
            shape=shapes[shape],
            uids=tuple(pod.uid for pod in pods),
            gangs=tuple(pod.gang for pod in pods),
            targets=tuple(pod.target for pod in pods),
            virtual=virtual,
            existing_only=existing_only,
        )
        requests = group.shape.requests
        size = -requests.get(CPU), -requests.get(MEMORY)
        first = pods[0].created_ms, pods[0].uid
        ordered.append(((virtual, *size, choice(group.shape), *first), group))
    ordered.sort(key=lambda item: item[0])
    return tuple(group for _, group in ordered)


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
        own = one.get(key)
        if own is None:
            return _ANY
        if own.complement:
            return _ANY - 1
        values |= own.values
    return len(values)
