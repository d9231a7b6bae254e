"""Mirrors `model/v1/workload.proto`."""

from joiner.model.v1 import workload_pb2 as pb

from libs.domain.objective import PPM
from libs.domain.workload import (
    CapacityBuffer,
    DaemonSet,
    Gang,
    Namespace,
    NodeOverlay,
    PodDisruptionBudget,
    SetAside,
)
from libs.wire.field import at, optional, require, within
from libs.wire.instant import decode_instant, encode_instant
from libs.wire.requirement import (
    decode_label_selector,
    decode_labels,
    decode_requirements,
    encode_label_selector,
    encode_labels,
    encode_requirements,
)
from libs.wire.resources import decode_resources, encode_resources


def decode_daemonset(message: pb.DaemonSet) -> DaemonSet:
    """Return the daemon set."""
    require(message, "namespace", "name", "uid")
    return DaemonSet(
        namespace=message.namespace, name=message.name, uid=message.uid, shape=message.shape
    )


def encode_daemonset(daemonset: DaemonSet) -> pb.DaemonSet:
    """Return the message."""
    return pb.DaemonSet(
        namespace=daemonset.namespace,
        name=daemonset.name,
        uid=daemonset.uid,
        shape=daemonset.shape,
    )


def decode_pod_disruption_budget(message: pb.PodDisruptionBudget) -> PodDisruptionBudget:
    """Return the budget."""
    require(message, "namespace", "name", "uid")
    return PodDisruptionBudget(
        namespace=message.namespace,
        name=message.name,
        uid=message.uid,
        selector=optional(message, "selector", decode_label_selector),
        disruptions_allowed=within("disruptions_allowed", message.disruptions_allowed, 0),
        evicts_unhealthy_always=message.evicts_unhealthy_always,
        never_satisfiable=message.never_satisfiable,
    )


def encode_pod_disruption_budget(budget: PodDisruptionBudget) -> pb.PodDisruptionBudget:
    """Return the message."""
    return pb.PodDisruptionBudget(
        namespace=budget.namespace,
        name=budget.name,
        uid=budget.uid,
        selector=encode_label_selector(budget.selector),
        disruptions_allowed=budget.disruptions_allowed,
        evicts_unhealthy_always=budget.evicts_unhealthy_always,
        never_satisfiable=budget.never_satisfiable,
    )


def decode_namespace(message: pb.Namespace) -> Namespace:
    """Return the namespace."""
    require(message, "name")
    return Namespace(name=message.name, labels=decode_labels("labels", message.labels))


def encode_namespace(namespace: Namespace) -> pb.Namespace:
    """Return the message."""
    return pb.Namespace(name=namespace.name, labels=encode_labels(namespace.labels))


def decode_capacity_buffer(message: pb.CapacityBuffer) -> CapacityBuffer:
    """Return the buffer."""
    require(message, "namespace", "name", "uid")
    return CapacityBuffer(
        namespace=message.namespace,
        name=message.name,
        uid=message.uid,
        shape=message.shape,
        replicas=within("replicas", message.replicas, 0),
        problem=message.problem,
    )


def encode_capacity_buffer(buffer: CapacityBuffer) -> pb.CapacityBuffer:
    """Return the message."""
    return pb.CapacityBuffer(
        namespace=buffer.namespace,
        name=buffer.name,
        uid=buffer.uid,
        shape=buffer.shape,
        replicas=buffer.replicas,
        problem=buffer.problem,
    )


def decode_gang(message: pb.Gang) -> Gang:
    """Return the gang."""
    require(message, "namespace", "name")
    return Gang(
        namespace=message.namespace,
        name=message.name,
        min_members=within("min_members", message.min_members, 0),
        existing_only=message.existing_only,
    )


def encode_gang(gang: Gang) -> pb.Gang:
    """Return the message."""
    return pb.Gang(
        namespace=gang.namespace,
        name=gang.name,
        min_members=gang.min_members,
        existing_only=gang.existing_only,
    )


def decode_node_overlay(message: pb.NodeOverlay) -> NodeOverlay:
    """Return the overlay."""
    require(message, "name", "uid")
    price = message.WhichOneof("price")
    return NodeOverlay(
        name=message.name,
        uid=message.uid,
        weight=within("weight", message.weight, 0),
        requirements=at("requirements", message.requirements, decode_requirements),
        price_nanos_per_hour=(
            within("price_nanos_per_hour", message.price_nanos_per_hour, 0)
            if price == "price_nanos_per_hour"
            else None
        ),
        price_delta_nanos_per_hour=(
            message.price_delta_nanos_per_hour if price == "price_delta_nanos_per_hour" else None
        ),
        price_delta_ppm=(
            within("price_delta_ppm", message.price_delta_ppm, -PPM)
            if price == "price_delta_ppm"
            else None
        ),
        capacity=at("capacity", message.capacity, decode_resources),
    )


def encode_node_overlay(overlay: NodeOverlay) -> pb.NodeOverlay:
    """Return the message."""
    message = pb.NodeOverlay(
        name=overlay.name,
        uid=overlay.uid,
        weight=overlay.weight,
        requirements=encode_requirements(overlay.requirements),
        capacity=encode_resources(overlay.capacity),
    )
    if overlay.price_nanos_per_hour is not None:
        message.price_nanos_per_hour = overlay.price_nanos_per_hour
    elif overlay.price_delta_nanos_per_hour is not None:
        message.price_delta_nanos_per_hour = overlay.price_delta_nanos_per_hour
    elif overlay.price_delta_ppm is not None:
        message.price_delta_ppm = overlay.price_delta_ppm
    return message


def decode_set_aside(message: pb.SetAside) -> SetAside:
    """Return what was left out, and why."""
    require(message, "kind", "name", "since")
    return SetAside(
        kind=message.kind,
        namespace=message.namespace,
        name=message.name,
        field=message.field,
        message=message.message,
        since=at("since", message.since, decode_instant),
        gang=message.gang,
    )


def encode_set_aside(item: SetAside) -> pb.SetAside:
    """Return the message."""
    return pb.SetAside(
        kind=item.kind,
        namespace=item.namespace,
        name=item.name,
        field=item.field,
        message=item.message,
        since=encode_instant(item.since),
        gang=item.gang,
    )
