"""A pod: whether it waits, where it would go and why there, or why it has no place.

Apart from nodes and pools because only here changes are tried.
"""

from dataclasses import dataclass, replace

from libs.domain.explanation import Change, ChangeKind, Explanation, PodExplanation, PodSituation
from libs.domain.plan import Nomination, PlannedNodeClaim
from libs.domain.pod import PodRow
from libs.domain.reason import Rejection, TargetKind, Unplaceable
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.workload import SetAside
from services.solver.core.explaining.candidate import Found, Question
from services.solver.core.explaining.changes import changes
from services.solver.core.explaining.edits import row_of
from services.solver.core.explaining.ending import Ending, ending
from services.solver.core.explaining.options import options_of, options_of_claim
from services.solver.core.explaining.trial import (
    Decided,
    Desk,
    Landing,
    Trials,
    landing_of,
    most_trials,
)
from services.solver.core.explaining.unused_nodes import unused_nodes
from services.solver.core.packing.gangs import short_message
from services.solver.core.reasons.nearest_miss import OUT_FOR_ALL
from services.solver.core.reasons.reasons import headline
from services.solver.core.reasons.standing_reasons import bin_rejection, nearest_bins


@dataclass(frozen=True, slots=True, kw_only=True)
class PodAnswer:
    """An explanation of a pod, and for each change that it proposes the snapshot with it."""

    explanation: Explanation
    found: tuple[Found, ...] = ()


def explain_pod(desk: Desk, snapshot: ClusterSnapshot, row: PodRow, base: Explanation) -> PodAnswer:
    """Return what there is to say about a pod.

    Args:
        desk: decides.
        snapshot: the cluster.
        row: the pod.
        base: an explanation of nothing yet.
    """
    encoded = desk.encode(snapshot)
    group = next((one for one in encoded.work.groups if row.uid in one.uids), None)
    if group is None:
        situation, message = _at_rest(snapshot, row)
        return PodAnswer(explanation=replace(base, pod=_pod(row, situation, message)))
    decision = desk.decide(snapshot)
    landing = landing_of(decision.plan, row.uid)
    if group.virtual and landing is None:
        message = "it stands for spare room, for which nothing is bought; see the buffer's status"
        return PodAnswer(explanation=replace(base, pod=_pod(row, PodSituation.HELD, message)))
    state = ending(decision, row, desk.cancelled, left=landing is None)
    if landing is None:
        return _without_place(desk, decision, state, row, base)
    placed = _placed(decision, state, row, landing, base)
    if placed.pod is not None and landing.planned is not None:
        message = placed.pod.message + unused_nodes(desk, decision, row, landing.planned)
        placed = replace(placed, pod=replace(placed.pod, message=message))
    return PodAnswer(explanation=placed)


def explain_set_aside(item: SetAside, base: Explanation) -> Explanation:
    """Return what there is to say about a pod that was left out of the snapshot."""
    what = f"{item.field}: {item.message}" if item.field else item.message
    pod = PodExplanation(
        namespace=item.namespace,
        name=item.name,
        situation=PodSituation.SET_ASIDE,
        message=f"it was left out, since it is broken or refers to what is not there: {what}",
    )
    return replace(base, pod=pod, unplaceable=Unplaceable(message=what))


def _pod(row: PodRow, situation: PodSituation, message: str) -> PodExplanation:
    return PodExplanation(
        namespace=row.namespace,
        name=row.name,
        uid=row.uid,
        situation=situation,
        message=message,
        node=row.node,
    )


def _at_rest(snapshot: ClusterSnapshot, row: PodRow) -> tuple[PodSituation, str]:
    """Return what a pod is that needs no place, and why."""
    where = f'node "{row.node}"' if row.node else "no node"
    if row.terminal:
        return PodSituation.ENDED, f"it has ended ({row.phase}) and takes no room"
    if row.terminating:
        return PodSituation.DELETING, f"it is being deleted and is on {where}"
    if row.owner is not None and row.owner.is_daemonset:
        kind = f'DaemonSet "{row.owner.name}"'
        return PodSituation.DAEMON, f"it is of {kind}, which brings it to each node by itself"
    if row.owner is not None and row.owner.is_node:
        return PodSituation.STATIC, f"it mirrors a static manifest of its node and is on {where}"
    node = snapshot.nodes.get(row.node)
    if node is not None and node.leaving:
        message = f"it is on {where}, which is leaving, but nothing may move it from there"
        return PodSituation.ON_NODE, message
    if row.node:
        return PodSituation.ON_NODE, f"it is on {where} and stays there"
    return PodSituation.HELD, (
        "it does not wait for a node: it has scheduling gates, or no scheduler has found it "
        "unschedulable yet"
    )


# It has a place.


def _placed(
    decision: Decided, state: Ending, row: PodRow, landing: Landing, base: Explanation
) -> Explanation:
    claim = landing.planned
    pod = _pod(row, PodSituation.PLACED, _where(decision, state, row, landing))
    if claim is None:
        nomination = Nomination(target_kind=landing.kind, target=landing.name, pod_uids=(row.uid,))
        return replace(base, pod=pod, nomination=nomination)
    columns = decision.encoded.market.by_pool[claim.nodepool].columns
    pool = decision.snapshot.nodepools[claim.nodepool]
    refusals = state.leftover.refusals
    return replace(
        base,
        pod=replace(
            pod,
            planned=claim,
            nearest=nearest_bins(state.leftover.case, state.leftover.bins, refusals),
        ),
        options_by_price=options_of(columns, options_of_claim(columns, claim)),
        node_class=pool.template.node_class,
    )


def _where(decision: Decided, state: Ending, row: PodRow, landing: Landing) -> str:
    return f"{_goes(state, row, landing)}{_given_up(decision.snapshot, row, landing)}"


