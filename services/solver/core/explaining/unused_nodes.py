"""Why a spread sends a pod to a new node though nodes that exist would do for kube-scheduler.

Apart because it is the one place where planning sees more than kube-scheduler: for a spread,
domains count in which a node could be bought.

Source: `docs/sources.md` D8.6.
"""

from libs.domain import labels as label_keys
from libs.domain.plan import PlannedNodeClaim
from libs.domain.pod import PodRow
from libs.domain.reason import Rule, TargetKind
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.acceptance import accepting_nodes
from services.solver.core.explaining.edits import with_rows
from services.solver.core.explaining.trial import Decided, Desk
from services.solver.core.explaining.waiting import unpacked
from services.solver.core.reasons.case import a_case
from services.solver.core.reasons.standing_reasons import bin_rejection, standing_rules

_NODES_SHOWN = 3


def unused_nodes(desk: Desk, decision: Decided, row: PodRow, claim: PlannedNodeClaim) -> str:
    """Say which nodes a pod passes over for a domain without nodes; empty if it passes over none.

    Asked is as the plan leaves nodes that exist, this pod apart.

    Args:
        desk: reads the cluster as the plan leaves it.
        decision: what was decided.
        row: a pod that goes to a new node.
        claim: what is bought for it.
    """
    shape = decision.snapshot.shapes[row.shape]
    if not any(one.required for one in shape.topology_spread):
        return ""
    planned = _with_nominated(decision)
    state = unpacked(desk.encode(planned))
    index = next(i for i, group in enumerate(state.problem.groups) if row.uid in group.uids)
    case = a_case(state.problem, index)
    standing = state.bins.standing
    spread = {
        standing.names[position]: position
        for position, rule in enumerate(standing_rules(case, state.bins))
        if rule is Rule.TOPOLOGY_SPREAD and standing.kinds[position] is TargetKind.NODE
    }
    names = [name for name in accepting_nodes(planned, row.uid) if name in spread]
    if not names:
        return ""
    first = bin_rejection(case, state.bins, spread[names[0]], Rule.TOPOLOGY_SPREAD)
    hidden = len(names) - _NODES_SHOWN
    more = f" and {hidden} more" if hidden > 0 else ""
    shown = ", ".join(names[:_NODES_SHOWN])
    return (
        f"; {_emptier(first.key, claim)}; kube-scheduler itself, which counts only nodes that "
        f"exist, would take node {shown}{more}"
    )


def _with_nominated(decision: Decided) -> ClusterSnapshot:
    """Return the cluster with the pods of the plan on the nodes that exist."""
    nodes = {
        uid: one.target
        for one in decision.plan.nominations
        if one.target_kind is TargetKind.NODE
        for uid in one.pod_uids
    }
    rows = (
        row._replace(node=nodes[row.uid], target=None) if row.uid in nodes else row
        for row in decision.snapshot.pods.rows()
    )
    return with_rows(decision.snapshot, rows)


def _emptier(key: str, claim: PlannedNodeClaim) -> str:
    if key == label_keys.HOSTNAME:
        return "a new node counts as a host without pods, which its spread over hosts prefers"
    own = claim.requirements.get(key)
    value = claim.cheapest.zone if key == label_keys.ZONE else own.any_value() if own else None
    domain = f"{key} {value}" if value else f"a domain of {key}"
    return f"{domain} has no node yet, one can be bought there and is the emptiest for its spread"
