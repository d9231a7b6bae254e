"""Mirrors the rows of `model/v1/pod.proto`: columns on both sides, never an object per pod.

On the wire owners are a list that rows refer to, volume claims, gangs, targets and nominated nodes
are sparse; in the domain every column is dense, and equal texts are one object. 150,000 rows take a
fraction of a second each way.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

from joiner.model.v1 import pod_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.pod import DO_NOT_DISRUPT_FOR_EVER, Owner, PodPhase, Target
from libs.domain.pod_table import PodBlock, PodTable
from libs.domain.reason import TargetKind
from libs.wire.field import each, inverted, require

T = TypeVar("T")

_LATEST_MS = 253_402_300_799_999
"""The last millisecond of the year 9999, beyond which no calendar here goes."""


def decode_pod_table(message: pb.PodTable) -> PodTable:
    """Return the table.

    Raises:
        InvalidRequest: columns differ in length, rows are not sorted by uid or a uid comes twice,
            an index leads nowhere, or an instant is out of range.
    """
    whole = PodBlock(
        uids=tuple(message.uids),
        namespaces=_once(message.namespaces),
        names=tuple(message.names),
        shapes=_once(message.shapes),
        nodes=_once(message.nodes),
        phases=_decode_phases(message),
        ready=tuple(message.ready),
        provisionable=tuple(message.provisionable),
        created_ms=_instants("created_ms", message.created_ms),
        started_ms=_instants("started_ms", message.started_ms),
        deleting_ms=_instants("deleting_ms", message.deleting_ms),
        priorities=tuple(message.priorities),
        deletion_costs=tuple(message.deletion_costs),
        do_not_disrupt_ms=_instants(
            "do_not_disrupt_ms", message.do_not_disrupt_ms, DO_NOT_DISRUPT_FOR_EVER
        ),
        owners=_decode_owners(message),
        volume_claims=_decode_volumes(message),
        gangs=_decode_gangs(message),
        targets=_decode_targets(message),
        nominated=_decode_nominated(message),
    )
    _check_lengths(message)
    _check_order(whole.uids)
    return PodTable.from_columns(whole)


def write_pod_table(message: pb.PodTable, table: PodTable) -> None:
    """Encode into an empty message: owners sorted by uid, each once; sparse columns by row."""
    owners, owner_rows = _owner_rows(table)
    column = table.column
    for name in _DENSE:
        getattr(message, name).extend(column(name))
    message.phases.extend(map(_PHASE_NUMBERS.__getitem__, column("phases")))
    message.owner_rows.extend(owner_rows)
    message.owners.extend(map(_encode_owner, owners))
    for row, claims in enumerate(column("volume_claims")):
        if claims:
            message.volumes.add(row=row, claims=claims)
    for row, gang in enumerate(column("gangs")):
        if gang:
            message.gangs.add(row=row, gang=gang)
    for row, target in enumerate(column("targets")):
        if target is not None:
            message.targets.append(_encode_target(row, target))
    for row, node in enumerate(column("nominated")):
        if node:
            message.nominated.add(row=row, node=node)


_DENSE = (
    "uids",
    "namespaces",
    "names",
    "shapes",
    "nodes",
    "ready",
    "provisionable",
    "created_ms",
    "started_ms",
    "deleting_ms",
    "priorities",
    "deletion_costs",
    "do_not_disrupt_ms",
)
"""Columns that are written as they are."""


def _owner_rows(table: PodTable) -> tuple[list[Owner], list[int]]:
    """Return the owners, each once, and of each pod its owner's place among them, 0 for none."""
    column = list(table.column("owners"))
    known = {id(owner): owner for owner in column}
    owners = sorted(
        {owner for owner in known.values() if owner is not None}, key=lambda owner: owner.uid
    )
    rows: dict[Owner | None, int] = {None: 0}
    rows.update((owner, row) for row, owner in enumerate(owners, start=1))
    by_id = {number: rows[owner] for number, owner in known.items()}
    return owners, list(map(by_id.__getitem__, map(id, column)))


def _once(column: Sequence[T]) -> tuple[T, ...]:
    """Return the column with one object for equal values."""
    known: dict[T, T] = {}
    return tuple(map(known.setdefault, column, column))


def _decode_phases(message: pb.PodTable) -> tuple[PodPhase, ...]:
    known = {number: _PHASES.get(number, PodPhase.UNKNOWN) for number in set(message.phases)}
    return tuple(map(known.__getitem__, message.phases))


def _instants(field: str, column: Iterable[int], least: int = 0) -> tuple[int, ...]:
    values = tuple(column)
    if values and (min(values) < least or max(values) > _LATEST_MS):
        row, wrong = next(
            (row, ms) for row, ms in enumerate(values) if not least <= ms <= _LATEST_MS
        )
        raise InvalidRequest(
            f"{wrong} is not within {least} and {_LATEST_MS}", field=f"{field}[{row}]"
        )
    return values


