"""The writes that the steps of a claim share: its status, its deletion, its metrics' labels."""

from typing import Any

from libs.domain import labels as keys
from libs.kube.api import NODE_CLAIMS
from libs.kube.objects.karpenter import NodeClaim
from services.lifecycle.core.conditions import ConditionSet
from services.lifecycle.core.step import Count, Delete, Patch, Series
from services.lifecycle.core.termination_period import termination_mode


def metadata_patch(claim: NodeClaim, metadata: dict[str, Any]) -> Patch:
    """Return a patch of the claim's metadata."""
    return Patch(
        resource=NODE_CLAIMS,
        name=claim.metadata.name,
        resource_version=claim.metadata.resource_version,
        body={"metadata": metadata},
    )


def status_patches(
    claim: NodeClaim, conditions: ConditionSet, fields: dict[str, Any] | None = None
) -> tuple[Patch, ...]:
    """Return the patch of the claim's status, nothing where it would change nothing."""
    if not fields and not conditions.differs(claim.status.conditions):
        return ()
    body = {"status": {**(fields or {}), "conditions": conditions.to_json()}}
    patch = Patch(
        resource=NODE_CLAIMS,
        name=claim.metadata.name,
        resource_version=claim.metadata.resource_version,
        body=body,
        subresource="status",
    )
    return (patch,)


def deletion(claim: NodeClaim) -> Delete:
    """Return the deletion of the claim."""
    return Delete(resource=NODE_CLAIMS, name=claim.metadata.name, uid=claim.metadata.uid)


def disrupted(claim: NodeClaim, reason: str, consolidation_policy: str = "") -> Count:
    """Count a claim that is ended for a reason of Karpenter's list."""
    labels = claim.metadata.labels
    return Count(
        series=Series.CLAIMS_DISRUPTED,
        labels=(
            reason,
            labels.get(keys.NODEPOOL, ""),
            labels.get(keys.CAPACITY_TYPE, ""),
            consolidation_policy,
            termination_mode(claim),
        ),
    )
