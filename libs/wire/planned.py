"""Mirrors claims to create, and what they may be bought as, in `model/v1/plan.proto`.

Apart from `plan.py` because commands and explanations tell of single claims, too. Those state what
they may be bought as themselves; the thousands of a plan, which mostly are alike in it, refer to
lists that the plan states once.

Laws:
    - Claims that are equal but for their pods have one list, whether or not they share objects.
    - What was shared on the wire is shared after decoding, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from joiner.model.v1 import plan_pb2 as pb
from joiner.model.v1 import resources_pb2

from libs.domain.errors import InvalidRequest
from libs.domain.plan import LaunchOption, PlannedNodeClaim
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.wire.field import at, each, require, within
from libs.wire.requirement import (
    Labels,
    decode_labels,
    decode_requirements,
    encode_labels,
    encode_requirements,
)
from libs.wire.resources import decode_resources, encode_resources

_MOST_TYPES = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class _LaunchList:
    """What a claim may be bought as."""

    requirements: Requirements
    instance_types: tuple[str, ...]
    cheapest: LaunchOption
    labels: Labels
    annotations: Labels


def decode_planned_nodeclaims(message: pb.Plan) -> tuple[PlannedNodeClaim, ...]:
    """Return the claims of a plan in their order on the wire."""
    lists = each("launch_lists", message.launch_lists, _decode_launch_list)
    known: dict[bytes, Resources] = {}

    def decode(claim: pb.PlannedNodeClaim) -> PlannedNodeClaim:
        content = claim.requests.SerializeToString(deterministic=True)
        requests = known.get(content)
        if requests is None:
            requests = known[content] = at("requests", claim.requests, decode_resources)
        return _decode(claim, requests, _launch_list(claim, lists))

    return each("nodeclaims", message.nodeclaims, decode)


def add_planned_nodeclaims(plan: pb.Plan, claims: Sequence[PlannedNodeClaim]) -> None:
    """Put claims, in this order, into an encoded plan, with the lists that they refer to."""
    lists = plan.launch_lists
    # By identity, too: the content of a list is long, and thousands of claims share its objects.
    by_identity: dict[tuple[int, ...], int] = {}
    by_content: dict[tuple[object, ...], int] = {}
    amounts: dict[int, resources_pb2.Resources] = {}

    def position(claim: PlannedNodeClaim) -> int:
        stated = _stated(claim)
        identity = tuple(map(id, stated))
        found = by_identity.get(identity)
        if found is None:
            found = by_identity[identity] = by_content.setdefault(stated, len(lists))
            if found == len(lists):
                lists.add(**_encode_stated(claim))
        return found

    for claim in claims:
        requests = amounts.get(id(claim.requests))
        if requests is None:
            requests = amounts[id(claim.requests)] = encode_resources(claim.requests)
        plan.nodeclaims.add(**_encode(claim, requests), launch_list=position(claim))


def state_launch_lists(plan: pb.Plan) -> None:
    """Let every claim of an encoded plan state itself what it may be bought as, for people."""
    for claim in plan.nodeclaims:
        if claim.HasField("launch_list"):
            stated = plan.launch_lists[claim.launch_list]
            claim.requirements.CopyFrom(stated.requirements)
            claim.instance_types.extend(stated.instance_types)
            claim.cheapest.CopyFrom(stated.cheapest)
            claim.labels.extend(stated.labels)
            claim.annotations.extend(stated.annotations)
            claim.ClearField("launch_list")
    plan.ClearField("launch_lists")


def decode_planned_nodeclaim(message: pb.PlannedNodeClaim) -> PlannedNodeClaim:
    """Return a claim outside of a plan."""
    requests = at("requests", message.requests, decode_resources)
    return _decode(message, requests, _launch_list(message, ()))


def encode_planned_nodeclaim(claim: PlannedNodeClaim) -> pb.PlannedNodeClaim:
    """Return the message, which states what the claim may be bought as."""
    requests = encode_resources(claim.requests)
    return pb.PlannedNodeClaim(**_encode(claim, requests), **_encode_stated(claim))


def decode_launch_option(message: pb.LaunchOption) -> LaunchOption:
    """Return the option."""
    require(message, "instance_type", "zone", "capacity_type")
    return LaunchOption(
        instance_type=message.instance_type,
        zone=message.zone,
        capacity_type=message.capacity_type,
        price_nanos_per_hour=within("price_nanos_per_hour", message.price_nanos_per_hour, 0),
    )


def encode_launch_option(option: LaunchOption) -> pb.LaunchOption:
    """Return the message."""
    return pb.LaunchOption(
        instance_type=option.instance_type,
        zone=option.zone,
        capacity_type=option.capacity_type,
        price_nanos_per_hour=option.price_nanos_per_hour,
    )


def _decode(
    message: pb.PlannedNodeClaim, requests: Resources, stated: _LaunchList
) -> PlannedNodeClaim:
    require(message, "nodepool")
    return PlannedNodeClaim(
        index=message.index,
        nodepool=message.nodepool,
        nodepool_uid=message.nodepool_uid,
        nodepool_hash=message.nodepool_hash,
        requirements=stated.requirements,
        requests=requests,
        instance_types=stated.instance_types,
        cheapest=stated.cheapest,
        pod_uids=tuple(sorted(message.pod_uids)),
        labels=stated.labels,
        annotations=stated.annotations,
    )


def _encode(claim: PlannedNodeClaim, requests: resources_pb2.Resources) -> dict[str, Any]:
    """Return the fields that every claim states itself."""
    return {
        "index": claim.index,
        "nodepool": claim.nodepool,
        "nodepool_uid": claim.nodepool_uid,
        "nodepool_hash": claim.nodepool_hash,
        "requests": requests,
        "pod_uids": sorted(claim.pod_uids),
    }


def _launch_list(message: pb.PlannedNodeClaim, lists: tuple[_LaunchList, ...]) -> _LaunchList:
    """Return what the claim refers to or states; both at once would leave it open what counts."""
    if not message.HasField("launch_list"):
        return _decode_launch_list(message)
    if message.HasField("cheapest") or message.instance_types:
        raise InvalidRequest("is stated beside launch_list", field="cheapest")
    if message.launch_list >= len(lists):
        raise InvalidRequest(f"there is no list {message.launch_list}", field="launch_list")
    return lists[message.launch_list]


def _decode_launch_list(message: pb.LaunchList | pb.PlannedNodeClaim) -> _LaunchList:
    require(message, "cheapest")
    within("instance_types", len(message.instance_types), 0, _MOST_TYPES)
    return _LaunchList(
        requirements=at("requirements", message.requirements, decode_requirements),
        instance_types=tuple(message.instance_types),
        cheapest=at("cheapest", message.cheapest, decode_launch_option),
        labels=decode_labels("labels", message.labels),
        annotations=decode_labels("annotations", message.annotations),
    )


def _stated(claim: PlannedNodeClaim) -> tuple[object, ...]:
    return (
        claim.requirements,
        claim.instance_types,
        claim.cheapest,
        claim.labels,
        claim.annotations,
    )


def _encode_stated(claim: PlannedNodeClaim) -> dict[str, Any]:
    """Return the fields that a launch list and a claim have in common."""
    return {
        "requirements": encode_requirements(claim.requirements),
        "instance_types": claim.instance_types,
        "cheapest": encode_launch_option(claim.cheapest),
        "labels": encode_labels(claim.labels),
        "annotations": encode_labels(claim.annotations),
    }
