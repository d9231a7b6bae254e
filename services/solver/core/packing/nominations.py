"""Nominations that nothing makes come true: kube-scheduler gives them up, so nobody waits for them.

Apart from packing because it is asked before anything is packed, of each nominated pod alone.
kube-scheduler tries the nominated node first, but only first: where it refuses, all others are
asked, and where none takes the pod, it is nominated for a node on which it may preempt somebody, or
for none. So a nominated node counts as long as it takes the pod as things are, or would once those
have left whom the pod may preempt, and those that are ending.

Source: kube-scheduler's scheduling cycle and its default preemption (1.36).
"""

from collections import defaultdict
from collections.abc import Callable, Sequence

from libs.domain.pod import PodRow
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.packing.problem import Problem
from services.solver.core.packing.targets import Targets
from services.solver.core.pods.grouping import Group
from services.solver.core.pods.workload import Workload

Suppose = Callable[[tuple[Group, ...], tuple[PodRow, ...]], Problem]
"""Gives the problem of placing some groups where some running pods have left."""


def hopeless(snapshot: ClusterSnapshot, work: Workload, suppose: Suppose) -> frozenset[str]:
    """Return the uids of the waiting pods whose nominated node does not count.

    Args:
        snapshot: the cluster.
        work: its pods.
        suppose: gives a problem with nothing packed.
    """
    groups = [one for one in work.groups if one.nominated and not one.only_held]
    if not groups:
        return frozenset()
    found: list[Group] = []
    by_layer: dict[int, list[Group]] = defaultdict(list)
    for group in _refused(suppose(tuple(groups), ()), groups):
        by_layer[group.layer].append(group)
    # Those of a layer are of one priority.
    for _, alike in sorted(by_layer.items()):
        leaving = _leaving(snapshot, alike)
        found += _refused(suppose(tuple(alike), leaving), alike) if leaving else alike
    return frozenset(uid for group in found for uid in group.uids)


def _leaving(snapshot: ClusterSnapshot, groups: Sequence[Group]) -> tuple[PodRow, ...]:
    """Return who may leave the nodes that are nominated for pods of one priority."""
    own = snapshot.pods.find(groups[0].uids[0])
    nodes = frozenset(group.nominated for group in groups)
    return tuple(
        row
        for row in (snapshot.pods.bound_to(nodes) if own is not None else ())
        if not row.terminal and (row.terminating or (own and row.priority < own.priority))
    )


def _refused(made: Problem, groups: Sequence[Group]) -> list[Group]:
    """Return the groups of which their nodes take no pod, were it the only one that waits."""
    targets = Targets(groups, made.algebra.ground.standing)
    found = []
    for index, group in enumerate(groups):
        position = targets.position(group.nominated)
        if position is None or not _takes(made, index, position):
            found.append(group)
    return found


def _takes(made: Problem, index: int, position: int) -> bool:
    ask, topology, packing = made.asks[index][-1], made.topology, made.algebra.packing
    grants = made.algebra.grants
    if topology.is_entangled(ask.shape) or grants.ignores(ask.shape):
        # Nobody counts what it needs, so nobody knows.
        return True
    number = topology.ask(ask)
    where = packing.verdict(number)
    if where is None:
        return False
    bins, counts = packing.room(number, where)
    return bool((counts[bins == position] > 0).any()) and grants.has_on_standing(
        ask.shape, position
    )
