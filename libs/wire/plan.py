"""Mirrors the plan in `model/v1/plan.proto`; `planned.py` has its claims, `command.py` commands."""

from collections.abc import Iterable, Sequence

from joiner.model.v1 import plan_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.plan import (
    BufferVerdict,
    Nomination,
    OverlayVerdict,
    Plan,
    PoolMessage,
    UnplacedPods,
)
from libs.domain.reason import TargetKind
from libs.wire.field import at, each, require, unique, within
from libs.wire.planned import add_planned_nodeclaims, decode_planned_nodeclaims
from libs.wire.reason import decode_rule, decode_unplaceable, encode_rule, encode_unplaceable


def decode_plan(message: pb.Plan) -> Plan:
    """Return the plan, every list in its canonical order."""
    claims = decode_planned_nodeclaims(message)
    unplaced = each("unplaced", message.unplaced, _decode_unplaced)
    pool_messages = each("pool_messages", message.pool_messages, decode_pool_message)
    buffers = each("buffers", message.buffers, _decode_buffer_verdict)
    overlays = each("overlays", message.overlays, _decode_overlay_verdict)
    return Plan(
        nodeclaims=unique("nodeclaims", claims, lambda one: one.index),
        nominations=decode_nominations(message.nominations),
        unplaced=unique("unplaced", unplaced, lambda one: one.pod_uids[0]),
        pool_messages=tuple(sorted(pool_messages, key=_pool_message_order)),
        buffers=unique("buffers", buffers, lambda one: (one.namespace, one.name)),
        overlays=unique("overlays", overlays, lambda one: one.name),
    )


def write_plan(message: pb.Plan, plan: Plan) -> None:
    """Encode into an empty message where it stands: a message that is set as a field is copied."""
    message.SetInParent()
    add_planned_nodeclaims(message, sorted(plan.nodeclaims, key=lambda one: one.index))
    message.nominations.extend(encode_nominations(plan.nominations))
    message.unplaced.extend(
        pb.UnplacedPods(pod_uids=sorted(one.pod_uids), reason=encode_unplaceable(one.reason))
        for one in sorted(plan.unplaced, key=lambda one: one.pod_uids[:1])
    )
    message.pool_messages.extend(
        map(encode_pool_message, sorted(plan.pool_messages, key=_pool_message_order))
    )
    buffers = sorted(plan.buffers, key=lambda one: (one.namespace, one.name))
    message.buffers.extend(map(_encode_buffer_verdict, buffers))
    message.overlays.extend(
        pb.OverlayVerdict(name=one.name, applied=one.applied, problem=one.problem)
        for one in sorted(plan.overlays, key=lambda one: one.name)
    )


def decode_nominations(messages: Sequence[pb.Nomination]) -> tuple[Nomination, ...]:
    """Return the nominations, sorted by target."""
    return unique(
        "nominations", each("nominations", messages, decode_nomination), _nomination_order
    )


def encode_nominations(nominations: Iterable[Nomination]) -> list[pb.Nomination]:
    """Return the messages, sorted by target."""
    return [encode_nomination(one) for one in sorted(nominations, key=_nomination_order)]


def decode_nomination(message: pb.Nomination) -> Nomination:
    """Return the nomination."""
    match message.WhichOneof("target"):
        case "node":
            kind, target = TargetKind.NODE, message.node
        case "nodeclaim":
            kind, target = TargetKind.NODECLAIM, message.nodeclaim
        case _:
            raise InvalidRequest("is required", field="target")
    return Nomination(target_kind=kind, target=target, pod_uids=tuple(sorted(message.pod_uids)))


def encode_nomination(nomination: Nomination) -> pb.Nomination:
    """Return the message."""
    uids = sorted(nomination.pod_uids)
    if nomination.target_kind is TargetKind.NODE:
        return pb.Nomination(node=nomination.target, pod_uids=uids)
    return pb.Nomination(nodeclaim=nomination.target, pod_uids=uids)


def decode_pool_message(message: pb.PoolMessage) -> PoolMessage:
    """Return what is to be said about a pool."""
    require(message, "nodepool")
    return PoolMessage(
        nodepool=message.nodepool, rule=decode_rule(message.rule), message=message.message
    )


def encode_pool_message(item: PoolMessage) -> pb.PoolMessage:
    """Return the message."""
    return pb.PoolMessage(nodepool=item.nodepool, rule=encode_rule(item.rule), message=item.message)


def _decode_unplaced(message: pb.UnplacedPods) -> UnplacedPods:
    require(message, "pod_uids")
    return UnplacedPods(
        pod_uids=tuple(sorted(message.pod_uids)),
        reason=at("reason", message.reason, decode_unplaceable),
    )


def _decode_buffer_verdict(message: pb.BufferVerdict) -> BufferVerdict:
    require(message, "namespace", "name")
    return BufferVerdict(
        namespace=message.namespace,
        name=message.name,
        fit_existing=within("fit_existing", message.fit_existing, 0),
        need_new=within("need_new", message.need_new, 0),
        unplaced=within("unplaced", message.unplaced, 0),
        problem=message.problem,
    )


def _encode_buffer_verdict(verdict: BufferVerdict) -> pb.BufferVerdict:
    return pb.BufferVerdict(
        namespace=verdict.namespace,
        name=verdict.name,
        fit_existing=verdict.fit_existing,
        need_new=verdict.need_new,
        unplaced=verdict.unplaced,
        problem=verdict.problem,
    )


def _decode_overlay_verdict(message: pb.OverlayVerdict) -> OverlayVerdict:
    require(message, "name")
    return OverlayVerdict(name=message.name, applied=message.applied, problem=message.problem)


def _nomination_order(nomination: Nomination) -> tuple[str, str]:
    return nomination.target_kind, nomination.target


def _pool_message_order(item: PoolMessage) -> tuple[str, int, str]:
    return item.nodepool, encode_rule(item.rule), item.message
