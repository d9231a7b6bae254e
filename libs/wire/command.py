"""Mirrors the commands and decisions of `model/v1/plan.proto`."""

from joiner.model.v1 import plan_pb2 as pb

from libs.domain.plan import Blocker, Candidate, Command, Decision
from libs.wire.field import at, each, require, unique
from libs.wire.nodepool import decode_disruption_reason, encode_disruption_reason
from libs.wire.plan import decode_nominations, encode_nominations
from libs.wire.planned import decode_planned_nodeclaim, encode_planned_nodeclaim


def decode_command(message: pb.Command) -> Command:
    """Return the command, candidates sorted by claim."""
    require(message, "id", "candidates")
    candidates = each("candidates", message.candidates, decode_candidate)
    return Command(
        id=message.id,
        reason=at("reason", message.reason, decode_disruption_reason),
        candidates=unique("candidates", candidates, lambda one: one.nodeclaim),
        replacements=each("replacements", message.replacements, decode_planned_nodeclaim),
        saving_nanos_per_hour=message.saving_nanos_per_hour,
        nominations=decode_nominations(message.nominations),
    )


def encode_command(command: Command) -> pb.Command:
    """Return the message, candidates sorted by claim."""
    return pb.Command(
        id=command.id,
        reason=encode_disruption_reason(command.reason),
        candidates=map(encode_candidate, sorted(command.candidates, key=lambda one: one.nodeclaim)),
        replacements=map(encode_planned_nodeclaim, command.replacements),
        saving_nanos_per_hour=command.saving_nanos_per_hour,
        nominations=encode_nominations(command.nominations),
    )


def decode_candidate(message: pb.Candidate) -> Candidate:
    """Return the candidate, pod uids sorted."""
    require(message, "nodeclaim", "nodeclaim_uid", "node", "nodepool")
    return Candidate(
        nodeclaim=message.nodeclaim,
        nodeclaim_uid=message.nodeclaim_uid,
        node=message.node,
        nodepool=message.nodepool,
        pod_uids=tuple(sorted(message.pod_uids)),
    )


def encode_candidate(candidate: Candidate) -> pb.Candidate:
    """Return the message, pod uids sorted."""
    return pb.Candidate(
        nodeclaim=candidate.nodeclaim,
        nodeclaim_uid=candidate.nodeclaim_uid,
        node=candidate.node,
        nodepool=candidate.nodepool,
        pod_uids=sorted(candidate.pod_uids),
    )


def decode_decision(message: pb.Decision) -> Decision:
    """Return the decision."""
    require(message, "node")
    return Decision(
        node=message.node,
        nodeclaim=message.nodeclaim,
        candidate=message.candidate,
        blockers=each("blockers", message.blockers, _decode_blocker),
        command_id=message.command_id,
    )


def encode_decision(decision: Decision) -> pb.Decision:
    """Return the message."""
    return pb.Decision(
        node=decision.node,
        nodeclaim=decision.nodeclaim,
        candidate=decision.candidate,
        blockers=[
            pb.Blocker(kind=one.kind, object=one.object, message=one.message)
            for one in decision.blockers
        ],
        command_id=decision.command_id,
    )


def _decode_blocker(message: pb.Blocker) -> Blocker:
    require(message, "kind")
    return Blocker(kind=message.kind, object=message.object, message=message.message)