def _given_up(snapshot: ClusterSnapshot, row: PodRow, landing: Landing) -> str:
    """Say that a node was nominated for a pod that goes elsewhere, as that one stays."""
    node = snapshot.nodes.get(row.nominated)
    if node is None or node.leaving or landing.name == row.nominated:
        return ""
    return f'; node "{row.nominated}", nominated for it, cannot take it, whoever leaves it'


def _goes(state: Ending, row: PodRow, landing: Landing) -> str:
    if landing.planned is None:
        kind = "node" if landing.kind is TargetKind.NODE else "claim in flight"
        expected = row.target is not None and row.target.name == landing.name
        why = "where the last plan put it" if expected else "which has room for it"
        if row.nominated == landing.name:
            why = "which kube-scheduler has nominated for it"
        return f'it goes to {kind} "{landing.name}", {why}'
    return (
        f'it goes to a new node of nodepool "{landing.name}": {_bought(landing.planned)}'
        f"{_passed_over(state.leftover.reason, landing.name)}"
    )


def _bought(claim: PlannedNodeClaim) -> str:
    option = claim.cheapest
    others = len(claim.pod_uids) - 1
    shared = "" if not others else f", with {others} other pod{'s' if others > 1 else ''}"
    kinds = len(claim.instance_types)
    choice = f"the cheapest of {kinds} instance types that fit" if kinds > 1 else "all that fits"
    return f"{option.instance_type} in {option.zone}, {option.capacity_type}, {choice}{shared}"


def _passed_over(reason: Unplaceable, pool: str) -> str:
    """Say why it is not a pool that is tried before, and no node that exists."""
    said = []
    for one in reason.rejections:
        if one.target == pool:
            break
        said.append(f'nodepool "{one.target}", tried first, refuses by {one.rule}')
    nodes = sum(count for _, count in reason.existing)
    if nodes:
        alone = "the node that exists does not take it"
        said.append(alone if nodes == 1 else f"none of the {nodes} nodes that exist takes it")
    return "".join(f"; {one}" for one in said)


# It has none.


def _without_place(
    desk: Desk, decision: Decided, state: Ending, row: PodRow, base: Explanation
) -> PodAnswer:
    question = Question(
        decision=decision,
        row=row,
        shape=state.leftover.case.ask.shape,
        uids=state.uids,
        short=state.short,
        leftover=state.leftover,
        bins=state.leftover.bins,
    )
    trials = Trials(desk=desk, uid=row.uid, most=most_trials(decision.snapshot))
    found = changes(question, trials)
    helping = tuple(one.change for one in found)
    reason = next(one.reason for one in decision.plan.unplaced if row.uid in one.pod_uids)
    pod = replace(
        _pod(row, PodSituation.UNPLACED, _message(decision, state, reason, helping)),
        nearest=nearest_bins(state.leftover.case, state.leftover.bins, state.leftover.refusals),
        changes=helping,
        trials=trials.done,
        cut_short=trials.cut_short,
    )
    # A plan says of a gang that is short only how many of its pods would have had a place.
    found_out = state.leftover.reason
    unplaceable = replace(
        reason,
        rejections=tuple(_with_suggestion(one, helping) for one in found_out.rejections),
        existing=found_out.existing,
    )
    return PodAnswer(explanation=replace(base, pod=pod, unplaceable=unplaceable), found=found)


def _message(
    decision: Decided, state: Ending, reason: Unplaceable, helping: tuple[Change, ...]
) -> str:
    """Return why it has no place, beginning with what the smallest change leads to.

    Of a gang it is said for whom there is none.
    """
    if state.of_gang:
        return _of_gang(decision, state, reason, helping)
    found = state.leftover.reason
    if not found.rejections:
        return reason.message
    nearest = _refusal(state, helping[0]) if helping else None
    if nearest is None or nearest.rule in OUT_FOR_ALL:
        return found.message
    return headline(found.rejections, found.untold_pools, nearest)


def _of_gang(
    decision: Decided, state: Ending, reason: Unplaceable, helping: tuple[Change, ...]
) -> str:
    """Return why a gang has no place, and for whom there is none.

    A change may have proved that more have places than planning found.
    """
    row = row_of(decision.snapshot, state.first) if state.uids else None
    if row is None:
        return reason.message
    most = decision.packed.most.get(row.gang)
    proved = [int(one.new) for one in helping if one.kind is ChangeKind.GANG]
    message = reason.message
    if most is not None and any(number > most.size for number in proved):
        least = decision.snapshot.gangs[row.gang].min_members
        told = short_message(decision.encoded.work, row.gang, least, max(proved))
        message = message.replace(decision.packed.short[row.gang], told)
    return f"{message}; there is none for {row.key}"


def _refusal(state: Ending, change: Change) -> Rejection | None:
    """Return why the node or the pool to which a change leads refuses without it."""
    if change.landing_kind is TargetKind.NODEPOOL:
        rejections = state.leftover.reason.rejections
        return next((one for one in rejections if one.target == change.landing), None)
    bins, refusals = state.leftover.bins, state.leftover.refusals
    there = zip(bins.standing.kinds, bins.standing.names, strict=True)
    landing = change.landing_kind, change.landing
    position = next((index for index, one in enumerate(there) if one == landing), None)
    rule = None if position is None else refusals[position]
    if position is None or rule is None:
        return None
    return bin_rejection(state.leftover.case, bins, position, rule)


def _with_suggestion(one: Rejection, helping: tuple[Change, ...]) -> Rejection:
    """Return the rejection with the smallest change that brings the pod to this pool."""
    mine = [
        change.message
        for change in helping
        if change.landing_kind is one.target_kind and change.landing == one.target
    ]
    return replace(one, suggestion=mine[0] if mine else "")