def _decode_owners(message: pb.PodTable) -> tuple[Owner | None, ...]:
    owners: tuple[Owner | None, ...] = (None, *each("owners", message.owners, _decode_owner))
    rows = message.owner_rows
    if rows and max(rows) >= len(owners):
        row = next(row for row, owner in enumerate(rows) if owner >= len(owners))
        raise InvalidRequest(
            f"{rows[row]} is beyond the {len(message.owners)} owners", field=f"owner_rows[{row}]"
        )
    return tuple(map(owners.__getitem__, rows))


def _decode_owner(message: pb.Owner) -> Owner:
    require(message, "api_version", "kind", "name", "uid")
    return Owner(
        api_version=message.api_version, kind=message.kind, name=message.name, uid=message.uid
    )


def _encode_owner(owner: Owner) -> pb.Owner:
    return pb.Owner(api_version=owner.api_version, kind=owner.kind, name=owner.name, uid=owner.uid)


def _decode_volumes(message: pb.PodTable) -> tuple[tuple[str, ...], ...]:
    column: list[tuple[str, ...]] = [()] * len(message.uids)
    rows = [item.row for item in message.volumes]
    _check_rows("volumes", rows, len(column))
    for item in message.volumes:
        column[item.row] = tuple(sorted(item.claims))
    return tuple(column)


def _decode_gangs(message: pb.PodTable) -> tuple[str, ...]:
    column = [""] * len(message.uids)
    _check_rows("gangs", [item.row for item in message.gangs], len(column))
    for item in message.gangs:
        column[item.row] = item.gang
    return tuple(column)


def _decode_nominated(message: pb.PodTable) -> tuple[str, ...]:
    column = [""] * len(message.uids)
    _check_rows("nominated", [item.row for item in message.nominated], len(column))
    for item in message.nominated:
        column[item.row] = item.node
    return tuple(column)


def _decode_targets(message: pb.PodTable) -> tuple[Target | None, ...]:
    column: list[Target | None] = [None] * len(message.uids)
    rows = [item.row for item in message.targets]
    _check_rows("targets", rows, len(column))
    for row, target in zip(rows, each("targets", message.targets, _decode_target), strict=True):
        column[row] = target
    return tuple(column)


def _decode_target(message: pb.PodTarget) -> Target:
    match message.WhichOneof("target"):
        case "node":
            return Target(TargetKind.NODE, message.node)
        case "nodeclaim":
            return Target(TargetKind.NODECLAIM, message.nodeclaim)
        case _:
            raise InvalidRequest("is required", field="target")


def _encode_target(row: int, target: Target) -> pb.PodTarget:
    if target.kind is TargetKind.NODE:
        return pb.PodTarget(row=row, node=target.name)
    return pb.PodTarget(row=row, nodeclaim=target.name)


def _check_rows(field: str, rows: Sequence[int], count: int) -> None:
    for index, row in enumerate(rows):
        if row >= count:
            raise InvalidRequest(f"there is no row {row}", field=f"{field}[{index}].row")
        if index and row <= rows[index - 1]:
            raise InvalidRequest("rows do not ascend", field=f"{field}[{index}].row")


def _check_lengths(message: pb.PodTable) -> None:
    columns: tuple[tuple[str, int], ...] = (
        ("namespaces", len(message.namespaces)),
        ("names", len(message.names)),
        ("shapes", len(message.shapes)),
        ("nodes", len(message.nodes)),
        ("phases", len(message.phases)),
        ("ready", len(message.ready)),
        ("provisionable", len(message.provisionable)),
        ("created_ms", len(message.created_ms)),
        ("started_ms", len(message.started_ms)),
        ("deleting_ms", len(message.deleting_ms)),
        ("priorities", len(message.priorities)),
        ("deletion_costs", len(message.deletion_costs)),
        ("do_not_disrupt_ms", len(message.do_not_disrupt_ms)),
        ("owner_rows", len(message.owner_rows)),
    )
    count = len(message.uids)
    for name, length in columns:
        if length != count:
            raise InvalidRequest(f"has {length} entries, uids has {count}", field=name)


def _check_order(uids: Sequence[str]) -> None:
    if uids and not uids[0]:
        raise InvalidRequest("is required", field="uids[0]")
    for row, (before, after) in enumerate(pairwise(uids), start=1):
        if before >= after:
            raise InvalidRequest("rows are not sorted by uid, each once", field=f"uids[{row}]")


_PHASES = {
    pb.POD_PHASE_UNSPECIFIED: PodPhase.PENDING,
    pb.POD_PHASE_PENDING: PodPhase.PENDING,
    pb.POD_PHASE_RUNNING: PodPhase.RUNNING,
    pb.POD_PHASE_SUCCEEDED: PodPhase.SUCCEEDED,
    pb.POD_PHASE_FAILED: PodPhase.FAILED,
    pb.POD_PHASE_UNKNOWN: PodPhase.UNKNOWN,
}
_PHASE_NUMBERS = inverted(_PHASES)
