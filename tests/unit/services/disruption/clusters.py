"""Clusters for disruption's tests: every node is managed, initialized, consolidatable and empty."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from libs.domain.capacity import Catalogue
from libs.domain.node import Node
from libs.domain.nodeclaim import Condition, ConditionStatus, ConditionType, NodeClaim
from libs.domain.nodepool import Budget, Disruption, NodePool
from libs.domain.pod import PodPhase, PodRow
from libs.domain.selector import LabelSelector
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId
from libs.domain.workload import PodDisruptionBudget
from services.disruption.core.question import Question
from tests.support import builders
from tests.support.builders import NOW, selecting

ALL_AT_ONCE = Disruption(budgets=(Budget(percent=100),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A node and its claim."""

    node: Node
    claim: NodeClaim


def conditions(*true: ConditionType) -> tuple[Condition, ...]:
    return tuple(
        Condition(type=one, status=ConditionStatus.TRUE, transitioned_at=NOW)
        for one in sorted(true)
    )


READY = (ConditionType.CONSOLIDATABLE, ConditionType.INITIALIZED)


def a_machine(name: str = "a", **override: Any) -> Machine:
    """Return node `node-<name>` of claim `claim-<name>`.

    Args:
        name: what both are named after.
        override: fields of the node; `claim` is a mapping of fields of the claim, `true` its
            true conditions.
    """
    claim = builders.a_nodeclaim(
        f"claim-{name}",
        node_name=f"node-{name}",
        conditions=conditions(*override.pop("true", READY)),
        **override.pop("claim", {}),
    )
    node = builders.a_node(f"node-{name}", nodeclaim=claim.name, **override)
    return Machine(node=node, claim=claim)


def a_pool(name: str = "default", **override: Any) -> NodePool:
    """Return a pool whose budget allows all its nodes; `disruption` fields may be given too."""
    fields = {"consolidate_after", "consolidation_policy", "budgets"}
    own = {key: override.pop(key) for key in list(override) if key in fields}
    return builders.a_pool(name, disruption=replace(ALL_AT_ONCE, **own), **override)


def a_running_pod(name: str = "web", node: str = "node-a", **override: Any) -> PodRow:
    fields = {"phase": PodPhase.RUNNING, "ready": True, "started_ms": 1000, **override}
    return builders.a_pod(name, node=node, **fields)


def a_pdb(name: str = "pdb", **override: Any) -> PodDisruptionBudget:
    """Return a budget of pods with label app=web that allows nothing now."""
    selector: LabelSelector = selecting(app="web")
    budget = PodDisruptionBudget(
        namespace="default", name=name, uid=f"uid-{name}", selector=selector
    )
    return replace(budget, **override)


def a_cluster(
    *machines: Machine,
    revision: int = 1,
    boot_id: str = "watcher-1",
    pools: Iterable[NodePool] | None = None,
    catalogues: Iterable[Catalogue] | None = None,
    **collections: Any,
) -> ClusterSnapshot:
    snapshot = builders.a_snapshot(
        nodes=[one.node for one in machines],
        nodeclaims=[one.claim for one in machines],
        nodepools=[a_pool()] if pools is None else pools,
        catalogues=[builders.a_catalogue()] if catalogues is None else catalogues,
        **collections,
    )
    return replace(
        snapshot,
        id=SnapshotId(cluster_id="home", epoch=Epoch(boot_id=boot_id), revision=revision),
    )


def asking(snapshot: ClusterSnapshot, now: datetime = NOW, **override: Any) -> Question:
    return Question(snapshot=snapshot, now=now, id="pass-1", **override)
