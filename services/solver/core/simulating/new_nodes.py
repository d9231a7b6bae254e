"""Nodes that are added as a pool would get them: bought, registered, initialized.

Source: `docs/sources.md` E1.5 (labels of a claim), 7.3 (allocatable).
"""

from dataclasses import dataclass, replace
from itertools import count, islice

from libs.domain import labels as label_keys
from libs.domain.allocatable import allocatable, full_capacity
from libs.domain.capacity import Catalogue, InstanceType, Offering
from libs.domain.errors import InvalidRequest
from libs.domain.node import Node
from libs.domain.nodeclaim import Condition, ConditionStatus, ConditionType, NodeClaim
from libs.domain.nodepool import NodePool
from libs.domain.requirements import Requirements
from libs.domain.resources import NOTHING, Resources
from libs.domain.scenario import AddNodes
from services.solver.core.offers.template import exported, template_requirements
from services.solver.core.simulating.draft import Draft, unknown

_READY = (ConditionType.INITIALIZED, ConditionType.LAUNCHED, ConditionType.REGISTERED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Purchase:
    pool: NodePool
    kind: InstanceType
    offering: Offering
    requirements: Requirements
    """Of the pool, the type and the offering together."""


def add_nodes(draft: Draft, edit: AddNodes) -> None:
    """Add nodes, named after their pool and numbered.

    Raises:
        InvalidRequest: there is no such pool or offering, or the pool does not allow it.
    """
    draft.count_added("nodes", edit.count, "add_nodes.count")
    bought = _purchase(draft, edit)
    taken = {node.name for node in draft.all("nodes")}
    taken |= {claim.name for claim in draft.all("nodeclaims")}
    names = (f"{edit.nodepool}-whatif-{number}" for number in count(1))
    for name in islice((one for one in names if one not in taken), edit.count):
        _add(draft, bought, name)


def _purchase(draft: Draft, edit: AddNodes) -> _Purchase:
    pool: NodePool = draft.named("nodepools", edit.nodepool, "add_nodes.nodepool", "nodepool")
    key = pool.template.node_class.key
    catalogue: Catalogue | None = draft.get("catalogues", key)
    if catalogue is None:
        raise InvalidRequest(f"nothing is known to be sold for {key}", field="add_nodes.nodepool")
    kinds = {kind.name: kind for kind in catalogue.instance_types}
    kind = kinds.get(edit.instance_type)
    if kind is None:
        raise unknown("instance type", edit.instance_type, kinds, "add_nodes.instance_type")
    offering = _offering(kind, edit)
    there = kind.requirements.intersection(offering.requirements)
    wanted = template_requirements(pool)
    for one in wanted:
        own = there.get(one.key)
        if own is not None and not own.has_intersection(one):
            raise InvalidRequest(
                f'nodepool "{pool.name}" does not allow {kind.name} in {offering.zone} as '
                f"{offering.capacity_type}: {one} is required, {own.condition} is there",
                field="add_nodes",
            )
    return _Purchase(
        pool=pool, kind=kind, offering=offering, requirements=wanted.intersection(there)
    )


def _offering(kind: InstanceType, edit: AddNodes) -> Offering:
    sold = [one for one in kind.offerings if one.capacity_type == edit.capacity_type]
    if not sold:
        known = {one.capacity_type for one in kind.offerings}
        noun = f"offering of {kind.name} with capacity type"
        raise unknown(noun, edit.capacity_type, known, "add_nodes.capacity_type")
    for one in sold:
        if one.zone == edit.zone:
            return one
    noun = f"{edit.capacity_type} offering of {kind.name} in zone"
    raise unknown(noun, edit.zone, {one.zone for one in sold}, "add_nodes.zone")


def _add(draft: Draft, bought: _Purchase, name: str) -> None:
    template, now = bought.pool.template, draft.base.observed_at
    labels = _labels(bought)
    capacity = full_capacity(bought.kind, bought.offering)
    left = _allocatable(draft, bought)
    draft.put(
        "nodeclaims",
        NodeClaim(
            name=name,
            uid=name,
            nodepool=bought.pool.name,
            node_class=template.node_class,
            labels=tuple(sorted(labels.items())),
            annotations=template.annotations,
            requirements=exported(bought.requirements),
            requests=NOTHING,
            taints=template.taints,
            startup_taints=template.startup_taints,
            provider_id=f"whatif://{name}",
            node_name=name,
            capacity=capacity,
            allocatable=left,
            conditions=tuple(
                Condition(type=one, status=ConditionStatus.TRUE, transitioned_at=now)
                for one in _READY
            ),
            created_at=now,
            expire_after=template.expire_after,
            termination_grace_period=template.termination_grace_period,
        ),
    )
    started = {
        label_keys.HOSTNAME: name,
        label_keys.REGISTERED: "true",
        label_keys.INITIALIZED: "true",
    }
    draft.put(
        "nodes",
        Node(
            name=name,
            uid=name,
            provider_id=f"whatif://{name}",
            nodeclaim=name,
            labels=tuple(sorted((labels | started).items())),
            taints=template.taints,
            capacity=capacity,
            allocatable=left,
            created_at=now,
        ),
    )
    for pool in bought.kind.device_pools:
        draft.put("device_pools", replace(pool, pool=f"{name}/{pool.pool}", node_name=name))


def _labels(bought: _Purchase) -> dict[str, str]:
    """Return the labels of the claim: what is required has a value, unless it may be absent."""
    found = {
        one.key: value
        for one in exported(bought.requirements)
        if not one.absent and (value := one.any_value()) is not None
    }
    return found | {
        label_keys.INSTANCE_TYPE: bought.kind.name,
        label_keys.ZONE: bought.offering.zone,
        label_keys.CAPACITY_TYPE: bought.offering.capacity_type,
    }


def _allocatable(draft: Draft, bought: _Purchase) -> Resources:
    key = f"{bought.pool.template.node_class.key}/{bought.kind.name}"
    observed = draft.get("observed_allocatable", key)
    return allocatable(
        bought.kind, bought.offering, NOTHING if observed is None else observed.allocatable
    )
