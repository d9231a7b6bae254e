"""Mirrors `solver/v1/explanation.proto`, and the answer of Explain."""

from typing import Any

from joiner.solver.v1 import explanation_pb2 as pb
from joiner.solver.v1 import solver_pb2

from libs.domain.errors import InvalidRequest
from libs.domain.explanation import (
    Change,
    ChangeKind,
    Explanation,
    FunnelStep,
    NodeExplanation,
    NodePoolExplanation,
    PodExplanation,
    PodOnNode,
    PodSituation,
    Refusal,
)
from libs.domain.reason import TargetKind
from libs.wire.capacity import decode_node_class_ref, encode_node_class_ref
from libs.wire.command import decode_decision, encode_decision
from libs.wire.field import at, each, inverted, optional, require, within
from libs.wire.plan import (
    decode_nomination,
    decode_pool_message,
    encode_nomination,
    encode_pool_message,
)
from libs.wire.planned import (
    decode_launch_option,
    decode_planned_nodeclaim,
    encode_launch_option,
    encode_planned_nodeclaim,
)
from libs.wire.reason import (
    decode_rejection,
    decode_rule,
    decode_unplaceable,
    encode_rejection,
    encode_rule,
    encode_unplaceable,
)
from libs.wire.requirement import decode_requirements, encode_requirements
from libs.wire.resources import decode_difference, decode_resources, encode_resources
from libs.wire.snapshot import decode_snapshot_id, encode_snapshot_id
from libs.wire.solution import decode_solve_options, encode_solve_options
from libs.wire.taint import decode_taint, encode_taint


def decode_explanation(message: solver_pb2.ExplainResponse) -> Explanation:
    """Return the reasons."""
    require(message, "snapshot")
    return Explanation(
        snapshot=at("snapshot", message.snapshot, decode_snapshot_id),
        options=at("options", message.options, decode_solve_options),
        solver_version=message.solver_version,
        unplaceable=optional(message, "unplaceable", decode_unplaceable),
        nomination=optional(message, "nomination", decode_nomination),
        pool_messages=each("pool_messages", message.pool_messages, decode_pool_message),
        decision=optional(message, "decision", decode_decision),
        options_by_price=each("options_by_price", message.options_by_price, decode_launch_option),
        node_class=optional(message, "node_class", decode_node_class_ref),
        pod=optional(message, "pod", decode_pod_explanation),
        node=optional(message, "node", decode_node_explanation),
        nodepool=optional(message, "nodepool", decode_nodepool_explanation),
    )


def encode_explanation(explanation: Explanation) -> solver_pb2.ExplainResponse:
    """Return the message."""
    parts: dict[str, Any] = {
        "unplaceable": (explanation.unplaceable, encode_unplaceable),
        "nomination": (explanation.nomination, encode_nomination),
        "decision": (explanation.decision, encode_decision),
        "node_class": (explanation.node_class, encode_node_class_ref),
        "pod": (explanation.pod, encode_pod_explanation),
        "node": (explanation.node, encode_node_explanation),
        "nodepool": (explanation.nodepool, encode_nodepool_explanation),
    }
    return solver_pb2.ExplainResponse(
        snapshot=encode_snapshot_id(explanation.snapshot),
        options=encode_solve_options(explanation.options),
        solver_version=explanation.solver_version,
        pool_messages=map(encode_pool_message, explanation.pool_messages),
        options_by_price=map(encode_launch_option, explanation.options_by_price),
        **{name: encode(part) for name, (part, encode) in parts.items() if part is not None},
    )


def decode_pod_explanation(message: pb.PodExplanation) -> PodExplanation:
    """Return what is said of the pod."""
    require(message, "namespace", "name")
    return PodExplanation(
        namespace=message.namespace,
        name=message.name,
        uid=message.uid,
        situation=_SITUATIONS.get(message.situation, PodSituation.UNKNOWN),
        message=message.message,
        node=message.node,
        planned=optional(message, "planned", decode_planned_nodeclaim),
        nearest=each("nearest", message.nearest, decode_rejection),
        changes=each("changes", message.changes, _decode_change),
        trials=within("trials", message.trials, 0),
        cut_short=message.cut_short,
    )


def encode_pod_explanation(pod: PodExplanation) -> pb.PodExplanation:
    """Return the message."""
    return pb.PodExplanation(
        namespace=pod.namespace,
        name=pod.name,
        uid=pod.uid,
        situation=_SITUATION_NUMBERS[pod.situation],
        message=pod.message,
        node=pod.node,
        planned=None if pod.planned is None else encode_planned_nodeclaim(pod.planned),
        nearest=map(encode_rejection, pod.nearest),
        changes=map(_encode_change, pod.changes),
        trials=pod.trials,
        cut_short=pod.cut_short,
    )


