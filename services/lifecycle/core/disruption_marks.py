"""What a live claim says of its own disruption: last pod event, Consolidatable, Drifted.

Apart because disruption decides by these marks and only lifecycle writes them. What is left of a
command that no longer stands (taint, DisruptionReason) is taken off here too: rolling a command
back is nothing but removing its annotation.

Source: `docs/sources.md` F7 and H1.
"""

from datetime import datetime, timedelta
from typing import Any

from libs.domain import hashing
from libs.domain.errors import InvalidRequest
from libs.domain.labels import WELL_KNOWN, canonical_labels
from libs.domain.nodeclaim import ConditionType
from libs.domain.nodepool import NodePool
from libs.domain.requirements import Requirements
from libs.domain.taint import DISRUPTED
from libs.kube.api import NODES
from libs.kube.objects.karpenter import NodeClaim
from libs.kube.objects.node import Node
from services.lifecycle.core.conditions import ConditionSet, timestamp
from services.lifecycle.core.registration import taint_json
from services.lifecycle.core.step import Patch
from services.lifecycle.core.view import ClaimView, Policy

_CONSOLIDATABLE = str(ConditionType.CONSOLIDATABLE)
_DRIFTED = str(ConditionType.DRIFTED)
_REASON = str(ConditionType.DISRUPTION_REASON)


def last_pod_event(view: ClaimView, policy: Policy) -> datetime | None:
    """Return the instant to be written as lastPodEventTime, None if the written one will do."""
    seen, written = view.pod_event_at, view.claim.status.last_pod_event_time
    if seen is None or (written is not None and seen - written < policy.pod_event_dedupe):
        return None
    return seen


def status_fields(event_at: datetime | None) -> dict[str, Any]:
    """Return what the status gets besides conditions."""
    return {} if event_at is None else {"lastPodEventTime": timestamp(event_at)}


def conditions_of(
    view: ClaimView, conditions: ConditionSet, event_at: datetime | None
) -> tuple[ConditionSet, timedelta | None]:
    """Return the conditions with the marks as they are now, and when the next may change."""
    marked = _drifted(view, conditions)
    if view.command is None:
        marked = marked.clear(_REASON)
    left = _quiet_left(view, marked, event_at)
    if left is None:
        return marked.clear(_CONSOLIDATABLE), None
    if left > timedelta(0):
        return marked.clear(_CONSOLIDATABLE), left
    return marked.set_true(_CONSOLIDATABLE), None


def untaint_patch(view: ClaimView) -> Patch | None:
    """Return what takes the taint of a command that does not stand any more off the node."""
    node = view.node
    if view.command is not None or node is None or node.metadata.deletion_timestamp is not None:
        return None
    if not any(taint.key == DISRUPTED.key for taint in node.spec.taints):
        return None
    return taints_patch(node, disrupted=False)


def taints_patch(node: Node, *, disrupted: bool) -> Patch:
    """Return the patch that puts the disruption taint on or takes it off; others stay."""
    kept = [taint_json(taint) for taint in node.spec.taints if taint.key != DISRUPTED.key]
    wanted = [{"key": DISRUPTED.key, "effect": str(DISRUPTED.effect)}] if disrupted else []
    return Patch(
        resource=NODES,
        name=node.metadata.name,
        resource_version=node.metadata.resource_version,
        body={"spec": {"taints": [*kept, *wanted]}},
    )


def _quiet_left(
    view: ClaimView, conditions: ConditionSet, event_at: datetime | None
) -> timedelta | None:
    """Return how long the node must stay quiet; None: it is never consolidatable as it is."""
    pool = view.pool
    if pool is None or pool.replicas is not None or pool.disruption.consolidate_after is None:
        return None
    if not conditions.is_true(str(ConditionType.INITIALIZED)):
        return None
    initialized = conditions.since(str(ConditionType.INITIALIZED)) or view.now
    since = event_at or view.claim.status.last_pod_event_time or initialized
    return since + pool.disruption.consolidate_after - view.now


def _drifted(view: ClaimView, conditions: ConditionSet) -> ConditionSet:
    """Mark drift from the pool; drift from the class is the provider's to tell."""
    if view.pool is None or not conditions.is_true(str(ConditionType.LAUNCHED)):
        return conditions.clear(_DRIFTED)
    reason = _drift(view.claim, view.pool)
    return conditions.set_true(_DRIFTED, reason, reason) if reason else conditions.clear(_DRIFTED)


def _drift(claim: NodeClaim, pool: NodePool) -> str:
    annotations = claim.metadata.annotations
    stamped = annotations.get(hashing.HASH_ANNOTATION)
    versions_agree = annotations.get(hashing.VERSION_ANNOTATION) == hashing.VERSION
    if stamped and versions_agree and pool.hash and stamped != pool.hash:
        return "NodePoolDrifted"
    try:
        labels = Requirements.from_labels(canonical_labels(claim.metadata.labels))
    except InvalidRequest:
        return ""
    wanted = pool.template.requirements
    undefined = frozenset(
        one.key for one in wanted if one.key in WELL_KNOWN and one.key not in labels
    )
    return "" if labels.is_compatible(wanted, allow_undefined=undefined) else "RequirementsDrifted"
