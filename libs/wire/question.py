"""Mirrors the requests of `solver/v1/solver.proto`, and the answer of Consolidate."""

from collections.abc import Mapping

from joiner.solver.v1 import solver_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.plan import Decision
from libs.domain.question import (
    ConsolidateQuestion,
    Consolidation,
    ExplainQuestion,
    SimulateQuestion,
    SnapshotReference,
    SnapshotSource,
    SolveQuestion,
    SubjectKind,
)
from libs.domain.snapshot import ClusterSnapshot, SnapshotId, full
from libs.wire.command import (
    decode_candidate,
    decode_command,
    decode_decision,
    encode_candidate,
    encode_command,
    encode_decision,
)
from libs.wire.field import at, each, optional, require, unique, within
from libs.wire.scenario import decode_scenario, encode_scenario
from libs.wire.snapshot import (
    decode_full_snapshot,
    decode_snapshot_id,
    encode_snapshot_id,
    encode_snapshot_update,
)
from libs.wire.solution import decode_solve_options, encode_solve_options


def decode_snapshot_source(message: pb.SnapshotSelector) -> SnapshotSource:
    """Return the reference, or the snapshot that came with the question."""
    match message.WhichOneof("snapshot"):
        case "reference":
            return at("reference", message.reference, _decode_reference)
        case "inline":
            return at("inline", message.inline, decode_full_snapshot)
        case _:
            raise InvalidRequest("either reference or inline is required", field="snapshot")


def decode_snapshot_reference(message: pb.SnapshotSelector) -> SnapshotReference | None:
    """Return the reference, without reading a snapshot that comes with the question: then None."""
    if message.WhichOneof("snapshot") != "reference":
        return None
    return at("reference", message.reference, _decode_reference)


def pin_revision(message: pb.SnapshotSelector, revision: SnapshotId) -> None:
    """Let a reference name a revision of its cluster."""
    message.reference.id.CopyFrom(encode_snapshot_id(revision))


def encode_snapshot_source(source: SnapshotSource) -> pb.SnapshotSelector:
    """Return the message."""
    if isinstance(source, ClusterSnapshot):
        return pb.SnapshotSelector(inline=encode_snapshot_update(full(source)))
    return pb.SnapshotSelector(
        reference=pb.SnapshotReference(
            cluster_id=source.cluster_id,
            id=None if source.id is None else encode_snapshot_id(source.id),
        )
    )


def decode_solve_question(message: pb.SolveRequest) -> SolveQuestion:
    """Return the question."""
    return SolveQuestion(
        snapshot=at("snapshot", message.snapshot, decode_snapshot_source),
        options=at("options", message.options, decode_solve_options),
    )


def encode_solve_question(question: SolveQuestion) -> pb.SolveRequest:
    """Return the message."""
    return pb.SolveRequest(
        snapshot=encode_snapshot_source(question.snapshot),
        options=encode_solve_options(question.options),
    )


def decode_simulate_question(message: pb.SimulateRequest) -> SimulateQuestion:
    """Return the question."""
    return SimulateQuestion(
        snapshot=at("snapshot", message.snapshot, decode_snapshot_source),
        options=at("options", message.options, decode_solve_options),
        scenarios=each("scenarios", message.scenarios, decode_scenario),
        positions=decode_positions(message) if message.positions else (),
    )


def encode_simulate_question(question: SimulateQuestion) -> pb.SimulateRequest:
    """Return the message."""
    return pb.SimulateRequest(
        snapshot=encode_snapshot_source(question.snapshot),
        options=encode_solve_options(question.options),
        scenarios=map(encode_scenario, question.scenarios),
        positions=question.positions,
    )


def decode_positions(message: pb.SimulateRequest) -> tuple[int, ...]:
    """Return the positions of the scenarios that are to be answered, of all if none is named."""
    met: dict[int, None] = {}
    for index, position in enumerate(message.positions):
        if not 0 <= position < len(message.scenarios) or position in met:
            raise InvalidRequest(
                f"{position} is not the position of a scenario that was not named before",
                field=f"positions[{index}]",
            )
        met[position] = None
    return tuple(met or range(len(message.scenarios)))


