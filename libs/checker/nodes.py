"""The Node objects that a plan's claims, and nodes on their start, would become, for the oracle.

A claim that is yet to be launched becomes its cheapest option: that is what the plan promises.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from libs.domain import labels as keys
from libs.domain.allocatable import allocatable
from libs.domain.capacity import Catalogue, InstanceType, Offering
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.nodepool import NodePool
from libs.domain.plan import PlannedNodeClaim
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.taint import Taint
from libs.oracle.filters.node_declared_features import FEATURES


def planned_name(claim: PlannedNodeClaim) -> str:
    """Return the name that the node of a planned claim has here; no real node can have it."""
    return f"nodeclaims[{claim.index}]"


def find_offering(
    catalogue: Catalogue, claim: PlannedNodeClaim
) -> tuple[InstanceType, Offering] | None:
    """Return what the catalogue sells under the names of the claim's cheapest option, else None.

    Of several offerings of one zone and capacity type, as reservations are, the one that can be
    had at the option's price and that the claim allows is meant.
    """
    option = claim.cheapest
    sold = [
        (kind, one)
        for kind in catalogue.instance_types
        if kind.name == option.instance_type
        for one in kind.offerings
        if (one.zone, one.capacity_type) == (option.zone, option.capacity_type)
    ]
    return min(
        sold,
        key=lambda one: (
            not one[1].available,
            one[1].price_nanos_per_hour != option.price_nanos_per_hour,
            not claim.requirements.has_intersection(one[1].requirements),
        ),
        default=None,
    )


def planned_node(
    claim: PlannedNodeClaim,
    pool: NodePool,
    kind: InstanceType,
    offering: Offering,
    observed: Resources,
) -> dict[str, Any]:
    """Return the Node of a claim that the plan creates.

    Args:
        claim: the claim.
        pool: its pool.
        kind: what it becomes.
        offering: how that is bought.
        observed: allocatable that live nodes of that type have, as far as there are any.
    """
    name = planned_name(claim)
    # What is sold comes last: no label of a plan makes another zone of it.
    labels = {
        **dict(pool.template.labels),
        **claim.requirements.single_values(),
        **dict(claim.labels),
        **kind.requirements.single_values(),
        **offering.requirements.single_values(),
        keys.NODEPOOL: pool.name,
        keys.HOSTNAME: name,
    }
    room = allocatable(kind, offering, observed)
    return _node(name, labels, pool.template.taints, room)


def flying_node(claim: NodeClaim, catalogue: Catalogue | None) -> dict[str, Any]:
    """Return the Node of a claim in flight.

    As far as its provider told; one that is not launched yet is the cheapest that it may become.
    """
    labels = {**claim.requirements.single_values(), **dict(claim.labels)}
    room = claim.allocatable
    if not len(room):
        found = _likely(claim, catalogue)
        room = claim.requests
        if found is not None:
            kind, offering = found
            room = allocatable(kind, offering)
            labels |= kind.requirements.single_values() | offering.requirements.single_values()
    return _node(claim.name, labels | {keys.HOSTNAME: claim.name}, claim.taints, room)


def started_node(node: Node) -> dict[str, Any]:
    """Return the Node of one that is starting, as it will be: without what its start puts on it."""
    made = _node(node.name, dict(node.labels), node.taints, node.allocatable)
    made["spec"]["unschedulable"] = node.unschedulable
    return made


def _likely(claim: NodeClaim, catalogue: Catalogue | None) -> tuple[InstanceType, Offering] | None:
    wanted = claim.requirements.intersection(Requirements.from_labels(dict(claim.labels)))
    possible = [
        (kind, offering)
        for kind in (catalogue.instance_types if catalogue else ())
        if wanted.has_intersection(kind.requirements)
        for offering in kind.offerings
        if wanted.has_intersection(offering.requirements)
    ]
    return min(
        possible,
        key=lambda one: (not one[1].available, one[1].price_nanos_per_hour, one[0].name),
        default=None,
    )


def _node(
    name: str, labels: Mapping[str, str], taints: Iterable[Taint], resources: Resources
) -> dict[str, Any]:
    started = {keys.REGISTERED: "true", keys.INITIALIZED: "true"}
    # Kubelets and cloud controllers still write the old names beside the new ones.
    old = {was: labels[now] for was, now in keys.ALIASES.items() if now in labels}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": old | dict(labels) | started},
        "spec": {
            "taints": [
                {"key": one.key, "value": one.value, "effect": str(one.effect)} for one in taints
            ]
        },
        "status": {
            "capacity": resources.to_quantities(),
            "allocatable": resources.to_quantities(),
            "conditions": [{"type": "Ready", "status": "True"}],
            # What the kubelet of a node to come will say nobody knows; it is taken to do it all.
            "declaredFeatures": list(FEATURES),
        },
    }
