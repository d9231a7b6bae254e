"""`check_solution`: every rule that a plan violates against the snapshot that it was made from.

Besides kube-scheduler's filters (`libs.oracle`): every waiting pod is placed once or named as
unplaced, claims keep the rules of `claims`, the pools' limits hold, and what the answer counts and
adds up is what its plan says.

Rules that are not kube-scheduler's: NodePool, StalePool, Offering, Requirements, Price, LaunchList,
Cheapest, Requests, Labels, NodePoolLimits, Gang, Lost, Unplaced, Cost, PodCounts.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from libs.checker.ahead import ahead
from libs.checker.claims import Purchase, Shelf, claim_violations, offers, purchase
from libs.checker.devices import device_resources, node_slices
from libs.checker.gangs import bought_in_vain, broken_gangs
from libs.checker.limits import over_limits
from libs.checker.nodes import flying_node, planned_name, planned_node
from libs.checker.storage import node_capacities
from libs.checker.virtual import virtual_pods
from libs.domain import feature_gates
from libs.domain.nodeclaim import NodeClaim
from libs.domain.overlay import OverlaidOffer, completed
from libs.domain.plan import Plan
from libs.domain.pod import PodRow
from libs.domain.reason import TargetKind
from libs.domain.resources import CPU, MEMORY, NOTHING, Resources
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution
from libs.oracle.check import Placement, Violation, check
from libs.oracle.cluster import Cluster
from libs.oracle.objects import key_of, metadata_of, spec_of

_LAST = (0, 0, (0, ""), (0, ""))


def check_solution(
    cluster: Cluster,
    snapshot: ClusterSnapshot,
    solution: Solution,
    *,
    daemon_sets: Iterable[Mapping[str, Any]] = (),
) -> list[Violation]:
    """Return every rule that the answer breaks, that of its plan included; empty if it is right.

    Args:
        cluster: the same cluster as Kubernetes objects; waiting pods are pending in it.
        snapshot: what the answer was made from.
        solution: the answer.
        daemon_sets: DaemonSet objects, whose pods go on new nodes first.
    """
    gates = solution.options.feature_gates
    violations = check_plan(cluster, snapshot, solution.plan, daemon_sets=daemon_sets, gates=gates)
    return [*violations, *_sums(solution, _virtual(snapshot))]


def check_plan(
    cluster: Cluster,
    snapshot: ClusterSnapshot,
    plan: Plan,
    *,
    daemon_sets: Iterable[Mapping[str, Any]] = (),
    gates: Mapping[str, bool] = feature_gates.NONE_GIVEN,
) -> list[Violation]:
    """Return every rule that the plan breaks; arguments as of `check_solution`.

    `gates` are the feature gates that the plan was made with.
    """
    rows = {row.uid: row for row in snapshot.pods.rows()}
    sold = offers(snapshot, gates)
    snapshot = completed(snapshot, sold)
    bought, violations = _purchases(snapshot, plan, rows, sold)
    # What is on its way comes before what is still to be bought.
    nodes = [
        flying_node(claim, sold[claim.nodepool].catalogue if claim.nodepool in sold else None)
        for claim in _targets_in_flight(snapshot, plan)
    ]
    nodes += [
        planned_node(one.claim, one.pool, one.kind, one.offering, _observed(one)) for one in bought
    ]
    names = _names(cluster, rows)
    virtual = _virtual(snapshot)
    violations += _lost(plan, {uid: row for uid, row in rows.items() if uid not in virtual})
    violations += _unplaced(plan, names)
    violations += over_limits(snapshot, bought)
    violations += broken_gangs(snapshot, _placed(plan))
    violations += bought_in_vain(snapshot, plan)
    coming = [
        ("CSIStorageCapacity", one) for node in nodes for one in node_capacities(cluster, node)
    ]
    for each in bought:
        brought = node_slices(planned_name(each.claim), each.kind)
        coming += [("ResourceSlice", one) for one in brought]
    coming += [("Pod", pod) for pod in virtual_pods(snapshot, plan)]
    placed = [names.get(uid, uid) for uid in _placed(plan)]
    there = ahead(cluster, snapshot, placed, coming)
    # Virtual pods come last, as they are given up to real ones.
    placements = _largest_first(_placements(plan, names, virtual, real=True), snapshot, rows, names)
    placements += _placements(plan, names, virtual, real=False)
    counted = _counted(daemon_sets, gates)
    return [*violations, *check(there, nodes, placements, daemon_sets=counted)]


def _counted(
    daemon_sets: Iterable[Mapping[str, Any]], gates: Mapping[str, bool]
) -> list[Mapping[str, Any]]:
    """Return the DaemonSets that plans count with: none that claims devices by default."""
    if feature_gates.is_open(feature_gates.FeatureGate.DYNAMIC_RESOURCES, gates):
        return list(daemon_sets)
    return [
        one
        for one in daemon_sets
        if not spec_of(spec_of(one).get("template") or {}).get("resourceClaims")
    ]


def _purchases(
    snapshot: ClusterSnapshot,
    plan: Plan,
    rows: Mapping[str, PodRow],
    sold: Mapping[str, OverlaidOffer],
) -> tuple[list[Purchase], list[Violation]]:
    """Return what the claims buy, and what is wrong with them."""
    bought: list[Purchase] = []
    wrong: list[Violation] = []
    of_devices = device_resources(snapshot)
    shelves: dict[str, Shelf] = {}
    for claim in plan.nodeclaims:
        found = purchase(snapshot, claim, sold)
        if isinstance(found, Violation):
            wrong.append(found)
            continue
        bought.append(found)
        shapes = [rows[uid].shape for uid in claim.pod_uids if uid in rows]
        requests = [snapshot.shapes[shape].requests for shape in shapes]
        if claim.nodepool not in shelves:
            shelves[claim.nodepool] = Shelf(found.catalogue, found.observed)
        wrong += claim_violations(found, requests, of_devices, shelves[claim.nodepool])
    return bought, wrong


def _observed(bought: Purchase) -> Resources:
    return bought.observed.get(bought.kind.name, NOTHING)


def _targets_in_flight(snapshot: ClusterSnapshot, plan: Plan) -> Iterator[NodeClaim]:
    for nomination in plan.nominations:
        if nomination.target_kind is TargetKind.NODECLAIM:
            claim = snapshot.nodeclaims.get(nomination.target)
            if claim is not None:
                yield claim


def _names(cluster: Cluster, rows: Mapping[str, PodRow]) -> dict[str, str]:
    """Return `namespace/name` of pods by uid, also of those that the snapshot leaves out."""
    names = {uid: row.key for uid, row in rows.items()}
    for pod in cluster.pending.values():
        names.setdefault(metadata_of(pod).get("uid") or key_of(pod), key_of(pod))
    return names


def _placements(
    plan: Plan, names: Mapping[str, str], virtual: frozenset[str], *, real: bool
) -> Iterator[Placement]:
    """Yield who is placed where: real pods, or virtual ones, for which nothing is nominated."""
    for nomination in plan.nominations if real else ():
        for uid in nomination.pod_uids:
            yield names.get(uid, uid), nomination.target
    for claim in plan.nodeclaims:
        for uid in claim.pod_uids:
            if (uid in virtual) is not real:
                yield names.get(uid, uid), planned_name(claim)


def _largest_first(
    placements: Iterable[Placement],
    snapshot: ClusterSnapshot,
    rows: Mapping[str, PodRow],
    names: Mapping[str, str],
) -> list[Placement]:
    """Return the placements in the order in which plans are made, which is likely to work.

    Pods of one shape go together, when it is the turn of the oldest of them.

    Source: `docs/sources.md` D4.
    """
    ages = {uid: (row.created_ms, uid) for uid, row in rows.items()}
    oldest: dict[int, tuple[int, str]] = {}
    for uid, row in rows.items():
        oldest[row.shape] = min(oldest.get(row.shape, ages[uid]), ages[uid])
    queue = {}
    for uid, row in rows.items():
        asked = snapshot.shapes[row.shape].requests
        size = -asked.get(CPU), -asked.get(MEMORY)
        queue[names[uid]] = (*size, oldest[row.shape], ages[uid])
    return sorted(placements, key=lambda one: queue.get(one[0], _LAST))


def _virtual(snapshot: ClusterSnapshot) -> frozenset[str]:
    """Return the virtual pods of buffers, which no scheduler ever sees."""
    return frozenset(uid for one in snapshot.buffers.values() for uid in one.pod_uids)


def _lost(plan: Plan, rows: Mapping[str, PodRow]) -> Iterator[Violation]:
    """Yield the waiting pods that the plan neither places nor names."""
    said = _placed(plan).union(*(group.pod_uids for group in plan.unplaced))
    for uid, row in rows.items():
        if row.provisionable and not row.node and uid not in said:
            yield _pod_violation(row.key, "Lost", "the plan says nothing of it")


def _unplaced(plan: Plan, names: Mapping[str, str]) -> Iterator[Violation]:
    """Yield pods without a place that have one after all, or that there are none of."""
    placed = _placed(plan)
    for group in plan.unplaced:
        for uid in group.pod_uids:
            if uid in placed:
                yield _pod_violation(names.get(uid, uid), "Unplaced", "it is placed, too")
            elif uid not in names:
                yield _pod_violation(uid, "UnknownPod", "no such pending pod")


def _placed(plan: Plan) -> frozenset[str]:
    return frozenset().union(
        *(one.pod_uids for one in plan.nominations), *(one.pod_uids for one in plan.nodeclaims)
    )


def _sums(solution: Solution, virtual: frozenset[str]) -> Iterator[Violation]:
    """Yield what the answer counts otherwise than its own plan."""
    plan, pods = solution.plan, solution.pods
    price = sum(claim.cheapest.price_nanos_per_hour for claim in plan.nodeclaims)
    if price != solution.cost.new_nanos_per_hour:
        yield _answer_violation(
            "Cost", f"new_nanos_per_hour is {solution.cost.new_nanos_per_hour}, claims cost {price}"
        )
    counts = {
        "on_existing": sum(len(one.pod_uids) for one in plan.nominations),
        "on_new": sum(uid not in virtual for one in plan.nodeclaims for uid in one.pod_uids),
        "unplaced": sum(len(one.pod_uids) for one in plan.unplaced),
    }
    said = {"on_existing": pods.on_existing, "on_new": pods.on_new, "unplaced": pods.unplaced}
    said["waiting"], counts["waiting"] = pods.waiting, sum(counts.values())
    for name, count in counts.items():
        if said[name] != count:
            yield _answer_violation("PodCounts", f"{name} is {said[name]}, the plan has {count}")


def _pod_violation(pod: str, rule: str, message: str) -> Violation:
    return Violation(pod=pod, node="", rule=rule, message=message)


def _answer_violation(rule: str, message: str) -> Violation:
    return Violation(pod="", node="", rule=rule, message=message)
