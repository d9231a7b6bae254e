"""Mirrors `lifecycle/v1/lifecycle.proto`."""

from joiner.lifecycle.v1 import lifecycle_pb2 as pb

from libs.domain.execution import (
    ApplyRequest,
    ApplyResult,
    CommandProgress,
    CommandRequest,
    CommandState,
    CreatedClaim,
    DecisionReport,
    Eviction,
    RefusedClaim,
)
from libs.wire.command import decode_command, decode_decision, encode_command, encode_decision
from libs.wire.field import at, each, inverted, require, unique
from libs.wire.instant import decode_instant, encode_instant
from libs.wire.plan import decode_plan, write_plan
from libs.wire.snapshot import decode_snapshot_id, encode_snapshot_id


def decode_apply_request(message: pb.ApplyPlanRequest) -> ApplyRequest:
    """Return the plan to carry out, with its premise."""
    require(message, "plan_id", "snapshot", "plan", "decided_at")
    return ApplyRequest(
        plan_id=message.plan_id,
        snapshot=at("snapshot", message.snapshot, decode_snapshot_id),
        known_nodeclaim_uids=tuple(sorted(message.known_nodeclaim_uids)),
        plan=at("plan", message.plan, decode_plan),
        decided_at=at("decided_at", message.decided_at, decode_instant),
    )


def encode_apply_request(request: ApplyRequest) -> pb.ApplyPlanRequest:
    """Return the message."""
    message = pb.ApplyPlanRequest(
        plan_id=request.plan_id,
        snapshot=encode_snapshot_id(request.snapshot),
        known_nodeclaim_uids=sorted(request.known_nodeclaim_uids),
        decided_at=encode_instant(request.decided_at),
    )
    write_plan(message.plan, request.plan)
    return message


def decode_apply_result(message: pb.ApplyPlanResponse) -> ApplyResult:
    """Return what became of a plan, sorted by index."""
    created = each("created", message.created, _decode_created)
    refused = each("refused", message.refused, _decode_refused)
    return ApplyResult(
        created=unique("created", created, lambda one: one.index),
        refused=unique("refused", refused, lambda one: one.index),
    )


def encode_apply_result(result: ApplyResult) -> pb.ApplyPlanResponse:
    """Return the message, sorted by index."""
    return pb.ApplyPlanResponse(
        created=[
            pb.CreatedNodeClaim(index=one.index, name=one.name, uid=one.uid)
            for one in sorted(result.created, key=lambda one: one.index)
        ],
        refused=[
            pb.RefusedNodeClaim(index=one.index, message=one.message)
            for one in sorted(result.refused, key=lambda one: one.index)
        ],
    )


def decode_command_request(message: pb.ExecuteCommandRequest) -> CommandRequest:
    """Return the command to carry out, with its premise."""
    require(message, "snapshot", "command")
    return CommandRequest(
        snapshot=at("snapshot", message.snapshot, decode_snapshot_id),
        command=at("command", message.command, decode_command),
        known_nodeclaim_uids=tuple(sorted(message.known_nodeclaim_uids)),
    )


def encode_command_request(request: CommandRequest) -> pb.ExecuteCommandRequest:
    """Return the message."""
    return pb.ExecuteCommandRequest(
        snapshot=encode_snapshot_id(request.snapshot),
        command=encode_command(request.command),
        known_nodeclaim_uids=sorted(request.known_nodeclaim_uids),
    )


def decode_replacements(message: pb.ExecuteCommandResponse) -> tuple[str, ...]:
    """Return the names of a command's replacements, in its order."""
    return tuple(message.replacements)


def encode_replacements(names: tuple[str, ...]) -> pb.ExecuteCommandResponse:
    """Return the message."""
    return pb.ExecuteCommandResponse(replacements=names)


def decode_command_progress(message: pb.WatchCommandsResponse) -> CommandProgress:
    """Return the state of a command; an unspecified or unknown one is unknown."""
    require(message, "command_id", "changed_at")
    return CommandProgress(
        command_id=message.command_id,
        state=_STATES.get(message.state, CommandState.UNKNOWN),
        message=message.message,
        changed_at=at("changed_at", message.changed_at, decode_instant),
    )


def encode_command_progress(progress: CommandProgress) -> pb.WatchCommandsResponse:
    """Return the message."""
    return pb.WatchCommandsResponse(
        command_id=progress.command_id,
        state=_STATE_NUMBERS[progress.state],
        message=progress.message,
        changed_at=encode_instant(progress.changed_at),
    )


def decode_decision_report(message: pb.ReportDecisionsRequest) -> DecisionReport:
    """Return the decisions, sorted by node."""
    require(message, "snapshot")
    decisions = each("decisions", message.decisions, decode_decision)
    return DecisionReport(
        snapshot=at("snapshot", message.snapshot, decode_snapshot_id),
        decisions=unique("decisions", decisions, lambda one: one.node),
    )


def encode_decision_report(report: DecisionReport) -> pb.ReportDecisionsRequest:
    """Return the message, sorted by node."""
    decisions = sorted(report.decisions, key=lambda one: one.node)
    return pb.ReportDecisionsRequest(
        snapshot=encode_snapshot_id(report.snapshot), decisions=map(encode_decision, decisions)
    )


def decode_eviction(message: pb.EvictRequest) -> Eviction:
    """Return the pod to evict."""
    require(message, "namespace", "name", "uid")
    return Eviction(
        namespace=message.namespace, name=message.name, uid=message.uid, reason=message.reason
    )


def encode_eviction(eviction: Eviction) -> pb.EvictRequest:
    """Return the message."""
    return pb.EvictRequest(
        namespace=eviction.namespace,
        name=eviction.name,
        uid=eviction.uid,
        reason=eviction.reason,
    )


def _decode_created(message: pb.CreatedNodeClaim) -> CreatedClaim:
    require(message, "name", "uid")
    return CreatedClaim(index=message.index, name=message.name, uid=message.uid)


def _decode_refused(message: pb.RefusedNodeClaim) -> RefusedClaim:
    return RefusedClaim(index=message.index, message=message.message)


_STATES = {
    pb.WatchCommandsResponse.STATE_UNSPECIFIED: CommandState.UNKNOWN,
    pb.WatchCommandsResponse.STATE_WAITING: CommandState.WAITING,
    pb.WatchCommandsResponse.STATE_DELETING: CommandState.DELETING,
    pb.WatchCommandsResponse.STATE_DONE: CommandState.DONE,
    pb.WatchCommandsResponse.STATE_FAILED: CommandState.FAILED,
}
_STATE_NUMBERS = inverted(_STATES)
