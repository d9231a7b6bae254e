"""Mirrors `snapshot/v1/snapshot.proto`."""

from collections.abc import Iterable, Mapping
from typing import Any

from joiner.snapshot.v1 import snapshot_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.snapshot import (
    KEYS,
    ClusterSnapshot,
    Epoch,
    PushResult,
    SnapshotId,
    SnapshotUpdate,
    apply,
    inconsistencies,
)
from libs.wire.capacity import (
    decode_catalogue,
    decode_observed_allocatable,
    encode_catalogue,
    encode_observed_allocatable,
)
from libs.wire.device import (
    decode_device_class,
    decode_device_pool,
    encode_device_class,
    encode_device_pool,
)
from libs.wire.field import at, each, inverted, require, unique, within
from libs.wire.instant import decode_instant, encode_instant
from libs.wire.node import decode_node, encode_node
from libs.wire.nodeclaim import decode_nodeclaim, encode_nodeclaim
from libs.wire.nodepool import decode_nodepool, encode_nodepool
from libs.wire.pod import decode_pod_shape, write_pod_shapes
from libs.wire.pod_table import decode_pod_table, write_pod_table
from libs.wire.volume import decode_volume_kind, encode_volume_kind
from libs.wire.workload import (
    decode_capacity_buffer,
    decode_daemonset,
    decode_gang,
    decode_namespace,
    decode_node_overlay,
    decode_pod_disruption_budget,
    decode_set_aside,
    encode_capacity_buffer,
    encode_daemonset,
    encode_gang,
    encode_namespace,
    encode_node_overlay,
    encode_pod_disruption_budget,
    encode_set_aside,
)


def decode_snapshot_id(message: pb.SnapshotId) -> SnapshotId:
    """Return the id of a revision."""
    require(message, "cluster_id", "epoch")
    return SnapshotId(
        cluster_id=message.cluster_id,
        epoch=at("epoch", message.epoch, _decode_epoch),
        revision=message.revision,
    )


def encode_snapshot_id(snapshot_id: SnapshotId) -> pb.SnapshotId:
    """Return the message."""
    epoch = snapshot_id.epoch
    return pb.SnapshotId(
        cluster_id=snapshot_id.cluster_id,
        epoch=pb.Epoch(lease_transitions=epoch.lease_transitions, boot_id=epoch.boot_id),
        revision=snapshot_id.revision,
    )


def decode_snapshot_update(message: pb.SnapshotUpdate) -> SnapshotUpdate:
    """Return the update."""
    require(message, "id", "observed_at")
    update_id = at("id", message.id, decode_snapshot_id)
    return SnapshotUpdate(
        id=update_id,
        base_revision=_decode_base(message, update_id.revision),
        observed_at=at("observed_at", message.observed_at, decode_instant),
        pods=at("pods", message.pods, decode_pod_table),
        removed_pods=tuple(message.removed_pods),
        upserts=_decode_upserts(message),
        removals=_decode_removals(message),
    )


def encode_snapshot_update(update: SnapshotUpdate) -> pb.SnapshotUpdate:
    """Return the message, upserts and removals sorted by key."""
    message = pb.SnapshotUpdate()
    _write_snapshot_update(message, update)
    return message


def _write_snapshot_update(message: pb.SnapshotUpdate, update: SnapshotUpdate) -> None:
    """Encode into an empty message where it stands: a message that is set as a field is copied."""
    message.id.CopyFrom(encode_snapshot_id(update.id))
    if update.base_revision is not None:
        message.base_revision = update.base_revision
    if (instant := encode_instant(update.observed_at)) is not None:
        message.observed_at.CopyFrom(instant)
    write_pod_table(message.pods, update.pods)
    message.removed_pods.extend(sorted(update.removed_pods))
    _encode_upserts(message, {name: _sorted_upserts(name, update) for name in KEYS})
    _encode_removals(message, {name: sorted(update.removals.get(name, ())) for name in KEYS})


