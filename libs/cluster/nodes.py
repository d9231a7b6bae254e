"""Nodes joined with their claims.

Apart because the join decides what is capacity in flight and which pods must move: a claim without
a node is still to come, and a node under a command is leaving once all that replaces it is known.

Source: `docs/architecture.md`, law 4; `docs/sources.md` J1 and J6.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from libs.cluster.attachments import LeftAttached, with_less_to_attach
from libs.cluster.memo import Memo
from libs.cluster.problems import Problems
from libs.domain.capacity import NodeClassRef, ObservedAllocatable
from libs.domain.errors import InvalidRequest
from libs.domain.labels import INSTANCE_TYPE
from libs.domain.node import Node
from libs.domain.nodeclaim import ConditionType, NodeClaim
from libs.domain.reason import TargetKind
from libs.domain.resources import Resources
from libs.kube.convert.node import node_view
from libs.kube.objects import node as objects
from libs.kube.objects.storage import CsiNode

Nominations = Mapping[tuple[TargetKind, str], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInputs:
    """What nodes are made from."""

    nodes: Mapping[tuple[str, str], objects.Node]
    csi_nodes: Mapping[tuple[str, str], CsiNode]
    claims: Mapping[str, NodeClaim]
    nominations: Nominations
    """Those that have not ended."""
    left_attached: LeftAttached


def nodes(inputs: NodeInputs, memo: Memo[Node], problems: Problems) -> dict[str, Node]:
    """Return the nodes by name; what is wrong is reported and left out."""
    claim_of = _join(inputs.nodes.values(), inputs.claims)
    found: dict[str, Node] = {}
    for (_, name), node in inputs.nodes.items():
        claim = claim_of.get(name)
        csi = inputs.csi_nodes.get(("", name))
        leaving = claim is not None and is_leaving(claim, inputs.claims)
        nominated = _nominated_until(inputs.nominations, name, claim)
        arguments = (node, claim, csi, leaving, nominated)
        try:
            view = memo.get(name, arguments, partial(_view, *arguments))
            left = inputs.left_attached.get(name)
            found[name] = with_less_to_attach(view, left) if left else view
        except InvalidRequest as error:
            problems.add("Node", "", name, error)
    memo.retain(found)
    return found


def is_leaving(claim: NodeClaim, claims: Mapping[str, NodeClaim]) -> bool:
    """Tell whether the node of a claim is going.

    It is when the claim is being deleted or its instance terminates, or when it is under a command
    and every replacement that the command names is among the claims.
    """
    going = claim.deleting_at is not None or claim.is_true(ConditionType.INSTANCE_TERMINATING)
    return going or claim.is_replaced(claims)


def observed_allocatable(
    found: Iterable[Node], claims: Mapping[str, NodeClaim]
) -> dict[str, ObservedAllocatable]:
    """Return, by key, the smallest that live, initialized nodes of a class and type report."""
    smallest: dict[tuple[NodeClassRef, str], Resources] = {}
    for node in found:
        claim = claims.get(node.nodeclaim)
        instance_type = dict(node.labels).get(INSTANCE_TYPE, "")
        if claim is None or not node.initialized or not instance_type:
            continue
        key = claim.node_class, instance_type
        before = smallest.get(key)
        if before is None:
            smallest[key] = node.allocatable
        elif before != node.allocatable:
            smallest[key] = before.minimum(node.allocatable)
    seen = (
        ObservedAllocatable(node_class=node_class, instance_type=kind, allocatable=allocatable)
        for (node_class, kind), allocatable in smallest.items()
    )
    return {one.key: one for one in seen}


def _join(found: Iterable[objects.Node], claims: Mapping[str, NodeClaim]) -> dict[str, NodeClaim]:
    """Return the claim of each node by provider id.

    Where two nodes say that they are the same instance, the one that the claim names has it, else
    the first by name; the other one is nobody's.
    """
    names: dict[str, list[str]] = {}
    for node in found:
        if node.spec.provider_id:
            names.setdefault(node.spec.provider_id, []).append(node.metadata.name)
    joined: dict[str, NodeClaim] = {}
    for claim in claims.values():
        candidates = names.get(claim.provider_id, [])
        if candidates:
            chosen = claim.node_name if claim.node_name in candidates else min(candidates)
            joined[chosen] = claim
    return joined


def _view(
    node: objects.Node,
    claim: NodeClaim | None,
    csi: CsiNode | None,
    leaving: bool,
    nominated_until: datetime | None,
) -> Node:
    return node_view(node, claim, csi, leaving=leaving, nominated_until=nominated_until)


def _nominated_until(
    nominations: Nominations, name: str, claim: NodeClaim | None
) -> datetime | None:
    ends = [nominations.get((TargetKind.NODE, name))]
    if claim is not None:
        ends.append(nominations.get((TargetKind.NODECLAIM, claim.name)))
    return max((end for end in ends if end is not None), default=None)
