"""What changes from a cluster to the same cluster after edits and a plan.

Apart from the edits because it compares two snapshots, however the second came about: what they
share is not looked at.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from libs.domain.plan import Plan
from libs.domain.pod import Target
from libs.domain.pod_change import changes
from libs.domain.reason import TargetKind
from libs.domain.scenario import AddedPod, PodMove, ScenarioDiff
from libs.domain.snapshot import ClusterSnapshot


def difference(before: ClusterSnapshot, after: ClusterSnapshot, plan: Plan) -> ScenarioDiff:
    """Return what changes, costs apart.

    Args:
        before: the cluster as it is.
        after: the cluster after edits.
        plan: what the solver says about `after`.
    """
    changed, removed_pods = changes(before.pods, after.pods)
    return ScenarioDiff(
        removed_nodes=tuple(sorted(_removed(before, after))),
        added_nodes=tuple(_missing(after.nodes, before.nodes)),
        added_pods=tuple(
            AddedPod(uid=row.uid, namespace=row.namespace, name=row.name)
            for row in changed.rows()
            if before.pods.find(row.uid) is None
        ),
        removed_pods=removed_pods,
        moves=_moves(before, plan),
        stranded_pods=tuple(
            sorted(
                uid for group in plan.unplaced for uid in group.pod_uids if _node_of(before, uid)
            )
        ),
    )


def _removed(before: ClusterSnapshot, after: ClusterSnapshot) -> Iterator[str]:
    yield from _missing(before.nodes, after.nodes)
    gone = _missing(before.nodeclaims, after.nodeclaims)
    if gone:
        with_node = {node.nodeclaim for node in before.nodes.values()}
        yield from (name for name in gone if name not in with_node)


def _missing(there: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return [] if there is other else [name for name in there if name not in other]


def _moves(before: ClusterSnapshot, plan: Plan) -> tuple[PodMove, ...]:
    found: dict[tuple[str, str, str, int], list[str]] = defaultdict(list)
    targets: dict[tuple[str, str, str, int], Target | int] = {}
    for uid, to in _placed(plan):
        node = _node_of(before, uid)
        if node:
            key = (node, "", "", to) if isinstance(to, int) else (node, to.kind, to.name, -1)
            found[key].append(uid)
            targets[key] = to
    return tuple(
        PodMove(pod_uids=tuple(sorted(found[key])), from_node=key[0], to=targets[key])
        for key in sorted(found)
    )


def _placed(plan: Plan) -> Iterator[tuple[str, Target | int]]:
    for nomination in plan.nominations:
        target = Target(TargetKind(nomination.target_kind), nomination.target)
        yield from ((uid, target) for uid in nomination.pod_uids)
    for claim in plan.nodeclaims:
        yield from ((uid, claim.index) for uid in claim.pod_uids)


def _node_of(before: ClusterSnapshot, uid: str) -> str:
    row = before.pods.find(uid)
    return "" if row is None else row.node
