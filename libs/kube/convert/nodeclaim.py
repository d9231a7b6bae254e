"""NodeClaims.

A claim that is only half legible is kept with what could be read: a claim that planning does not
know is bought a second time.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from libs.domain import command_annotation
from libs.domain.capacity import NodeClassRef
from libs.domain.duration import parse_nillable, parse_plain
from libs.domain.errors import InvalidRequest
from libs.domain.labels import NODEPOOL, canonical_labels
from libs.domain.nodeclaim import ClaimCommand, Condition, ConditionStatus, NodeClaim
from libs.domain.requirements import Requirements
from libs.domain.resources import NOTHING, Resources
from libs.kube.convert.node import EPOCH, taints
from libs.kube.convert.selectors import pool_requirements, sorted_pairs
from libs.kube.objects import karpenter as objects
from libs.kube.objects.metadata import Condition as ConditionObject
from libs.kube.objects.metadata import Quantities

UNKNOWN = "unknown"

T = TypeVar("T")


def nodeclaim(claim: objects.NodeClaim) -> tuple[NodeClaim, tuple[InvalidRequest, ...]]:
    """Return the claim, and what could not be read of it; never raises."""
    problems: list[InvalidRequest] = []

    def tried(read: Callable[[], T], otherwise: T) -> T:
        try:
            return read()
        except InvalidRequest as error:
            problems.append(error)
            return otherwise

    def resources(quantities: Quantities, path: str) -> Resources:
        return tried(lambda: Resources.from_allocatable(quantities, field=path), NOTHING)

    metadata, spec, status = claim.metadata, claim.spec, claim.status
    labels = canonical_labels(metadata.labels)
    found = NodeClaim(
        name=metadata.name,
        uid=metadata.uid or metadata.name,
        nodepool=labels.get(NODEPOOL, ""),
        node_class=node_class_ref(spec.node_class_ref),
        labels=sorted_pairs(labels),
        annotations=sorted_pairs(metadata.annotations),
        requirements=tried(
            lambda: pool_requirements(spec.requirements, "spec.requirements"),
            Requirements.from_labels(labels),
        ),
        requests=tried(
            lambda: Resources.from_requests(
                spec.resources.requests, field="spec.resources.requests"
            ),
            NOTHING,
        ),
        taints=tried(lambda: taints(spec.taints, "spec.taints"), ()),
        startup_taints=tried(lambda: taints(spec.startup_taints, "spec.startupTaints"), ()),
        provider_id=status.provider_id,
        node_name=status.node_name,
        capacity=resources(status.capacity, "status.capacity"),
        allocatable=resources(status.allocatable, "status.allocatable"),
        conditions=conditions(status.conditions),
        created_at=metadata.creation_timestamp or EPOCH,
        deleting_at=metadata.deletion_timestamp,
        last_pod_event_at=status.last_pod_event_time,
        expire_after=tried(lambda: expire_after(spec.expire_after), None),
        termination_grace_period=tried(lambda: grace_period(spec.termination_grace_period), None),
        command=tried(lambda: _command(metadata.annotations), None),
    )
    return found, tuple(problems)


def node_class_ref(reference: objects.NodeClassReference) -> NodeClassRef:
    """Return the reference; what it leaves out, which no schema lets in, is called `unknown`."""
    return NodeClassRef(
        group=reference.group or UNKNOWN,
        kind=reference.kind or UNKNOWN,
        name=reference.name or UNKNOWN,
    )


def conditions(given: tuple[ConditionObject, ...]) -> tuple[Condition, ...]:
    """Return the conditions, sorted by type; a status that there is not is Unknown."""
    return tuple(
        Condition(
            type=one.type,
            status=_status(one.status),
            reason=one.reason,
            transitioned_at=one.last_transition_time or EPOCH,
        )
        for one in sorted(given, key=lambda one: one.type)
        if one.type
    )


def expire_after(text: str) -> timedelta | None:
    """Return the age at which a node is replaced by force, None for never.

    Raises:
        InvalidRequest: not a duration.
    """
    try:
        return parse_nillable(text)
    except InvalidRequest as error:
        raise error.under("spec.expireAfter") from None


def grace_period(text: str | None) -> timedelta | None:
    """Return the longest drain, None for no bound.

    Raises:
        InvalidRequest: not a duration.
    """
    try:
        return None if text is None else parse_plain(text)
    except InvalidRequest as error:
        raise error.under("spec.terminationGracePeriod") from None


def _command(annotations: dict[str, str]) -> ClaimCommand | None:
    text = annotations.get(command_annotation.ANNOTATION)
    if text is None:
        return None
    try:
        return command_annotation.decode(text)
    except InvalidRequest as error:
        raise error.under(f"metadata.annotations.{command_annotation.ANNOTATION}") from None


def _status(text: str) -> ConditionStatus:
    try:
        return ConditionStatus(text)
    except ValueError:
        return ConditionStatus.UNKNOWN
