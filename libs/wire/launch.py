"""Mirrors what `provider/v1/provider.proto` says of instances: launches and their outcomes."""

from joiner.provider.v1 import provider_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.provider import (
    ClaimLaunch,
    Instance,
    LaunchBatch,
    LaunchFailure,
    LaunchFailureKind,
    LaunchOutcome,
    LaunchSpec,
)
from libs.wire.field import at, each, inverted, require, unique
from libs.wire.instant import decode_instant, encode_instant
from libs.wire.node_class import decode_node_class, encode_node_class
from libs.wire.requirement import (
    decode_labels,
    decode_requirements,
    encode_labels,
    encode_requirements,
)
from libs.wire.resources import decode_resources, encode_resources
from libs.wire.taint import decode_taint, encode_taint


def decode_launch_batch(message: pb.CreateRequest) -> LaunchBatch:
    """Return the batch, claims sorted by name."""
    require(message, "batch_id", "spec", "claims")
    claims = each("claims", message.claims, _decode_claim)
    return LaunchBatch(
        batch_id=message.batch_id,
        spec=at("spec", message.spec, _decode_spec),
        claims=unique("claims", claims, lambda claim: claim.name),
    )


def encode_launch_batch(batch: LaunchBatch) -> pb.CreateRequest:
    """Return the message, claims sorted by name."""
    return pb.CreateRequest(
        batch_id=batch.batch_id,
        spec=_encode_spec(batch.spec),
        claims=[pb.ClaimLaunch(name=claim.name, uid=claim.uid) for claim in sorted(batch.claims)],
    )


def decode_launch_outcomes(message: pb.CreateResponse) -> tuple[LaunchOutcome, ...]:
    """Return the outcomes, sorted by claim."""
    outcomes = each("outcomes", message.outcomes, _decode_outcome)
    return unique("outcomes", outcomes, lambda outcome: outcome.nodeclaim)


def encode_launch_outcomes(outcomes: tuple[LaunchOutcome, ...]) -> pb.CreateResponse:
    """Return the message, sorted by claim."""
    ordered = sorted(outcomes, key=lambda outcome: outcome.nodeclaim)
    return pb.CreateResponse(outcomes=map(_encode_outcome, ordered))


def decode_instance(message: pb.Instance) -> Instance:
    """Return the instance."""
    require(message, "provider_id", "launched_at")
    return Instance(
        provider_id=message.provider_id,
        nodeclaim=message.nodeclaim,
        nodeclaim_uid=message.nodeclaim_uid,
        image_id=message.image_id,
        labels=decode_labels("labels", message.labels),
        annotations=decode_labels("annotations", message.annotations),
        capacity=at("capacity", message.capacity, decode_resources),
        allocatable=at("allocatable", message.allocatable, decode_resources),
        launched_at=at("launched_at", message.launched_at, decode_instant),
        terminating=message.terminating,
    )


def encode_instance(instance: Instance) -> pb.Instance:
    """Return the message."""
    return pb.Instance(
        provider_id=instance.provider_id,
        nodeclaim=instance.nodeclaim,
        nodeclaim_uid=instance.nodeclaim_uid,
        image_id=instance.image_id,
        labels=encode_labels(instance.labels),
        annotations=encode_labels(instance.annotations),
        capacity=encode_resources(instance.capacity),
        allocatable=encode_resources(instance.allocatable),
        launched_at=encode_instant(instance.launched_at),
        terminating=instance.terminating,
    )


def decode_instances(message: pb.ListResponse) -> tuple[Instance, ...]:
    """Return all instances, sorted by provider id."""
    instances = each("instances", message.instances, decode_instance)
    return unique("instances", instances, lambda instance: instance.provider_id)


def encode_instances(instances: tuple[Instance, ...]) -> pb.ListResponse:
    """Return the message, sorted by provider id."""
    ordered = sorted(instances, key=lambda instance: instance.provider_id)
    return pb.ListResponse(instances=map(encode_instance, ordered))


def _decode_spec(message: pb.LaunchSpec) -> LaunchSpec:
    require(message, "node_class")
    return LaunchSpec(
        node_class=at("node_class", message.node_class, decode_node_class),
        requirements=at("requirements", message.requirements, decode_requirements),
        requests=at("requests", message.requests, decode_resources),
        labels=decode_labels("labels", message.labels),
        annotations=decode_labels("annotations", message.annotations),
        taints=each("taints", message.taints, decode_taint),
        startup_taints=each("startup_taints", message.startup_taints, decode_taint),
        nodepool=message.nodepool,
    )


def _encode_spec(spec: LaunchSpec) -> pb.LaunchSpec:
    return pb.LaunchSpec(
        node_class=encode_node_class(spec.node_class),
        requirements=encode_requirements(spec.requirements),
        requests=encode_resources(spec.requests),
        labels=encode_labels(spec.labels),
        annotations=encode_labels(spec.annotations),
        taints=map(encode_taint, spec.taints),
        startup_taints=map(encode_taint, spec.startup_taints),
        nodepool=spec.nodepool,
    )


def _decode_claim(message: pb.ClaimLaunch) -> ClaimLaunch:
    require(message, "name", "uid")
    return ClaimLaunch(name=message.name, uid=message.uid)


def _decode_outcome(message: pb.LaunchOutcome) -> LaunchOutcome:
    require(message, "nodeclaim")
    return LaunchOutcome(nodeclaim=message.nodeclaim, result=_decode_result(message))


def _decode_result(message: pb.LaunchOutcome) -> Instance | LaunchFailure:
    match message.WhichOneof("outcome"):
        case "instance":
            return at("instance", message.instance, decode_instance)
        case "failure":
            return _decode_failure(message.failure)
        case _:
            raise InvalidRequest("either instance or failure is required", field="outcome")


def _encode_outcome(outcome: LaunchOutcome) -> pb.LaunchOutcome:
    result = outcome.result
    if isinstance(result, Instance):
        return pb.LaunchOutcome(nodeclaim=outcome.nodeclaim, instance=encode_instance(result))
    failure = pb.LaunchFailure(
        kind=_KIND_NUMBERS[result.kind], reason=result.reason, message=result.message
    )
    return pb.LaunchOutcome(nodeclaim=outcome.nodeclaim, failure=failure)


def _decode_failure(message: pb.LaunchFailure) -> LaunchFailure:
    return LaunchFailure(
        kind=_KINDS.get(message.kind, LaunchFailureKind.OTHER),
        reason=message.reason,
        message=message.message,
    )


_KINDS = {
    pb.LaunchFailure.KIND_UNSPECIFIED: LaunchFailureKind.OTHER,
    pb.LaunchFailure.KIND_INSUFFICIENT_CAPACITY: LaunchFailureKind.INSUFFICIENT_CAPACITY,
    pb.LaunchFailure.KIND_NODE_CLASS_NOT_READY: LaunchFailureKind.NODE_CLASS_NOT_READY,
    pb.LaunchFailure.KIND_CREATE_ERROR: LaunchFailureKind.CREATE_ERROR,
    pb.LaunchFailure.KIND_OTHER: LaunchFailureKind.OTHER,
}
_KIND_NUMBERS = inverted(_KINDS)
