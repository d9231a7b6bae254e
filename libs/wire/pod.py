"""Mirrors the shapes of `model/v1/pod.proto`; rows are in `pod_table.py`."""

from collections.abc import Iterable
from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from joiner.model.v1 import pod_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.pod import (
    ExclusiveDisk,
    HostPort,
    NodeTerm,
    PodShape,
    RequestField,
    SharedVolume,
    StorageRoom,
    VolumeAttachCount,
)
from libs.domain.requirements import Requirements
from libs.wire.device import decode_device_claim, encode_device_claim
from libs.wire.field import at, by_content, each, encoded_once, require, some, within
from libs.wire.requirement import (
    decode_labels,
    decode_requirements,
    encode_labels,
    encode_requirements,
)
from libs.wire.resources import decode_requests, encode_resources
from libs.wire.taint import decode_toleration, encode_toleration
from libs.wire.topology import (
    decode_pod_affinity_term,
    decode_preferred_node_term,
    decode_topology_spread,
    decode_weighted_pod_affinity_term,
    encode_pod_affinity_term,
    encode_preferred_node_term,
    encode_topology_spread,
    encode_weighted_pod_affinity_term,
)
from libs.wire.volume import decode_unbound_claim, encode_unbound_claim

if TYPE_CHECKING:
    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer

_PROTOCOLS = frozenset({"TCP", "UDP", "SCTP"})
_LAST_PORT = 65_535


def decode_pod_shape(message: pb.PodShape) -> PodShape:
    """Return the shape; with others that differ in requests only it shares all that is equal."""
    rules = pb.PodShape()
    rules.CopyFrom(message)
    rules.ClearField("id")
    rules.ClearField("requests")
    rules.ClearField("request_fields")
    return PodShape(
        id=message.id,
        requests=at("requests", message.requests, decode_requests),
        request_fields=each("request_fields", message.request_fields, _decode_request_field),
        **_decode_rules(rules),
    )


@by_content
def _decode_rules(message: pb.PodShape) -> dict[str, Any]:
    """Return the other fields of a shape, of which thousands may be equal."""
    require(message, "namespace")
    return {
        "namespace": message.namespace,
        "labels": decode_labels("labels", message.labels),
        "node_selector": at("node_selector", message.node_selector, decode_requirements),
        "required_node_terms": each(
            "required_node_terms", message.required_node_terms, _decode_node_term
        ),
        "preferred_node_terms": each(
            "preferred_node_terms", message.preferred_node_terms, decode_preferred_node_term
        ),
        "tolerations": each("tolerations", message.tolerations, decode_toleration),
        "host_ports": each("host_ports", message.host_ports, _decode_host_port),
        "topology_spread": each("topology_spread", message.topology_spread, decode_topology_spread),
        "affinity": each("affinity", message.affinity, decode_pod_affinity_term),
        "anti_affinity": each("anti_affinity", message.anti_affinity, decode_pod_affinity_term),
        "preferred_affinity": each(
            "preferred_affinity", message.preferred_affinity, decode_weighted_pod_affinity_term
        ),
        "preferred_anti_affinity": each(
            "preferred_anti_affinity",
            message.preferred_anti_affinity,
            decode_weighted_pod_affinity_term,
        ),
        "volumes": each("volumes", message.volumes, _decode_volume),
        "volume_attach_counts": each(
            "volume_attach_counts", message.volume_attach_counts, decode_volume_attach_count
        ),
        "device_claims": each("device_claims", message.device_claims, decode_device_claim),
        "shared_volumes": each("shared_volumes", message.shared_volumes, _decode_shared_volume),
        "exclusive_disks": each("exclusive_disks", message.exclusive_disks, _decode_exclusive_disk),
        "storage_rooms": each("storage_rooms", message.storage_rooms, _decode_storage_room),
        "unbound_claims": each("unbound_claims", message.unbound_claims, decode_unbound_claim),
        "required_features": tuple(sorted(message.required_features)),
    }


def encode_pod_shape(shape: PodShape) -> pb.PodShape:
    """Return the message."""
    message = _encode_rules(shape)
    _write_own(message, shape)
    return message


def write_pod_shapes(
    messages: "RepeatedCompositeFieldContainer[pb.PodShape]", shapes: Iterable[PodShape]
) -> None:
    """Encode many, of which most differ from others in what they request alone."""
    known: dict[tuple[object, ...], pb.PodShape] = {}
    for shape in shapes:
        # By identity, as far as they were made of one another: their labels were not.
        name = (shape.labels, *map(id, _shared_rules(shape)))
        rules = known.get(name)
        if rules is None:
            rules = known[name] = _encode_rules(shape)
        message = messages.add()
        message.CopyFrom(rules)
        _write_own(message, shape)


_OWN = ("id", "requests", "request_fields", "labels")
_shared_rules = attrgetter(*(one.name for one in fields(PodShape) if one.name not in _OWN))


def _write_own(message: pb.PodShape, shape: PodShape) -> None:
    """Encode what even shapes with the same rules differ in."""
    message.id = shape.id
    message.requests.CopyFrom(encode_resources(shape.requests))
    message.requests.SetInParent()  # even where nothing is asked for
    message.request_fields.extend(map(_encode_request_field, shape.request_fields))


