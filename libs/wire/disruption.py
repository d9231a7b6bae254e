"""Mirrors `disruption/v1/disruption.proto`."""

from joiner.disruption.v1 import disruption_pb2 as pb

from libs.domain.execution import DecisionList, SentCommand
from libs.wire.command import decode_command, decode_decision, encode_command, encode_decision
from libs.wire.field import at, each, require, unique
from libs.wire.instant import decode_instant, encode_instant
from libs.wire.snapshot import decode_snapshot_id, encode_snapshot_id


def decode_decision_list(message: pb.ListDecisionsResponse) -> DecisionList:
    """Return decisions sorted by node, and commands oldest first."""
    require(message, "snapshot")
    decisions = each("decisions", message.decisions, decode_decision)
    return DecisionList(
        snapshot=at("snapshot", message.snapshot, decode_snapshot_id),
        decisions=unique("decisions", decisions, lambda one: one.node),
        commands=each("commands", message.commands, _decode_sent_command),
    )


def encode_decision_list(decisions: DecisionList) -> pb.ListDecisionsResponse:
    """Return the message."""
    by_node = sorted(decisions.decisions, key=lambda one: one.node)
    return pb.ListDecisionsResponse(
        snapshot=encode_snapshot_id(decisions.snapshot),
        decisions=map(encode_decision, by_node),
        commands=map(_encode_sent_command, decisions.commands),
    )


def _decode_sent_command(message: pb.SentCommand) -> SentCommand:
    require(message, "command", "sent_at")
    return SentCommand(
        command=at("command", message.command, decode_command),
        sent_at=at("sent_at", message.sent_at, decode_instant),
        refusal=message.refusal,
    )


def _encode_sent_command(sent: SentCommand) -> pb.SentCommand:
    return pb.SentCommand(
        command=encode_command(sent.command),
        sent_at=encode_instant(sent.sent_at),
        refusal=sent.refusal,
    )
