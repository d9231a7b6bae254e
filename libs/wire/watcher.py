"""Mirrors `watcher/v1/watcher.proto`."""

from joiner.watcher.v1 import watcher_pb2 as pb

from libs.domain.question import SolveQuestion
from libs.domain.snapshot import ClusterSnapshot, full
from libs.domain.solution import SolveOptions
from libs.wire.field import at, optional, require
from libs.wire.snapshot import decode_full_snapshot, encode_snapshot_update
from libs.wire.solution import decode_solve_options, encode_solve_options


def decode_recorded_question(message: pb.GetSnapshotResponse) -> SolveQuestion:
    """Return the question that was asked; of the newest snapshot one with default options."""
    require(message, "snapshot")
    options = optional(message, "options", decode_solve_options)
    return SolveQuestion(
        snapshot=at("snapshot", message.snapshot, decode_full_snapshot),
        options=SolveOptions() if options is None else options,
    )


def encode_recorded_question(
    snapshot: ClusterSnapshot, options: SolveOptions | None
) -> pb.GetSnapshotResponse:
    """Return the message; options are None for the newest snapshot."""
    return pb.GetSnapshotResponse(
        snapshot=encode_snapshot_update(full(snapshot)),
        options=None if options is None else encode_solve_options(options),
    )