def decode_node_explanation(message: pb.NodeExplanation) -> NodeExplanation:
    """Return what is said of the node."""
    price = None
    if message.HasField("price_nanos_per_hour"):
        price = within("price_nanos_per_hour", message.price_nanos_per_hour, 0)
    return NodeExplanation(
        name=message.name,
        nodeclaim=message.nodeclaim,
        nodepool=message.nodepool,
        instance_type=message.instance_type,
        zone=message.zone,
        capacity_type=message.capacity_type,
        price_nanos_per_hour=price,
        states=tuple(message.states),
        taints=each("taints", message.taints, decode_taint),
        allocatable=at("allocatable", message.allocatable, decode_resources),
        used=at("used", message.used, decode_resources),
        daemons=at("daemons", message.daemons, decode_resources),
        free=at("free", message.free, decode_difference),
        pods=each("pods", message.pods, _decode_pod_on_node),
        could_take=tuple(sorted(message.could_take)),
        refusals=each("refusals", message.refusals, _decode_refusal),
        options_known=message.options_known,
    )


def encode_node_explanation(node: NodeExplanation) -> pb.NodeExplanation:
    """Return the message."""
    return pb.NodeExplanation(
        name=node.name,
        nodeclaim=node.nodeclaim,
        nodepool=node.nodepool,
        instance_type=node.instance_type,
        zone=node.zone,
        capacity_type=node.capacity_type,
        price_nanos_per_hour=node.price_nanos_per_hour,
        states=node.states,
        taints=map(encode_taint, node.taints),
        allocatable=encode_resources(node.allocatable),
        used=encode_resources(node.used),
        daemons=encode_resources(node.daemons),
        free=encode_resources(node.free),
        pods=map(_encode_pod_on_node, node.pods),
        could_take=sorted(node.could_take),
        refusals=map(_encode_refusal, node.refusals),
        options_known=node.options_known,
    )


def decode_nodepool_explanation(message: pb.NodePoolExplanation) -> NodePoolExplanation:
    """Return what is said of the pool."""
    require(message, "name")
    return NodePoolExplanation(
        name=message.name,
        weight=message.weight,
        position=within("position", message.position, 1),
        pools=within("pools", message.pools, 1),
        usable=message.usable,
        replicas=message.replicas if message.HasField("replicas") else None,
        requirements=at("requirements", message.requirements, decode_requirements),
        taints=each("taints", message.taints, decode_taint),
        funnel=each("funnel", message.funnel, _decode_step),
        nodes=within("nodes", message.nodes, 0),
        limits=at("limits", message.limits, decode_resources),
        used=at("used", message.used, decode_resources),
        left=at("left", message.left, decode_difference),
        least_overhead=at("least_overhead", message.least_overhead, decode_resources),
        most_overhead=at("most_overhead", message.most_overhead, decode_resources),
        could_take=tuple(sorted(message.could_take)),
        refusals=each("refusals", message.refusals, _decode_refusal),
    )


def encode_nodepool_explanation(pool: NodePoolExplanation) -> pb.NodePoolExplanation:
    """Return the message."""
    return pb.NodePoolExplanation(
        name=pool.name,
        weight=pool.weight,
        position=pool.position,
        pools=pool.pools,
        usable=pool.usable,
        replicas=pool.replicas,
        requirements=encode_requirements(pool.requirements),
        taints=map(encode_taint, pool.taints),
        funnel=map(_encode_step, pool.funnel),
        nodes=pool.nodes,
        limits=encode_resources(pool.limits),
        used=encode_resources(pool.used),
        left=encode_resources(pool.left),
        least_overhead=encode_resources(pool.least_overhead),
        most_overhead=encode_resources(pool.most_overhead),
        could_take=sorted(pool.could_take),
        refusals=map(_encode_refusal, pool.refusals),
    )


def _decode_change(message: pb.Change) -> Change:
    landing_kind, landing = _decode_landing(message)
    return Change(
        kind=_CHANGES.get(message.kind, ChangeKind.UNKNOWN),
        nodepool=message.nodepool,
        field=message.field,
        old=message.old,
        new=message.new,
        message=message.message,
        landing_kind=landing_kind,
        landing=landing,
    )


def _decode_landing(message: pb.Change) -> tuple[TargetKind, str]:
    match message.WhichOneof("landing"):
        case "on_new":
            return TargetKind.NODEPOOL, message.on_new
        case "on_node":
            return TargetKind.NODE, message.on_node
        case "on_nodeclaim":
            return TargetKind.NODECLAIM, message.on_nodeclaim
        case _:
            raise InvalidRequest("is required", field="landing")