def _encode_rules(shape: PodShape) -> pb.PodShape:
    return pb.PodShape(
        namespace=shape.namespace,
        labels=encode_labels(shape.labels),
        node_selector=encode_requirements(shape.node_selector),
        required_node_terms=some(_encode_node_term, shape.required_node_terms),
        preferred_node_terms=some(encode_preferred_node_term, shape.preferred_node_terms),
        tolerations=some(encode_toleration, shape.tolerations),
        host_ports=some(_encode_host_port, shape.host_ports),
        topology_spread=some(encode_topology_spread, shape.topology_spread),
        affinity=some(encode_pod_affinity_term, shape.affinity),
        anti_affinity=some(encode_pod_affinity_term, shape.anti_affinity),
        preferred_affinity=some(encode_weighted_pod_affinity_term, shape.preferred_affinity),
        preferred_anti_affinity=some(
            encode_weighted_pod_affinity_term, shape.preferred_anti_affinity
        ),
        volumes=some(_encode_volume, shape.volumes),
        volume_attach_counts=some(encode_volume_attach_count, shape.volume_attach_counts),
        device_claims=some(encode_device_claim, shape.device_claims),
        shared_volumes=some(_encode_shared_volume, shape.shared_volumes),
        exclusive_disks=some(_encode_exclusive_disk, shape.exclusive_disks),
        storage_rooms=some(_encode_storage_room, shape.storage_rooms),
        unbound_claims=some(encode_unbound_claim, shape.unbound_claims),
        required_features=shape.required_features or None,
    )


def decode_volume_attach_count(message: pb.VolumeAttachCount) -> VolumeAttachCount:
    """Return the count of one driver; zero is a node's way to say that it attaches none."""
    require(message, "driver")
    return VolumeAttachCount(driver=message.driver, count=within("count", message.count, 0))


def encode_volume_attach_count(count: VolumeAttachCount) -> pb.VolumeAttachCount:
    """Return the message."""
    return pb.VolumeAttachCount(driver=count.driver, count=count.count)


@by_content
def _decode_request_field(message: pb.RequestField) -> RequestField:
    require(message, "resource", "field")
    return RequestField(
        resource=message.resource,
        field=message.field,
        amount=within("amount", message.amount, 0),
        without=within("without", message.without, 0),
    )


@encoded_once
def _encode_request_field(one: RequestField) -> pb.RequestField:
    return pb.RequestField(
        resource=one.resource, field=one.field, amount=one.amount, without=one.without
    )


@by_content
def _decode_node_term(message: pb.NodeTerm) -> NodeTerm:
    return NodeTerm(
        requirements=at("requirements", message.requirements, decode_requirements),
        node_names=tuple(sorted(message.node_names)),
        excluded_node_names=tuple(sorted(message.excluded_node_names)),
    )


@encoded_once
def _encode_node_term(term: NodeTerm) -> pb.NodeTerm:
    return pb.NodeTerm(
        requirements=encode_requirements(term.requirements),
        node_names=sorted(term.node_names),
        excluded_node_names=sorted(term.excluded_node_names),
    )


def _decode_host_port(message: pb.HostPort) -> HostPort:
    require(message, "ip")
    if message.protocol not in _PROTOCOLS:
        raise InvalidRequest(f"{message.protocol!r} is not TCP, UDP or SCTP", field="protocol")
    port = within("port", message.port, 1, _LAST_PORT)
    return HostPort(ip=message.ip, protocol=message.protocol, port=port)


def _encode_host_port(port: HostPort) -> pb.HostPort:
    return pb.HostPort(ip=port.ip, protocol=port.protocol, port=port.port)


def _decode_volume(message: pb.VolumeTopology) -> tuple[Requirements, ...]:
    require(message, "alternatives")
    return each("alternatives", message.alternatives, decode_requirements)


def _decode_shared_volume(message: pb.SharedVolume) -> SharedVolume:
    require(message, "claim")
    return SharedVolume(
        claim=message.claim,
        driver=message.driver,
        exclusive=message.exclusive,
        topology_key=message.topology_key,
    )


def _encode_shared_volume(volume: SharedVolume) -> pb.SharedVolume:
    return pb.SharedVolume(
        claim=volume.claim,
        driver=volume.driver,
        exclusive=volume.exclusive,
        topology_key=volume.topology_key,
    )


def _encode_volume(alternatives: tuple[Requirements, ...]) -> pb.VolumeTopology:
    return pb.VolumeTopology(alternatives=map(encode_requirements, alternatives))


def _decode_exclusive_disk(message: pb.ExclusiveDisk) -> ExclusiveDisk:
    require(message, "disk")
    return ExclusiveDisk(disk=message.disk, read_only=message.read_only)


def _encode_exclusive_disk(disk: ExclusiveDisk) -> pb.ExclusiveDisk:
    return pb.ExclusiveDisk(disk=disk.disk, read_only=disk.read_only)


def _decode_storage_room(message: pb.StorageRoom) -> StorageRoom:
    require(message, "storage_class")
    return StorageRoom(
        storage_class=message.storage_class,
        size=within("size_bytes", message.size_bytes, 0),
        published=each("published", message.published, decode_requirements),
        starting=each("starting", message.starting, decode_requirements),
    )


def _encode_storage_room(room: StorageRoom) -> pb.StorageRoom:
    return pb.StorageRoom(
        storage_class=room.storage_class,
        size_bytes=room.size,
        published=map(encode_requirements, room.published),
        starting=map(encode_requirements, room.starting),
    )