def decode_consolidate_question(message: pb.ConsolidateRequest) -> ConsolidateQuestion:
    """Return the question."""
    require(message, "candidates")
    max_moves = None
    if message.HasField("max_moves"):
        max_moves = within("max_moves", message.max_moves, 0)
    return ConsolidateQuestion(
        snapshot=at("snapshot", message.snapshot, decode_snapshot_source),
        options=at("options", message.options, decode_solve_options),
        candidates=each("candidates", message.candidates, decode_candidate),
        node_budgets=_decode_budgets("node_budgets", message.node_budgets),
        empty_node_budgets=_decode_budgets("empty_node_budgets", message.empty_node_budgets),
        move_price_nanos_per_hour=within(
            "move_price_nanos_per_hour", message.move_price_nanos_per_hour, 0
        ),
        max_moves=max_moves,
    )


def encode_consolidate_question(question: ConsolidateQuestion) -> pb.ConsolidateRequest:
    """Return the message."""
    return pb.ConsolidateRequest(
        snapshot=encode_snapshot_source(question.snapshot),
        options=encode_solve_options(question.options),
        candidates=map(encode_candidate, question.candidates),
        node_budgets=dict(question.node_budgets),
        empty_node_budgets=dict(question.empty_node_budgets),
        move_price_nanos_per_hour=question.move_price_nanos_per_hour,
        max_moves=question.max_moves,
    )


def decode_consolidation(message: pb.ConsolidateResponse) -> Consolidation:
    """Return the answer."""
    require(message, "snapshot")
    left_alone = each("left_alone", message.left_alone, decode_decision)
    return Consolidation(
        snapshot=at("snapshot", message.snapshot, decode_snapshot_id),
        options=at("options", message.options, decode_solve_options),
        commands=each("commands", message.commands, decode_command),
        existing_nanos_per_hour=message.existing_nanos_per_hour,
        left_alone=unique("left_alone", left_alone, lambda one: one.node),
        solver_version=message.solver_version,
    )


def encode_consolidation(consolidation: Consolidation) -> pb.ConsolidateResponse:
    """Return the message."""
    return pb.ConsolidateResponse(
        snapshot=encode_snapshot_id(consolidation.snapshot),
        options=encode_solve_options(consolidation.options),
        commands=map(encode_command, consolidation.commands),
        existing_nanos_per_hour=consolidation.existing_nanos_per_hour,
        left_alone=map(encode_decision, sorted(consolidation.left_alone, key=_node)),
        solver_version=consolidation.solver_version,
    )


def decode_explain_question(message: pb.ExplainRequest) -> ExplainQuestion:
    """Return the question."""
    kind, subject = _decode_subject(message)
    return ExplainQuestion(
        snapshot=at("snapshot", message.snapshot, decode_snapshot_source),
        options=at("options", message.options, decode_solve_options),
        subject_kind=kind,
        subject=subject,
    )


def encode_explain_question(question: ExplainQuestion) -> pb.ExplainRequest:
    """Return the message."""
    message = pb.ExplainRequest(
        snapshot=encode_snapshot_source(question.snapshot),
        options=encode_solve_options(question.options),
    )
    match question.subject_kind:
        case SubjectKind.POD:
            message.pod_uid = question.subject
        case SubjectKind.POD_NAME:
            message.pod_name = question.subject
        case SubjectKind.NODE:
            message.node = question.subject
        case SubjectKind.NODEPOOL:
            message.nodepool = question.subject
    return message


def _node(decision: Decision) -> str:
    return decision.node


def _decode_budgets(field: str, budgets: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(
        (pool, within(f"{field}.{pool}", count, 0)) for pool, count in sorted(budgets.items())
    )


def _decode_reference(message: pb.SnapshotReference) -> SnapshotReference:
    require(message, "cluster_id")
    return SnapshotReference(
        cluster_id=message.cluster_id, id=optional(message, "id", decode_snapshot_id)
    )


def _decode_subject(message: pb.ExplainRequest) -> tuple[SubjectKind, str]:
    field = message.WhichOneof("subject")
    if field is None:
        raise InvalidRequest(f"one of {', '.join(_SUBJECTS)} is required", field="subject")
    require(message, field)
    if field == "pod_name" and not all(message.pod_name.partition("/")):
        raise InvalidRequest(f"{message.pod_name!r} is not namespace/name", field=field)
    return _SUBJECTS[field], getattr(message, field)


_SUBJECTS = {
    "pod_uid": SubjectKind.POD,
    "pod_name": SubjectKind.POD_NAME,
    "node": SubjectKind.NODE,
    "nodepool": SubjectKind.NODEPOOL,
}