def decode_full_snapshot(message: pb.SnapshotUpdate) -> ClusterSnapshot:
    """Return the snapshot that a full update describes, with every reference in it resolved."""
    update = decode_snapshot_update(message)
    if update.base_revision is not None:
        raise InvalidRequest("must be absent: the snapshot is full", field="base_revision")
    snapshot = apply(update, None)
    if problems := inconsistencies(snapshot):
        raise InvalidRequest(problems[0])
    return snapshot


def decode_push_request(message: pb.PushSnapshotsRequest) -> SnapshotUpdate | SnapshotId:
    """Return an update, or of a heartbeat the id."""
    match message.WhichOneof("message"):
        case "update":
            return at("update", message.update, decode_snapshot_update)
        case "heartbeat":
            return at("heartbeat", message.heartbeat, decode_snapshot_id)
        case _:
            raise InvalidRequest("is required", field="message")


def encode_push_request(content: SnapshotUpdate | SnapshotId) -> pb.PushSnapshotsRequest:
    """Return the message: an update, or for an id a heartbeat."""
    if isinstance(content, SnapshotUpdate):
        message = pb.PushSnapshotsRequest()
        _write_snapshot_update(message.update, content)
        return message
    return pb.PushSnapshotsRequest(heartbeat=encode_snapshot_id(content))


def decode_push_response(message: pb.PushSnapshotsResponse) -> tuple[SnapshotId, PushResult]:
    """Return what a sink did with a revision; an unknown result asks for a full snapshot."""
    require(message, "id")
    result = _RESULTS.get(message.result, PushResult.NEEDS_FULL)
    return at("id", message.id, decode_snapshot_id), result


def encode_push_response(snapshot_id: SnapshotId, result: PushResult) -> pb.PushSnapshotsResponse:
    """Return the message."""
    return pb.PushSnapshotsResponse(
        id=encode_snapshot_id(snapshot_id), result=_RESULT_NUMBERS[result]
    )


def _decode_epoch(message: pb.Epoch) -> Epoch:
    require(message, "boot_id")
    return Epoch(
        lease_transitions=within("lease_transitions", message.lease_transitions, 0),
        boot_id=message.boot_id,
    )


def _decode_base(message: pb.SnapshotUpdate, revision: int) -> int | None:
    if not message.HasField("base_revision"):
        return None
    if message.base_revision >= revision:
        raise InvalidRequest(
            f"{message.base_revision} is not below revision {revision}", field="base_revision"
        )
    return message.base_revision


def _decode_upserts(message: pb.SnapshotUpdate) -> dict[str, tuple[Any, ...]]:
    upserts: dict[str, tuple[Any, ...]] = {
        "shapes": each("shapes", message.shapes, decode_pod_shape),
        "nodes": each("nodes", message.nodes, decode_node),
        "nodeclaims": each("nodeclaims", message.nodeclaims, decode_nodeclaim),
        "nodepools": each("nodepools", message.nodepools, decode_nodepool),
        "catalogues": each("catalogues", message.catalogues, decode_catalogue),
        "daemonsets": each("daemonsets", message.daemonsets, decode_daemonset),
        "pod_disruption_budgets": each(
            "pod_disruption_budgets", message.pod_disruption_budgets, decode_pod_disruption_budget
        ),
        "namespaces": each("namespaces", message.namespaces, decode_namespace),
        "buffers": each("buffers", message.buffers, decode_capacity_buffer),
        "gangs": each("gangs", message.gangs, decode_gang),
        "overlays": each("overlays", message.overlays, decode_node_overlay),
        "observed_allocatable": each(
            "observed_allocatable", message.observed_allocatable, decode_observed_allocatable
        ),
        "device_pools": each("device_pools", message.device_pools, decode_device_pool),
        "device_classes": each("device_classes", message.device_classes, decode_device_class),
        "volume_kinds": each("volume_kinds", message.volume_kinds, decode_volume_kind),
        "set_aside": each("set_aside", message.set_aside, decode_set_aside),
    }
    return {name: unique(name, items, KEYS[name]) for name, items in upserts.items()}


