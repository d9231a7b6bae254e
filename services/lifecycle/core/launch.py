"""Launch: what the provider is asked for a claim, and what its answer makes of the claim.

A claim carries the id of its batch before the provider is called, and all claims that carry it are
in the call: whoever repeats it after a crash gets the same instances. An answer that a failure is
final takes the id off, so that the next try is a new launch.

Source: `docs/sources.md` F2, 7.2.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from libs.domain.provider import (
    ClaimLaunch,
    Instance,
    LaunchBatch,
    LaunchFailure,
    LaunchFailureKind,
    LaunchSpec,
    NodeClass,
)
from libs.kube.convert.nodeclaim import nodeclaim
from libs.kube.objects.karpenter import NodeClaim
from services.lifecycle.core import events
from services.lifecycle.core.claim_manifest import PLAN_ANNOTATION
from services.lifecycle.core.claim_writes import (
    deletion,
    disrupted,
    metadata_patch,
    status_patches,
)
from services.lifecycle.core.conditions import ConditionSet
from services.lifecycle.core.step import Step
from services.lifecycle.core.view import ClaimView

BATCH_ANNOTATION = "joiner.io/launch-batch"
"""Idempotency key of the launch that a claim is part of; stored before the provider is called."""

_OUR_OWN = frozenset({BATCH_ANNOTATION, PLAN_ANNOTATION})
"""Bookkeeping that no node needs, and that no two claims share."""

_LAUNCHED = "Launched"
_LONGEST_MESSAGE = 300
_GIVEN_UP = {
    LaunchFailureKind.INSUFFICIENT_CAPACITY: "insufficient_capacity",
    LaunchFailureKind.NODE_CLASS_NOT_READY: "nodeclass_not_ready",
}


def illegible(claim: NodeClaim) -> LaunchFailure | None:
    """Return why a claim is not launched whose spec cannot be read as a whole, None if it can.

    What could not be read may forbid the very instance that the rest allows.
    """
    _, problems = nodeclaim(claim)
    wrong = next((one for one in problems if one.field.startswith("spec.")), None)
    if wrong is None:
        return None
    return LaunchFailure(
        kind=LaunchFailureKind.CREATE_ERROR, reason="SpecInvalid", message=str(wrong)
    )


def spec_of(claim: NodeClaim, node_class: NodeClass) -> LaunchSpec:
    """Return what the provider is asked for; claims with equal ones may share a batch."""
    read, _ = nodeclaim(claim)
    return LaunchSpec(
        node_class=node_class,
        requirements=read.requirements,
        requests=read.requests,
        labels=read.labels,
        annotations=tuple(pair for pair in read.annotations if pair[0] not in _OUR_OWN),
        taints=read.taints,
        startup_taints=read.startup_taints,
        nodepool=read.nodepool,
    )


def batch(batch_id: str, spec: LaunchSpec, claims: tuple[NodeClaim, ...]) -> LaunchBatch:
    """Return the call for all claims that carry the batch id."""
    members = sorted(
        ClaimLaunch(name=claim.metadata.name, uid=claim.metadata.uid) for claim in claims
    )
    return LaunchBatch(batch_id=batch_id, spec=spec, claims=tuple(members))


def outcome(view: ClaimView, conditions: ConditionSet) -> Step:
    """Return what is still to be written of the provider's answer."""
    match view.launched:
        case Instance() as instance:
            return _launched(view, conditions, instance)
        case LaunchFailure() as failure:
            return _failed(view, conditions, failure)
    return Step()


def _launched(view: ClaimView, conditions: ConditionSet, instance: Instance) -> Step:
    claim = view.claim
    labels = _changed({**dict(instance.labels), **claim.metadata.labels}, claim.metadata.labels)
    annotations = _changed(dict(instance.annotations), claim.metadata.annotations)
    if labels or annotations:
        return Step(writes=(metadata_patch(claim, {"labels": labels, "annotations": annotations}),))
    fields: dict[str, Any] = {
        "providerID": instance.provider_id,
        "imageID": instance.image_id,
        "capacity": instance.capacity.to_quantities(),
        "allocatable": instance.allocatable.to_quantities(),
    }
    return Step(writes=status_patches(claim, conditions.set_true(_LAUNCHED), fields))


def _failed(view: ClaimView, conditions: ConditionSet, failure: LaunchFailure) -> Step:
    claim = view.claim
    if failure.kind in _GIVEN_UP:
        told = events.insufficient_capacity(events.claim(claim.metadata), failure.message)
        scarce = failure.kind is LaunchFailureKind.INSUFFICIENT_CAPACITY
        return Step(
            writes=(deletion(claim),),
            events=(told,) if scarce else (),
            counts=(disrupted(claim, _GIVEN_UP[failure.kind]),),
        )
    if BATCH_ANNOTATION in claim.metadata.annotations:
        return Step(writes=(metadata_patch(claim, {"annotations": {BATCH_ANNOTATION: None}}),))
    typed = failure.kind is LaunchFailureKind.CREATE_ERROR and failure.reason
    reason = failure.reason if typed else "LaunchFailed"
    marked = conditions.set_unknown(_LAUNCHED, reason, _shortened(failure.message))
    writes = status_patches(claim, marked)
    return Step(writes=writes, failed=not writes)


def same_launch(left: LaunchSpec, right: LaunchSpec) -> bool:
    """Tell whether two claims may be launched in one call."""
    return replace(left, node_class=right.node_class) == right and (
        left.node_class.uid == right.node_class.uid
    )


def _changed(wanted: Mapping[str, str], current: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in wanted.items() if current.get(key) != value}


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}..."
