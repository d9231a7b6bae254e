"""Nodes that go, and nodes onto which nothing new comes.

Source: `docs/sources.md` B: which pods need another place when their node goes. A node that is gone
asks nobody, so neither protection from disruption nor budgets of pods keep any on it.
"""

from collections.abc import Iterable
from dataclasses import replace

from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.pod import PodPhase, PodRow
from libs.domain.scenario import CordonNodes, RemoveNodes
from services.solver.core.simulating.devices import release
from services.solver.core.simulating.draft import Draft, unknown


def remove_nodes(draft: Draft, edit: RemoveNodes) -> None:
    """Take nodes, or claims in flight, away.

    Raises:
        InvalidRequest: there is no such node.
    """
    for index, name in enumerate(edit.names):
        if draft.get("nodes", name) is None:
            flying = {claim.name for claim in in_flight(draft)}
            if name not in flying:
                known = {node.name for node in draft.all("nodes")} | flying
                raise unknown("node", name, known, f"remove_nodes.names[{index}]")
    drop(draft, edit.names)


def cordon_nodes(draft: Draft, edit: CordonNodes) -> None:
    """Let nothing new onto nodes.

    Raises:
        InvalidRequest: there is no such node.
    """
    for index, name in enumerate(edit.names):
        node: Node = draft.named("nodes", name, f"cordon_nodes.names[{index}]", "node")
        draft.put("nodes", replace(node, unschedulable=True))


def in_flight(draft: Draft) -> list[NodeClaim]:
    """Return the claims that have no node yet."""
    with_node = {node.nodeclaim for node in draft.all("nodes")}
    return [claim for claim in draft.all("nodeclaims") if claim.name not in with_node]


def drop(draft: Draft, names: Iterable[str]) -> None:
    """Take nodes away with their claims and devices, or claims in flight; their pods wait."""
    gone = frozenset(names)
    if not gone:
        return
    rows = draft.pods_on(gone)
    for row in rows:
        if row.reschedulable:
            draft.put_pod(waiting(row))
        else:
            draft.remove_pod(row.uid)
    release(draft, rows)
    for name in sorted(gone):
        node: Node | None = draft.get("nodes", name)
        claim = name if node is None else node.nodeclaim
        if node is not None:
            draft.remove("nodes", name)
        if claim:
            draft.remove("nodeclaims", claim)
    for pool in list(draft.all("device_pools")):
        if pool.node_name in gone:
            draft.remove("device_pools", pool.key)


def waiting(row: PodRow) -> PodRow:
    """Return the pod as it, or its successor, waits for another place."""
    return row._replace(
        node="",
        phase=PodPhase.PENDING,
        ready=False,
        provisionable=True,
        started_ms=0,
        deleting_ms=0,
        target=None,
    )