def _encode_upserts(message: pb.SnapshotUpdate, upserts: Mapping[str, Iterable[Any]]) -> None:
    write_pod_shapes(message.shapes, upserts["shapes"])
    message.nodes.extend(map(encode_node, upserts["nodes"]))
    message.nodeclaims.extend(map(encode_nodeclaim, upserts["nodeclaims"]))
    message.nodepools.extend(map(encode_nodepool, upserts["nodepools"]))
    message.catalogues.extend(map(encode_catalogue, upserts["catalogues"]))
    message.daemonsets.extend(map(encode_daemonset, upserts["daemonsets"]))
    message.pod_disruption_budgets.extend(
        map(encode_pod_disruption_budget, upserts["pod_disruption_budgets"])
    )
    message.namespaces.extend(map(encode_namespace, upserts["namespaces"]))
    message.buffers.extend(map(encode_capacity_buffer, upserts["buffers"]))
    message.gangs.extend(map(encode_gang, upserts["gangs"]))
    message.overlays.extend(map(encode_node_overlay, upserts["overlays"]))
    message.observed_allocatable.extend(
        map(encode_observed_allocatable, upserts["observed_allocatable"])
    )
    message.device_pools.extend(map(encode_device_pool, upserts["device_pools"]))
    message.device_classes.extend(map(encode_device_class, upserts["device_classes"]))
    message.volume_kinds.extend(map(encode_volume_kind, upserts["volume_kinds"]))
    message.set_aside.extend(map(encode_set_aside, upserts["set_aside"]))


def _decode_removals(message: pb.SnapshotUpdate) -> dict[str, tuple[Any, ...]]:
    return {
        "shapes": tuple(message.removed_shapes),
        "nodes": tuple(message.removed_nodes),
        "nodeclaims": tuple(message.removed_nodeclaims),
        "nodepools": tuple(message.removed_nodepools),
        "catalogues": tuple(message.removed_catalogues),
        "daemonsets": tuple(message.removed_daemonsets),
        "pod_disruption_budgets": tuple(message.removed_pod_disruption_budgets),
        "namespaces": tuple(message.removed_namespaces),
        "buffers": tuple(message.removed_buffers),
        "gangs": tuple(message.removed_gangs),
        "overlays": tuple(message.removed_overlays),
        "observed_allocatable": tuple(message.removed_observed_allocatable),
        "device_pools": tuple(message.removed_device_pools),
        "device_classes": tuple(message.removed_device_classes),
        "volume_kinds": tuple(message.removed_volume_kinds),
        "set_aside": tuple(message.removed_set_aside),
    }


def _encode_removals(message: pb.SnapshotUpdate, removals: Mapping[str, Iterable[Any]]) -> None:
    message.removed_shapes.extend(removals["shapes"])
    message.removed_nodes.extend(removals["nodes"])
    message.removed_nodeclaims.extend(removals["nodeclaims"])
    message.removed_nodepools.extend(removals["nodepools"])
    message.removed_catalogues.extend(removals["catalogues"])
    message.removed_daemonsets.extend(removals["daemonsets"])
    message.removed_pod_disruption_budgets.extend(removals["pod_disruption_budgets"])
    message.removed_namespaces.extend(removals["namespaces"])
    message.removed_buffers.extend(removals["buffers"])
    message.removed_gangs.extend(removals["gangs"])
    message.removed_overlays.extend(removals["overlays"])
    message.removed_observed_allocatable.extend(removals["observed_allocatable"])
    message.removed_device_pools.extend(removals["device_pools"])
    message.removed_device_classes.extend(removals["device_classes"])
    message.removed_volume_kinds.extend(removals["volume_kinds"])
    message.removed_set_aside.extend(removals["set_aside"])


def _sorted_upserts(name: str, update: SnapshotUpdate) -> list[Any]:
    return sorted(update.upserts.get(name, ()), key=KEYS[name])


_RESULTS = {
    pb.PushSnapshotsResponse.RESULT_HELD: PushResult.HELD,
    pb.PushSnapshotsResponse.RESULT_NEEDS_FULL: PushResult.NEEDS_FULL,
    pb.PushSnapshotsResponse.RESULT_SUPERSEDED: PushResult.SUPERSEDED,
}
_RESULT_NUMBERS = inverted(_RESULTS)
