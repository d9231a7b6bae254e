"""Mirrors `model/v1/node.proto`."""

from joiner.model.v1 import node_pb2 as pb

from libs.domain.node import Node
from libs.wire.field import at, each, optional, require
from libs.wire.instant import decode_instant, encode_instant
from libs.wire.pod import decode_volume_attach_count, encode_volume_attach_count
from libs.wire.requirement import decode_labels, encode_labels
from libs.wire.resources import decode_resources, encode_resources
from libs.wire.taint import decode_taint, encode_taint


def decode_node(message: pb.Node) -> Node:
    """Return the node."""
    require(message, "name", "uid", "created_at")
    return Node(
        name=message.name,
        uid=message.uid,
        provider_id=message.provider_id,
        nodeclaim=message.nodeclaim,
        labels=decode_labels("labels", message.labels),
        taints=each("taints", message.taints, decode_taint),
        unschedulable=message.unschedulable,
        capacity=at("capacity", message.capacity, decode_resources),
        allocatable=at("allocatable", message.allocatable, decode_resources),
        ready=message.ready,
        registered=message.registered,
        initialized=message.initialized,
        do_not_disrupt=message.do_not_disrupt,
        leaving=message.leaving,
        volume_limits=each("volume_limits", message.volume_limits, decode_volume_attach_count),
        migrated_labels=tuple(sorted(message.migrated_labels)),
        declared_features=tuple(sorted(message.declared_features)),
        created_at=at("created_at", message.created_at, decode_instant),
        nominated_until=optional(message, "nominated_until", decode_instant),
    )


def encode_node(node: Node) -> pb.Node:
    """Return the message."""
    return pb.Node(
        name=node.name,
        uid=node.uid,
        provider_id=node.provider_id,
        nodeclaim=node.nodeclaim,
        labels=encode_labels(node.labels),
        taints=map(encode_taint, node.taints),
        unschedulable=node.unschedulable,
        capacity=encode_resources(node.capacity),
        allocatable=encode_resources(node.allocatable),
        ready=node.ready,
        registered=node.registered,
        initialized=node.initialized,
        do_not_disrupt=node.do_not_disrupt,
        leaving=node.leaving,
        volume_limits=map(encode_volume_attach_count, node.volume_limits),
        migrated_labels=node.migrated_labels,
        declared_features=node.declared_features,
        created_at=encode_instant(node.created_at),
        nominated_until=encode_instant(node.nominated_until),
    )
