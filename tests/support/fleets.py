"""Small fleets: nodes with their claims and pods, as consolidation finds them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from libs.domain import labels as label_keys
from libs.domain.node import Node
from libs.domain.nodeclaim import Condition, ConditionStatus, ConditionType, NodeClaim
from libs.domain.plan import Candidate
from libs.domain.pod import PodPhase, PodRow
from libs.domain.question import ConsolidateQuestion
from libs.domain.snapshot import ClusterSnapshot
from tests.support.builders import NOW, a_node, a_nodeclaim, a_pod, a_snapshot, amounts, an_owner


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A node, its claim, and its pods."""

    node: Node
    claim: NodeClaim
    pods: tuple[PodRow, ...]


def a_machine(name: str, *shapes: int, cpus: int = 4, **override: Any) -> Machine:
    """Return a settled on-demand node `m-<cpus>` of pool `default` in zone-a.

    Args:
        name: of the node; its claim is `c-<name>`, its pods are `<name>-0`, …
        shapes: of its running pods.
        cpus: of `some_types`.
        override: `zone`, `capacity_type`; fields of the node; `claim` and `pod` are mappings of
            fields of the claim and of every pod.
    """
    labels = {
        label_keys.ZONE: override.pop("zone", "zone-a"),
        label_keys.CAPACITY_TYPE: override.pop("capacity_type", "on-demand"),
        label_keys.INSTANCE_TYPE: f"m-{cpus}",
        label_keys.NODEPOOL: "default",
    }
    of_claim, of_pod = override.pop("claim", {}), override.pop("pod", {})
    room = amounts(cpu=cpus, memory=f"{4 * cpus}Gi", pods=110)
    conditions = tuple(
        Condition(type=kind, status=ConditionStatus.TRUE, transitioned_at=NOW)
        for kind in (ConditionType.CONSOLIDATABLE, ConditionType.INITIALIZED)
    )
    claim = a_nodeclaim(
        f"c-{name}",
        node_name=name,
        labels=labels,
        capacity=room,
        allocatable=room,
        conditions=conditions,
    )
    pods = (
        a_pod(f"{name}-{number}", shape, node=name, phase=PodPhase.RUNNING, owner=an_owner())
        for number, shape in enumerate(shapes)
    )
    return Machine(
        node=a_node(
            name, **{"labels": labels, "allocatable": room, "nodeclaim": f"c-{name}"} | override
        ),
        claim=replace(claim, **of_claim),
        pods=tuple(one._replace(**of_pod) for one in pods),
    )


def a_fleet(
    *machines: Machine, waiting: Iterable[PodRow] = (), **collections: Iterable[Any]
) -> ClusterSnapshot:
    """Return the snapshot of some machines; `collections` as of `a_snapshot`."""
    return a_snapshot(
        pods=[*(pod for one in machines for pod in one.pods), *waiting],
        nodes=[one.node for one in machines],
        nodeclaims=[one.claim for one in machines],
        **collections,
    )


def everyone(snapshot: ClusterSnapshot, *names: str) -> tuple[Candidate, ...]:
    """Return all nodes with a claim, or those of these names, as candidates."""
    found = []
    for node in snapshot.nodes.values():
        claim = snapshot.nodeclaims.get(node.nodeclaim)
        if claim is not None and (not names or node.name in names):
            found.append(
                Candidate(
                    nodeclaim=claim.name,
                    nodeclaim_uid=claim.uid,
                    node=node.name,
                    nodepool=claim.nodepool,
                )
            )
    return tuple(found)


def a_question(snapshot: ClusterSnapshot, *names: str, **override: Any) -> ConsolidateQuestion:
    """Return the question about these nodes, by default about all that have claims."""
    question = ConsolidateQuestion(snapshot=snapshot, candidates=everyone(snapshot, *names))
    return replace(question, **override)