def _encode_change(change: Change) -> pb.Change:
    message = pb.Change(
        kind=_CHANGE_NUMBERS[change.kind],
        nodepool=change.nodepool,
        field=change.field,
        old=change.old,
        new=change.new,
        message=change.message,
    )
    match change.landing_kind:
        case TargetKind.NODEPOOL:
            message.on_new = change.landing
        case TargetKind.NODE:
            message.on_node = change.landing
        case TargetKind.NODECLAIM:
            message.on_nodeclaim = change.landing
    return message


def _decode_pod_on_node(message: pb.PodOnNode) -> PodOnNode:
    require(message, "uid", "namespace", "name")
    return PodOnNode(
        uid=message.uid,
        namespace=message.namespace,
        name=message.name,
        requests=at("requests", message.requests, decode_resources),
    )


def _encode_pod_on_node(pod: PodOnNode) -> pb.PodOnNode:
    return pb.PodOnNode(
        uid=pod.uid,
        namespace=pod.namespace,
        name=pod.name,
        requests=encode_resources(pod.requests),
    )


def _decode_refusal(message: pb.Refusal) -> Refusal:
    return Refusal(
        rule=decode_rule(message.rule),
        message=message.message,
        pod_uids=tuple(sorted(message.pod_uids)),
    )


def _encode_refusal(refusal: Refusal) -> pb.Refusal:
    return pb.Refusal(
        rule=encode_rule(refusal.rule), message=refusal.message, pod_uids=sorted(refusal.pod_uids)
    )


def _decode_step(message: pb.FunnelStep) -> FunnelStep:
    return FunnelStep(
        step=message.step,
        instance_types=within("instance_types", message.instance_types, 0),
        offerings=within("offerings", message.offerings, 0),
    )


def _encode_step(step: FunnelStep) -> pb.FunnelStep:
    return pb.FunnelStep(
        step=step.step, instance_types=step.instance_types, offerings=step.offerings
    )


_SITUATIONS = {
    pb.POD_SITUATION_UNSPECIFIED: PodSituation.UNKNOWN,
    pb.POD_SITUATION_PLACED: PodSituation.PLACED,
    pb.POD_SITUATION_UNPLACED: PodSituation.UNPLACED,
    pb.POD_SITUATION_ON_NODE: PodSituation.ON_NODE,
    pb.POD_SITUATION_ENDED: PodSituation.ENDED,
    pb.POD_SITUATION_DELETING: PodSituation.DELETING,
    pb.POD_SITUATION_DAEMON: PodSituation.DAEMON,
    pb.POD_SITUATION_STATIC: PodSituation.STATIC,
    pb.POD_SITUATION_HELD: PodSituation.HELD,
    pb.POD_SITUATION_SET_ASIDE: PodSituation.SET_ASIDE,
}
_SITUATION_NUMBERS = inverted(_SITUATIONS)
_CHANGES = {
    pb.CHANGE_KIND_UNSPECIFIED: ChangeKind.UNKNOWN,
    pb.CHANGE_KIND_VALUE: ChangeKind.VALUE,
    pb.CHANGE_KIND_TOLERATION: ChangeKind.TOLERATION,
    pb.CHANGE_KIND_MAX_SKEW: ChangeKind.MAX_SKEW,
    pb.CHANGE_KIND_MIN_DOMAINS: ChangeKind.MIN_DOMAINS,
    pb.CHANGE_KIND_TAINTS_POLICY: ChangeKind.TAINTS_POLICY,
    pb.CHANGE_KIND_SOFT_SPREAD: ChangeKind.SOFT_SPREAD,
    pb.CHANGE_KIND_NODE_SELECTION: ChangeKind.NODE_SELECTION,
    pb.CHANGE_KIND_AFFINITY: ChangeKind.AFFINITY,
    pb.CHANGE_KIND_ANTI_AFFINITY: ChangeKind.ANTI_AFFINITY,
    pb.CHANGE_KIND_REQUEST: ChangeKind.REQUEST,
    pb.CHANGE_KIND_HOST_PORT: ChangeKind.HOST_PORT,
    pb.CHANGE_KIND_VOLUME: ChangeKind.VOLUME,
    pb.CHANGE_KIND_GANG: ChangeKind.GANG,
    pb.CHANGE_KIND_POOL_LIMIT: ChangeKind.POOL_LIMIT,
    pb.CHANGE_KIND_POOL_REQUIREMENT: ChangeKind.POOL_REQUIREMENT,
    pb.CHANGE_KIND_POOL_LABEL: ChangeKind.POOL_LABEL,
    pb.CHANGE_KIND_POOL_MIN_VALUES: ChangeKind.POOL_MIN_VALUES,
    pb.CHANGE_KIND_OFFERING: ChangeKind.OFFERING,
}
_CHANGE_NUMBERS = inverted(_CHANGES)
