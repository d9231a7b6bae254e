"""Targets: where the last plan that was carried out put each pod that still waits.

Apart because a plan is carried out over minutes: its claims boot, kube-scheduler binds pod after
pod, and every decision in between has to see what is already arranged, or it arranges it in another
way and buys for the difference.

Source: `docs/architecture.md`, laws 3 and 4.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from libs.cluster.nodes import is_leaving
from libs.domain.node import Node
from libs.domain.nodeclaim import ConditionType, NodeClaim
from libs.domain.pod import PodRow, Target
from libs.domain.pod_change import merged
from libs.domain.pod_table import PodTable
from libs.domain.reason import TargetKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What targets are looked up in."""

    now: datetime
    nodes: Mapping[str, Node]
    claims: Mapping[str, NodeClaim]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Expected:
    target: Target
    claim: str
    """Name of the claim, as far as known; empty for a node that has none."""
    decided_at: datetime


class Targets:
    """Targets by uid of the pod, from when a plan was carried out until they are of no use."""

    def __init__(self) -> None:
        self._expected: dict[str, _Expected] = {}
        self._span = timedelta()

    def put(self, targets: Mapping[str, Target], now: datetime, span: timedelta) -> None:
        """Take the targets of a plan, in the place of those of the plan before.

        Args:
            targets: by uid of the pod.
            now: when the plan was carried out.
            span: how long kube-scheduler may take to bind a pod to a node that can take it.
        """
        self._span = span
        self._expected = {
            uid: _Expected(
                target=target,
                claim=target.name if target.kind is TargetKind.NODECLAIM else "",
                decided_at=now,
            )
            for uid, target in targets.items()
        }

    def claim_of(self, uid: str) -> str:
        """Return the name of the claim that a pod is expected on; empty if there is none."""
        expected = self._expected.get(uid)
        return "" if expected is None else expected.claim

    def onto(self, pods: PodTable, around: Around) -> PodTable:
        """Return the pods with their targets, and forget what is of no use any more.

        A pod has one while it waits, or while the node that it is on is leaving. A target lasts
        while its claim boots, and then, as on a node that was there before, for its span.
        """
        if not self._expected:
            return pods
        named = _named(around.nodes.values())
        kept: dict[str, _Expected] = {}
        found = []
        for uid, known in self._expected.items():
            row = pods.find(uid)
            if row is not None and _needs_place(row, around.nodes):
                expected = self._looked_up(known, named, around)
                if expected is not None:
                    kept[uid] = expected
                    found.append(row._replace(target=expected.target))
        self._expected = kept
        return merged(pods, PodTable.from_rows(found), ())

    def _looked_up(
        self, expected: _Expected, named: Mapping[str, Node], around: Around
    ) -> _Expected | None:
        """Return what is expected as things stand, None where nothing is any more."""
        if expected.target.kind is TargetKind.NODE:
            node = around.nodes.get(expected.target.name)
            claim = None if node is None else around.claims.get(node.nodeclaim)
        else:
            node = named.get(expected.target.name)
            claim = around.claims.get(expected.target.name)
        if node is None and claim is None:
            return None
        if (node is not None and node.leaving) or (
            claim is not None and is_leaving(claim, around.claims)
        ):
            return None
        if not _boots(claim) and around.now >= _ready_at(expected, claim) + self._span:
            return None
        target = expected.target if node is None else Target(TargetKind.NODE, node.name)
        return replace(expected, target=target, claim="" if claim is None else claim.name)


def _named(nodes: Iterable[Node]) -> dict[str, Node]:
    return {node.nodeclaim: node for node in nodes if node.nodeclaim}


def _needs_place(row: PodRow, nodes: Mapping[str, Node]) -> bool:
    return not row.node or (row.node in nodes and nodes[row.node].leaving)


def _boots(claim: NodeClaim | None) -> bool:
    return claim is not None and not claim.is_true(ConditionType.INITIALIZED)


def _ready_at(expected: _Expected, claim: NodeClaim | None) -> datetime:
    """Return when the pod could be bound: as soon as it was decided, or the claim's node was."""
    ready = None if claim is None else claim.condition(ConditionType.INITIALIZED)
    if ready is None:
        return expected.decided_at
    return max(expected.decided_at, ready.transitioned_at)
