"""Registration: a node with the claim's provider id joins and takes over what the claim says.

The node is written first and the claim's condition after it, so that a claim which says Registered
always has a node that is.

Source: `docs/sources.md` F3, 10.2.
"""

from typing import Any

from libs.domain import labels as keys
from libs.domain.nodeclaim import ConditionType
from libs.domain.taint import UNREGISTERED
from libs.kube.api import NODES, STRATEGIC_MERGE_PATCH
from libs.kube.objects.karpenter import NodeClaim
from libs.kube.objects.metadata import Taint
from libs.kube.objects.node import Node
from services.lifecycle.core import events
from services.lifecycle.core.claim_states import FINALIZER
from services.lifecycle.core.conditions import ConditionSet, timestamp
from services.lifecycle.core.step import Patch
from services.lifecycle.core.view import ClaimView

_REGISTERED = str(ConditionType.REGISTERED)


def is_registered(node: Node) -> bool:
    """Tell whether the node has been through registration."""
    return node.metadata.labels.get(keys.REGISTERED) == "true"


def conditions_of(view: ClaimView, conditions: ConditionSet) -> ConditionSet:
    """Return the conditions with Registered as the nodes have it; it never falls back."""
    if not conditions.is_true(str(ConditionType.LAUNCHED)) or conditions.is_true(_REGISTERED):
        return conditions
    if not view.nodes:
        return conditions.set_unknown(
            _REGISTERED, "NodeNotFound", "no node has the claim's provider id yet"
        )
    if view.node is None:
        names = ", ".join(sorted(node.metadata.name for node in view.nodes))
        return conditions.set_false(
            _REGISTERED, "MultipleNodesFound", f"nodes with the same provider id: {names}"
        )
    return conditions.set_true(_REGISTERED) if is_registered(view.node) else conditions


def status_fields(view: ClaimView) -> dict[str, Any]:
    """Return what the claim's status gets besides conditions: its node's name."""
    node = view.node
    if node is None or not is_registered(node):
        return {}
    name = node.metadata.name
    return {} if view.claim.status.node_name == name else {"nodeName": name}


def node_patch(view: ClaimView) -> Patch | None:
    """Return what registers the node, None where there is nothing to register."""
    node = view.node
    if node is None or is_registered(node) or node.metadata.deletion_timestamp is not None:
        return None
    metadata: dict[str, Any] = {
        "finalizers": [FINALIZER],
        "ownerReferences": [owner_reference(view.claim)],
        "labels": {**view.claim.metadata.labels, keys.REGISTERED: "true"},
    }
    if view.claim.metadata.annotations:
        metadata["annotations"] = dict(view.claim.metadata.annotations)
    return Patch(
        resource=NODES,
        name=node.metadata.name,
        resource_version=node.metadata.resource_version,
        body={"metadata": metadata, "spec": {"taints": _taints(view.claim, node)}},
        content_type=STRATEGIC_MERGE_PATCH,
    )


def registration_events(view: ClaimView) -> tuple[events.Event, ...]:
    """Return what is to be told when the node is registered."""
    node = view.node
    if node is None or _has(node.spec.taints, UNREGISTERED.key, UNREGISTERED.effect):
        return ()
    return (events.unregistered_taint_missing(events.claim(view.claim.metadata)),)


def owner_reference(claim: NodeClaim) -> dict[str, Any]:
    """Return the reference by which a node belongs to its claim."""
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "name": claim.metadata.name,
        "uid": claim.metadata.uid,
        "blockOwnerDeletion": True,
    }


def taint_json(taint: Taint) -> dict[str, Any]:
    """Return a taint of a node as it was, the time it was added included."""
    found: dict[str, Any] = {"key": taint.key, "effect": taint.effect}
    if taint.value:
        found["value"] = taint.value
    if taint.time_added is not None:
        found["timeAdded"] = timestamp(taint.time_added)
    return found


def _taints(claim: NodeClaim, node: Node) -> list[dict[str, Any]]:
    kept = [
        taint
        for taint in node.spec.taints
        if (taint.key, taint.effect) != (UNREGISTERED.key, UNREGISTERED.effect)
    ]
    if node.metadata.labels.get(keys.DO_NOT_SYNC_TAINTS) != "true":
        for taint in (*claim.spec.taints, *claim.spec.startup_taints):
            if not _has(tuple(kept), taint.key, taint.effect):
                kept.append(taint)
    return [taint_json(taint) for taint in kept]


def _has(taints: tuple[Taint, ...], key: str, effect: str) -> bool:
    return any((taint.key, taint.effect) == (key, effect) for taint in taints)
