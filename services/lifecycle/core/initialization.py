"""Initialization: a registered node is ready, free of start-up taints, and has what was asked for.

Source: `docs/sources.md` F4.
"""

from dataclasses import dataclass

from libs.domain import labels as keys
from libs.domain.errors import InvalidRequest
from libs.domain.nodeclaim import ConditionType
from libs.domain.resources import Resources
from libs.domain.taint import Effect, Taint, is_ephemeral
from libs.kube.api import NODES
from libs.kube.objects.karpenter import NodeClaim
from libs.kube.objects.node import Node
from services.lifecycle.core.conditions import ConditionSet
from services.lifecycle.core.step import Patch
from services.lifecycle.core.view import ClaimView

_INITIALIZED = str(ConditionType.INITIALIZED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """The first thing that a node still lacks."""

    reason: str
    message: str


def conditions_of(view: ClaimView, conditions: ConditionSet) -> ConditionSet:
    """Return the conditions with Initialized as the node has it; it never falls back."""
    if not conditions.is_true(str(ConditionType.REGISTERED)) or conditions.is_true(_INITIALIZED):
        return conditions
    missing = shortfall(view)
    if missing is not None:
        return conditions.set_unknown(_INITIALIZED, missing.reason, missing.message)
    if view.node is not None and is_initialized(view.node):
        return conditions.set_true(_INITIALIZED)
    return conditions


def node_patch(view: ClaimView, conditions: ConditionSet) -> Patch | None:
    """Return what marks the node initialized, None where it is not or is marked already."""
    node = view.node
    if (
        node is None
        or is_initialized(node)
        or not conditions.is_true(str(ConditionType.REGISTERED))
    ):
        return None
    if shortfall(view) is not None or node.metadata.deletion_timestamp is not None:
        return None
    return Patch(
        resource=NODES,
        name=node.metadata.name,
        resource_version=node.metadata.resource_version,
        body={"metadata": {"labels": {keys.INITIALIZED: "true"}}},
    )


def is_initialized(node: Node) -> bool:
    """Tell whether the node is marked initialized."""
    return node.metadata.labels.get(keys.INITIALIZED) == "true"


def is_ready(node: Node) -> bool:
    """Tell whether a kubelet reports the node as Ready."""
    return any(one.type == "Ready" and one.status == "True" for one in node.status.conditions)


def shortfall(view: ClaimView) -> Shortfall | None:
    """Return the first thing that the claim's node lacks, None if it lacks nothing."""
    node = view.node
    if node is None:
        return Shortfall(reason="NodeNotFound", message="the claim has not exactly one node")
    if not is_ready(node):
        return Shortfall(reason="NodeNotReady", message=f"node {node.metadata.name} is not ready")
    for taint in view.claim.spec.startup_taints:
        if any((one.key, one.effect) == (taint.key, taint.effect) for one in node.spec.taints):
            return Shortfall(
                reason="StartupTaintsExist", message=f"start-up taint {taint.key}:{taint.effect}"
            )
    for one in node.spec.taints:
        if one.effect in frozenset(Effect) and is_ephemeral(
            Taint(key=one.key, effect=Effect(one.effect))
        ):
            return Shortfall(
                reason="KnownEphemeralTaintsExist", message=f"taint {one.key}:{one.effect}"
            )
    return _missing_resource(view.claim, node)


def _missing_resource(claim: NodeClaim, node: Node) -> Shortfall | None:
    try:
        asked = Resources.from_requests(claim.spec.resources.requests)
        there = Resources.from_allocatable(node.status.allocatable)
    except InvalidRequest as error:
        return Shortfall(reason="ResourceNotRegistered", message=str(error))
    missing = next((name for name, amount in asked.items() if amount and not there.get(name)), None)
    if missing is None:
        return None
    return Shortfall(
        reason="ResourceNotRegistered", message=f"resource {missing} was asked for and is not there"
    )
