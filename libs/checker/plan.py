"""`check_plan`: every rule that a plan violates against the snapshot that it was made from.

Besides kube-scheduler's filters (`libs.oracle`): every waiting pod is placed once or named as
unplaced, each claim's pool exists and is ready, its type and offering are sold, are allowed by the
pool and match the claim's own requirements, the pool's limits hold.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from libs.checker.nodes import find_offering, flying_node, planned_name, planned_node
from libs.domain import labels as keys
from libs.domain.capacity import InstanceType, Offering
from libs.domain.nodepool import NodePool
from libs.domain.plan import Plan, PlannedNodeClaim
from libs.domain.pod import PodRow
from libs.domain.reason import TargetKind
from libs.domain.requirements import Requirements
from libs.domain.resources import NODES, Resources, total
from libs.domain.snapshot import ClusterSnapshot
from libs.oracle.check import Placement, Violation, check
from libs.oracle.cluster import Cluster

_VIRTUAL = "capacity-buffer-"


def check_plan(
    cluster: Cluster,
    snapshot: ClusterSnapshot,
    plan: Plan,
    *,
    daemon_sets: Iterable[Mapping[str, Any]] = (),
) -> list[Violation]:
    """Return every rule that the plan breaks; empty if it is right.

    Args:
        cluster: the same cluster as Kubernetes objects; waiting pods are pending in it.
        snapshot: what the plan was made from.
        plan: the plan.
        daemon_sets: DaemonSet objects, whose pods go on new nodes first.
    """
    rows = {row.uid: row for row in snapshot.pods.rows()}
    sold, violations = _sold(snapshot, plan)
    nodes = [
        planned_node(claim, pool, kind, offering) for claim, pool, kind, offering in sold.values()
    ]
    nodes += [flying_node(claim) for claim in _targets_in_flight(snapshot, plan)]
    placements = list(_placements(plan, rows))
    violations += _lost(plan, rows)
    violations += _over_limits(snapshot, sold.values())
    violations += check(cluster, nodes, placements, daemon_sets=daemon_sets)
    return violations


Sold = tuple[PlannedNodeClaim, NodePool, InstanceType, Offering]


def _sold(snapshot: ClusterSnapshot, plan: Plan) -> tuple[dict[int, Sold], list[Violation]]:
    """Return what each claim buys, and what is wrong with the claims that buy nothing."""
    sold: dict[int, Sold] = {}
    wrong: list[Violation] = []
    for claim in plan.nodeclaims:
        found = _bought(snapshot, claim)
        if isinstance(found, Violation):
            wrong.append(found)
        else:
            sold[claim.index] = found
            wrong += _mismatches(claim, found)
    return sold, wrong


def _bought(snapshot: ClusterSnapshot, claim: PlannedNodeClaim) -> Sold | Violation:
    pool = snapshot.nodepools.get(claim.nodepool)
    if pool is None or not pool.ready or pool.replicas is not None:
        return _claim_violation(claim, "NodePool", f'"{claim.nodepool}" is missing or not ready')
    catalogue = snapshot.catalogues.get(pool.template.node_class.key)
    found = find_offering(catalogue, claim.cheapest) if catalogue else None
    if found is None or not found[1].available:
        option = claim.cheapest
        return _claim_violation(
            claim,
            "Offering",
            f"{option.instance_type} in {option.zone} as {option.capacity_type} is not sold",
        )
    return claim, pool, *found


def _mismatches(claim: PlannedNodeClaim, sold: Sold) -> Iterator[Violation]:
    _, pool, kind, offering = sold
    if claim.cheapest.instance_type not in claim.instance_types:
        yield _claim_violation(claim, "LaunchList", "the cheapest type is not in the launch list")
    if offering.price_nanos_per_hour != claim.cheapest.price_nanos_per_hour:
        yield _claim_violation(claim, "Price", "the offering is sold at another price")
    wanted = pool.template.requirements.intersection(
        Requirements.from_labels(dict(pool.template.labels))
    )
    for what, requirements in (("pool", wanted), ("claim", claim.requirements)):
        offered = kind.requirements.intersection(offering.requirements)
        clash = requirements.without([keys.NODEPOOL]).intersection(offered)
        if not clash.satisfiable:
            yield _claim_violation(claim, "Requirements", f"the {what} forbids the offering")


def _targets_in_flight(snapshot: ClusterSnapshot, plan: Plan) -> Iterator[Any]:
    for nomination in plan.nominations:
        if nomination.target_kind is TargetKind.NODECLAIM:
            claim = snapshot.nodeclaims.get(nomination.target)
            if claim is not None:
                yield claim


def _placements(plan: Plan, rows: Mapping[str, PodRow]) -> Iterator[Placement]:
    for nomination in plan.nominations:
        yield from (
            (_key(rows, uid), nomination.target) for uid in _real(nomination.pod_uids, rows)
        )
    for claim in plan.nodeclaims:
        name = planned_name(claim)
        yield from ((_key(rows, uid), name) for uid in _real(claim.pod_uids, rows))


def _real(uids: Iterable[str], rows: Mapping[str, PodRow]) -> Iterator[str]:
    """Leave out virtual pods of buffers, which no scheduler ever sees."""
    for uid in uids:
        row = rows.get(uid)
        if row is None or not row.name.startswith(_VIRTUAL):
            yield uid


def _key(rows: Mapping[str, PodRow], uid: str) -> str:
    row = rows.get(uid)
    return f"{row.namespace}/{row.name}" if row else uid


def _lost(plan: Plan, rows: Mapping[str, PodRow]) -> Iterator[Violation]:
    """Yield the waiting pods that the plan neither places nor names."""
    said = {uid for nomination in plan.nominations for uid in nomination.pod_uids}
    said |= {uid for claim in plan.nodeclaims for uid in claim.pod_uids}
    said |= {uid for group in plan.unplaced for uid in group.pod_uids}
    for uid, row in rows.items():
        if row.provisionable and not row.node and uid not in said:
            yield Violation(
                pod=_key(rows, uid), node="", rule="Lost", message="the plan says nothing of it"
            )


def _over_limits(snapshot: ClusterSnapshot, sold: Iterable[Sold]) -> Iterator[Violation]:
    """Yield the pools whose new nodes go beyond the limits together with what exists."""
    bought: dict[str, list[Resources]] = {}
    for _, pool, kind, _ in sold:
        bought.setdefault(pool.name, []).append(kind.capacity.add(Resources({NODES: 1})))
    for name, capacities in bought.items():
        limits = snapshot.nodepools[name].limits
        used = total([*capacities, *_existing(snapshot, name)])
        for resource, limit in limits.items():
            if used.get(resource) > limit:
                yield Violation(
                    pod="",
                    node="",
                    rule="NodePoolLimits",
                    message=f'"{name}" would use {used.get(resource)} of {limit} {resource}',
                )


def _existing(snapshot: ClusterSnapshot, pool: str) -> Iterator[Resources]:
    for node in snapshot.nodes.values():
        if dict(node.labels).get(keys.NODEPOOL) == pool and not node.leaving:
            yield node.capacity.add(Resources({NODES: 1}))
    for claim in snapshot.nodeclaims.values():
        if claim.nodepool == pool and not claim.node_name and claim.deleting_at is None:
            yield claim.capacity.add(Resources({NODES: 1}))


def _claim_violation(claim: PlannedNodeClaim, rule: str, message: str) -> Violation:
    return Violation(pod="", node=planned_name(claim), rule=rule, message=message)
