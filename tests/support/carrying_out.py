"""Clusters of Kubernetes documents once plans and commands are carried out.

Apart from the simulator, which takes its time: here whatever is decided has happened.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from libs.checker.claims import Purchase, offers, purchase
from libs.checker.nodes import planned_node
from libs.domain import labels as keys
from libs.domain.plan import Command, Plan
from libs.domain.resources import NOTHING
from libs.oracle.objects import key_of, name_of
from tests.support.mixed import Document, Loaded, MixedCluster
from tests.support.strategies.manifest_capacity import NODE_CLASS

_TRUE = ("Launched", "Registered", "Initialized", "Consolidatable")
_WHEN = "2026-07-01T11:00:00Z"
_WAITING = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}


def with_plan(mixed: MixedCluster, loaded: Loaded, plan: Plan, tag: str) -> MixedCluster:
    """Return the cluster with the nodes of a plan, named `<tag>-<index>`, and its pods bound.

    Args:
        mixed: the cluster.
        loaded: the same, as it was planned for.
        plan: for its waiting pods.
        tag: tells the nodes of several plans apart.
    """
    names = {row.uid: row.key for row in loaded.snapshot.pods.rows()}
    sold = offers(loaded.snapshot, loaded.options.feature_gates)
    places = {names[uid]: one.target for one in plan.nominations for uid in one.pod_uids}
    made: list[Document] = []
    for claim in plan.nodeclaims:
        name = f"{tag}-{claim.index}"
        places |= {names[uid]: name for uid in claim.pod_uids}
        bought = purchase(loaded.snapshot, claim, sold)
        assert isinstance(bought, Purchase)
        made += _started(bought, name)
    bound = (_bound(one, places) for one in mixed.documents)
    return replace(mixed, documents=(*bound, *made))


def without_nodes(mixed: MixedCluster, loaded: Loaded, command: Command) -> MixedCluster:
    """Return the cluster without the nodes of a command, whose pods wait."""
    moving = {uid for one in command.candidates for uid in one.pod_uids}
    names = {row.key for row in loaded.snapshot.pods.rows() if row.uid in moving}
    return replace(mixed, documents=tuple(_left(mixed, command, names)))


def _left(mixed: MixedCluster, command: Command, moving: set[str]) -> Iterator[Document]:
    nodes = {one.node for one in command.candidates}
    gone = nodes | {one.nodeclaim for one in command.candidates}
    for one in mixed.documents:
        if one["kind"] in ("Node", "NodeClaim"):
            if name_of(one) not in gone:
                yield one
        elif one["kind"] != "Pod" or one["spec"].get("nodeName") not in nodes:
            yield one
        elif key_of(one) in moving:
            yield waiting(one)


def waiting(pod: Document) -> Document:
    """Return a pod as its successor waits, once it has been evicted."""
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {**pod, "spec": spec, "status": {"phase": "Pending", "conditions": [_WAITING]}}


def _bound(document: Document, places: dict[str, str]) -> Document:
    if document["kind"] != "Pod" or key_of(document) not in places:
        return document
    spec = {**document["spec"], "nodeName": places[key_of(document)]}
    return {**document, "spec": spec, "status": {"phase": "Running"}}


def _started(bought: Purchase, name: str) -> Iterator[Document]:
    """Yield the node of a claim, and the claim, once it has started as its cheapest option."""
    observed = bought.observed.get(bought.kind.name, NOTHING)
    node = planned_node(bought.claim, bought.pool, bought.kind, bought.offering, observed)
    labels = {**node["metadata"]["labels"], keys.HOSTNAME: name}
    provider = {"providerID": f"kwok://{name}"}
    node["metadata"] = {"name": name, "uid": name, "labels": labels}
    node["spec"] |= provider
    yield node
    status: dict[str, Any] = {
        **provider,
        "nodeName": name,
        "capacity": bought.kind.capacity.to_quantities(),
        "allocatable": node["status"]["allocatable"],
        "conditions": [
            {"type": one, "status": "True", "lastTransitionTime": _WHEN} for one in _TRUE
        ],
    }
    yield {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": f"claim-{name}", "uid": f"claim-{name}", "labels": labels},
        "spec": {"requirements": [], "nodeClassRef": NODE_CLASS},
        "status": status,
    }
