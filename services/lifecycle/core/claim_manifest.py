"""The NodeClaim object of a planned claim, and its name, which follows from the plan.

Apart because it is the one place where a plan becomes an object that others read.

Source: `docs/sources.md` 10.1.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from libs.domain import hashing
from libs.domain import labels as keys
from libs.domain.plan import PlannedNodeClaim
from libs.domain.requirement import Entry, Operator, Requirement
from libs.domain.requirements import Requirements
from libs.kube.objects.karpenter import NodePool
from services.lifecycle.core.claim_states import FINALIZER

MIN_VALUES_RELAXED = "karpenter.sh/nodeclaim-min-values-relaxed"
PLAN_ANNOTATION = "joiner.io/plan"
"""Plan and index that a claim was made for; what tells a repeated plan from a name taken twice."""

_LONGEST_NAME = 63
_DIGEST = 10


def claim_name(plan_id: str, index: int, nodepool: str) -> str:
    """Return the claim's name: the same for every repetition of the plan, at most 63 characters."""
    digest = hashlib.sha256(f"{plan_id}\n{index}".encode()).hexdigest()[:_DIGEST]
    prefix = nodepool[: _LONGEST_NAME - _DIGEST - 1].rstrip("-.")
    return f"{prefix}-{digest}"


def plan_mark(plan_id: str, index: int) -> str:
    """Return the text of `PLAN_ANNOTATION`."""
    return f"{plan_id}/{index}"


def manifest(
    plan_id: str, planned: PlannedNodeClaim, pool: NodePool, well_known: frozenset[str]
) -> dict[str, Any]:
    """Return the object to create.

    Args:
        plan_id: id of the plan, or of the command that the claim is a replacement of.
        planned: the claim.
        pool: its pool as it is now; template and annotations are taken from it.
        well_known: label keys that the provider sets, not we.
    """
    template = pool.spec.template
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    reference = spec.get("nodeClassRef") or {}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {
            "name": claim_name(plan_id, planned.index, pool.metadata.name),
            "finalizers": [FINALIZER],
            "labels": {
                **(metadata.get("labels") or {}),
                **_concrete(planned.requirements, well_known),
                **dict(planned.labels),
                keys.NODEPOOL: pool.metadata.name,
                class_label(reference): reference.get("name", ""),
            },
            "annotations": {
                **(metadata.get("annotations") or {}),
                MIN_VALUES_RELAXED: "false",
                **dict(planned.annotations),
                hashing.HASH_ANNOTATION: planned.nodepool_hash,
                hashing.VERSION_ANNOTATION: hashing.VERSION,
                PLAN_ANNOTATION: plan_mark(plan_id, planned.index),
            },
            "ownerReferences": [_owner(pool)],
        },
        "spec": _spec(planned, spec),
    }


def class_label(reference: Mapping[str, Any]) -> str:
    """Return the label key by which claims and nodes name their class."""
    return f"{reference.get('group', '')}/{str(reference.get('kind', '')).lower()}"


def _spec(planned: PlannedNodeClaim, template: Mapping[str, Any]) -> dict[str, Any]:
    copied = ("taints", "startupTaints", "nodeClassRef", "terminationGracePeriod", "expireAfter")
    return {
        **{name: template[name] for name in copied if template.get(name) is not None},
        "requirements": [_entry(one) for one in _requirements(planned)],
        "resources": {"requests": planned.requests.to_quantities()},
    }


def _requirements(planned: PlannedNodeClaim) -> Iterable[Entry]:
    wanted = planned.requirements.without((keys.HOSTNAME, keys.REGISTERED, keys.INITIALIZED))
    listed = wanted.get(keys.INSTANCE_TYPE)
    if planned.instance_types:
        least = None if listed is None else listed.min_values
        types = Requirement.of(keys.INSTANCE_TYPE, Operator.IN, planned.instance_types, least)
        wanted = wanted.intersection(Requirements((types,)))
    return wanted.entries()


def _entry(entry: Entry) -> dict[str, Any]:
    found: dict[str, Any] = {"key": entry.key, "operator": str(entry.operator)}
    if entry.values:
        found["values"] = list(entry.values)
    if entry.min_values is not None:
        found["minValues"] = entry.min_values
    return found


def _concrete(requirements: Requirements, well_known: frozenset[str]) -> dict[str, str]:
    """Return the labels that requirements of users' own keys amount to."""
    found = {}
    for one in requirements:
        if one.key in well_known or keys.is_restricted(one.key, well_known=well_known):
            continue
        value = one.any_value()
        if value is not None:
            found[one.key] = value
    return found


def _owner(pool: NodePool) -> dict[str, Any]:
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "name": pool.metadata.name,
        "uid": pool.metadata.uid,
        "blockOwnerDeletion": True,
    }
