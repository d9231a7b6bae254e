"""What changes from a cluster to the same cluster after edits and a plan.

Apart from the edits because files with more objects change a cluster, too, without any edit.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from libs.domain.plan import Plan
from libs.domain.pod import PodRow, Target
from libs.domain.pod_change import changes
from libs.domain.reason import TargetKind
from libs.domain.scenario import AddedPod, PodMove, ScenarioDiff
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.simulating.draft import Draft
from services.solver.core.simulating.watching import Cancelled, watched


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What edits did to nodes and pods; all sorted."""

    removed_nodes: tuple[str, ...]
    added_nodes: tuple[str, ...]
    removed_pods: tuple[str, ...]
    added_pods: tuple[AddedPod, ...]


def change_of(draft: Draft) -> Change:
    """Return what was changed on a draft; the cost is that of what was touched."""
    before = draft.base
    nodes = [(name, node, name in before.nodes) for name, node in draft.touched("nodes")]
    gone = {name for name, node, was in nodes if was and node is None}
    flying = [
        name
        for name, claim in draft.touched("nodeclaims")
        if claim is None and name in before.nodeclaims
    ]
    if flying:
        with_node = {before.nodes[name].nodeclaim for name in gone}
        gone.update(name for name in flying if name not in with_node)
    pods = [(uid, row, draft.before(uid)) for uid, row in draft.touched_pods()]
    return Change(
        removed_nodes=tuple(sorted(gone)),
        added_nodes=tuple(name for name, node, was in nodes if not was and node is not None),
        removed_pods=tuple(uid for uid, row, was in pods if was is not None and row is None),
        added_pods=tuple(_added(row) for _, row, was in pods if was is None and row is not None),
    )


def change_between(before: ClusterSnapshot, after: ClusterSnapshot) -> Change:
    """Return what tells two snapshots apart, however the second came about."""
    rows, removed_pods = changes(before.pods, after.pods)
    gone = set(_missing(before.nodes, after.nodes))
    claims = _missing(before.nodeclaims, after.nodeclaims)
    with_node = {node.nodeclaim for node in before.nodes.values()} if claims else set()
    return Change(
        removed_nodes=tuple(sorted(gone.union(name for name in claims if name not in with_node))),
        added_nodes=tuple(_missing(after.nodes, before.nodes)),
        removed_pods=removed_pods,
        added_pods=tuple(_added(row) for row in rows.rows() if before.pods.find(row.uid) is None),
    )


def difference(
    before: ClusterSnapshot, change: Change, plan: Plan, cancelled: Cancelled
) -> ScenarioDiff:
    """Return what changes by edits and plan, costs apart.

    Args:
        before: the cluster as it is.
        change: what edits did to it.
        plan: what the solver says about the cluster after them.
        cancelled: asked now and then; True ends the work.

    Raises:
        Unavailable: `cancelled` said so.
    """
    unplaced = (uid for group in plan.unplaced for uid in group.pod_uids)
    return ScenarioDiff(
        removed_nodes=change.removed_nodes,
        added_nodes=change.added_nodes,
        added_pods=change.added_pods,
        removed_pods=change.removed_pods,
        moves=_moves(before, plan, cancelled),
        stranded_pods=tuple(sorted(before.pods.nodes_of(watched(unplaced, cancelled)))),
    )


def _added(row: PodRow) -> AddedPod:
    return AddedPod(uid=row.uid, namespace=row.namespace, name=row.name)


def _missing(there: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return [] if there is other else [name for name in there if name not in other]


def _moves(before: ClusterSnapshot, plan: Plan, cancelled: Cancelled) -> tuple[PodMove, ...]:
    found: dict[tuple[str, str, str, int], list[str]] = defaultdict(list)
    targets: dict[tuple[str, str, str, int], Target | int] = {}
    placed = list(watched(_placed(plan), cancelled))
    nodes = before.pods.nodes_of(uid for uid, _ in watched(placed, cancelled))
    for uid, to in watched(placed, cancelled):
        if node := nodes.get(uid):
            key = (node, "", "", to) if isinstance(to, int) else (node, to.kind, to.name, -1)
            found[key].append(uid)
            targets[key] = to
    return tuple(
        PodMove(pod_uids=tuple(sorted(found[key])), from_node=key[0], to=targets[key])
        for key in watched(sorted(found), cancelled)
    )


def _placed(plan: Plan) -> Iterator[tuple[str, Target | int]]:
    for nomination in plan.nominations:
        target = Target(TargetKind(nomination.target_kind), nomination.target)
        yield from ((uid, target) for uid in nomination.pod_uids)
    for claim in plan.nodeclaims:
        yield from ((uid, claim.index) for uid in claim.pod_uids)
