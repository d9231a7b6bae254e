"""A naive judge of plans on small snapshots: pod by pod, as kube-scheduler would bind them.

Shares no code with the solver but the value types. Every claim is taken to become its cheapest
option. A plan promises that pods can be bound in some order, so any order will do.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from libs.domain import labels as label_keys
from libs.domain.plan import PlannedNodeClaim
from libs.domain.pod import PodShape
from libs.domain.reason import TargetKind
from libs.domain.resources import CPU, MEMORY, NODES, PODS, Resources, total
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution
from libs.domain.taint import HARD_EFFECTS, Taint, tolerates
from libs.domain.topology import NodeInclusionPolicy, PodAffinityTerm, TopologySpread


@dataclass(slots=True)
class Host:
    """A node as it will be."""

    name: str
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    allocatable: Resources
    pods: list[PodShape] = field(default_factory=list)
    """Those that are bound."""
    planned: list[PodShape] = field(default_factory=list)
    """Those that are to come by the plan."""


def violations(snapshot: ClusterSnapshot, solution: Solution) -> list[str]:
    """Return every broken rule in words; empty for a good plan."""
    hosts = hosts_of(snapshot, solution)
    found = list(_placed_once(snapshot, solution))
    found += _limits(snapshot, solution)
    for host in hosts:
        found += _room(host)
        for shape in host.planned:
            found += [f"{shape.id} on {host.name}: {one}" for one in _labels(host, shape)]
    for claim in solution.plan.nodeclaims:
        found += _every_type_has_room(snapshot, claim)
    return found + _bind_all(hosts)


def overlooked(snapshot: ClusterSnapshot, solution: Solution) -> list[str]:
    """Return where pods that the plan leaves over could go after all, one at a time.

    New nodes count only of pools without limits.
    """
    hosts = hosts_of(snapshot, solution)
    for host in hosts:
        host.pods += host.planned
        host.planned = []
    rows = {row.uid: row for row in snapshot.pods.rows()}
    found = []
    for uid in {one.pod_uids[0] for one in solution.plan.unplaced}:
        shape = snapshot.shapes[rows[uid].shape]
        if shape.topology_spread and shape.required_node_terms:
            # Whether such a constraint looks at a claim depends on what the claim becomes; the
            # solver counts every claim that may, and is then stricter than what comes true.
            continue
        for host in (*hosts, *_new_hosts(snapshot)):
            around = hosts if host in hosts else [*hosts, host]
            if not takes(around, host, shape):
                continue
            found.append(f"{uid} of shape {shape.id} fits on {host.name}")
    return found


def takes(hosts: list[Host], host: Host, shape: PodShape) -> bool:
    host.planned = [shape]
    refused = [*_room(host), *_labels(host, shape), *_refusals(hosts, host, shape)]
    host.planned = []
    return not refused


def _new_hosts(snapshot: ClusterSnapshot) -> Iterator[Host]:
    for pool in snapshot.nodepools.values():
        if len(pool.limits):
            continue
        catalogue = snapshot.catalogues[pool.template.node_class.key]
        for kind in catalogue.instance_types:
            for offering in kind.offerings:
                labels = kind.requirements.single_values() | dict(pool.template.labels)
                labels |= {
                    label_keys.NODEPOOL: pool.name,
                    label_keys.HOSTNAME: "new",
                    label_keys.ZONE: offering.zone,
                    label_keys.CAPACITY_TYPE: offering.capacity_type,
                }
                if pool.template.requirements.allows(labels):
                    room = kind.capacity.subtract(kind.overhead)
                    name = f"new {kind.name} of {pool.name} in {offering.zone}"
                    yield Host(name, labels, pool.template.taints, room)


def _bind_all(hosts: list[Host]) -> list[str]:
    """Return why no order of binding works; the likely one is tried first, then all others."""
    planned = [(host, shape) for host in hosts for shape in host.planned]
    planned.sort(key=lambda one: (-one[1].requests.get(CPU), -one[1].requests.get(MEMORY)))
    running = [list(host.pods) for host in hosts]
    found = _bind(hosts, planned)
    for host, pods in zip(hosts, running, strict=True):
        host.pods = pods
    return [] if not found or _some_order_works(hosts, planned, set()) else found


def _bind(hosts: list[Host], waiting: list[tuple[Host, PodShape]]) -> list[str]:
    while waiting:
        refused = []
        for host, shape in waiting:
            if why := _refusals(hosts, host, shape):
                refused.append((host, shape, why))
            else:
                host.pods.append(shape)
        if len(refused) == len(waiting):
            return [f"{shape.id} on {host.name}: {why}" for host, shape, why in refused]
        waiting = [(host, shape) for host, shape, _ in refused]
    return []


def _some_order_works(
    hosts: list[Host], waiting: list[tuple[Host, PodShape]], dead: set[tuple[object, ...]]
) -> bool:
    if not waiting:
        return True
    state = tuple(sorted((host.name, shape.id) for host, shape in waiting))
    if state in dead:
        return False
    dead.add(state)
    tried = set()
    for index, (host, shape) in enumerate(waiting):
        if (host.name, shape.id) in tried or _refusals(hosts, host, shape):
            continue
        tried.add((host.name, shape.id))
        host.pods.append(shape)
        if _some_order_works(hosts, waiting[:index] + waiting[index + 1 :], dead):
            return True
        host.pods.pop()
    return False


def _refusals(hosts: list[Host], host: Host, shape: PodShape) -> list[str]:
    return [*_spread(hosts, host, shape), *_terms(hosts, host, shape)]


def hosts_of(snapshot: ClusterSnapshot, solution: Solution) -> list[Host]:
    rows = {row.uid: row for row in snapshot.pods.rows()}
    by_name = {
        node.name: Host(node.name, dict(node.labels), node.taints, node.allocatable)
        for node in snapshot.nodes.values()
    }
    for row in rows.values():
        if row.node and not row.terminal:
            by_name[row.node].pods.append(snapshot.shapes[row.shape])
    for nomination in solution.plan.nominations:
        assert nomination.target_kind is TargetKind.NODE
        for uid in nomination.pod_uids:
            by_name[nomination.target].planned.append(snapshot.shapes[rows[uid].shape])
    for claim in solution.plan.nodeclaims:
        host = _host(snapshot, claim)
        by_name[host.name] = host
        host.planned += [snapshot.shapes[rows[uid].shape] for uid in claim.pod_uids]
    return list(by_name.values())


def _host(snapshot: ClusterSnapshot, claim: PlannedNodeClaim) -> Host:
    pool = snapshot.nodepools[claim.nodepool]
    catalogue = snapshot.catalogues[pool.template.node_class.key]
    kinds = {kind.name: kind for kind in catalogue.instance_types}
    kind = kinds[claim.cheapest.instance_type]
    name = f"claim-{claim.index}"
    labels = kind.requirements.single_values()
    labels |= dict(pool.template.labels) | dict(claim.labels)
    labels |= {
        label_keys.HOSTNAME: name,
        label_keys.ZONE: claim.cheapest.zone,
        label_keys.CAPACITY_TYPE: claim.cheapest.capacity_type,
    }
    return Host(name, labels, pool.template.taints, kind.capacity.subtract(kind.overhead))


def _placed_once(snapshot: ClusterSnapshot, solution: Solution) -> Iterator[str]:
    plan = solution.plan
    named = [uid for one in plan.nominations for uid in one.pod_uids]
    named += [uid for claim in plan.nodeclaims for uid in claim.pod_uids]
    named += [uid for left in plan.unplaced for uid in left.pod_uids]
    waiting = [row.uid for row in snapshot.pods.rows() if row.provisionable]
    if sorted(named) != sorted(waiting):
        yield f"pods named {sorted(named)} differ from those that wait {sorted(waiting)}"


def _limits(snapshot: ClusterSnapshot, solution: Solution) -> Iterator[str]:
    for pool in snapshot.nodepools.values():
        claims = [one for one in solution.plan.nodeclaims if one.nodepool == pool.name]
        kinds = {
            kind.name: kind
            for catalogue in snapshot.catalogues.values()
            for kind in catalogue.instance_types
        }
        used = total(kinds[one.cheapest.instance_type].capacity for one in claims)
        for name, limit in pool.limits.items():
            there = len(claims) if name == NODES else used.get(name)
            if claims and there > limit:
                yield f"pool {pool.name} uses {there} {name} of {limit}"


def _room(host: Host) -> Iterator[str]:
    everyone = host.pods + host.planned
    asked = total(shape.requests for shape in everyone)
    new = total(shape.requests for shape in host.planned)
    for name, amount in asked.items():
        if name in new and amount > host.allocatable.get(name):
            yield f"{host.name} has {host.allocatable.get(name)} {name}, {amount} asked"
    ports = [(port.port, port.protocol) for shape in everyone for port in shape.host_ports]
    if len(ports) != len(set(ports)):
        yield f"{host.name} has a host port twice"


def _every_type_has_room(snapshot: ClusterSnapshot, claim: PlannedNodeClaim) -> Iterator[str]:
    catalogue = next(iter(snapshot.catalogues.values()))
    for kind in catalogue.instance_types:
        there = kind.capacity.subtract(kind.overhead)
        if kind.name in claim.instance_types and len(claim.requests.shortage(there)):
            yield f"listed type {kind.name} has no room for {claim.requests}"
    if claim.requests.get(PODS) < len(claim.pod_uids):
        yield f"claim {claim.index} requests too few pods"


def _labels(host: Host, shape: PodShape) -> Iterator[str]:
    if not tolerates(shape.tolerations, host.taints, HARD_EFFECTS):
        yield "taints"
    if not _selected(host, shape):
        yield "node affinity"
    for alternatives in shape.volumes:
        if not any(one.allows(host.labels) for one in alternatives):
            yield "volume topology"


def _selected(host: Host, shape: PodShape) -> bool:
    if not shape.node_selector.allows(host.labels):
        return False
    terms = shape.required_node_terms
    return not terms or any(
        term.requirements.allows(host.labels)
        and (not term.node_names or host.name in term.node_names)
        and host.name not in term.excluded_node_names
        for term in terms
    )


def _spread(hosts: list[Host], host: Host, shape: PodShape) -> Iterator[str]:
    constraints = [one for one in shape.topology_spread if one.required]
    for constraint in constraints:
        key = constraint.topology_key
        if key not in host.labels:
            yield f"no {key}"
            continue
        keys = [one.topology_key for one in constraints]
        counts: dict[str, int] = {}
        for other in hosts:
            if not all(key in other.labels for key in keys):
                continue
            if not _included(other, shape, constraint):
                continue
            there = sum(_counts(constraint, pod, shape) for pod in other.pods)
            counts[other.labels[key]] = counts.get(other.labels[key], 0) + there
        least = min(counts.values(), default=0)
        if constraint.min_domains is not None and len(counts) < constraint.min_domains:
            least = 0
        here = counts.get(host.labels[key], 0) + _counts(constraint, shape, shape)
        if here - least > constraint.max_skew:
            yield f"skew {here - least} over {key}: {counts}"


def _included(host: Host, shape: PodShape, constraint: TopologySpread) -> bool:
    if constraint.node_affinity_policy is NodeInclusionPolicy.HONOR and not _selected(host, shape):
        return False
    return constraint.node_taints_policy is NodeInclusionPolicy.IGNORE or tolerates(
        shape.tolerations, host.taints, HARD_EFFECTS
    )


def _counts(constraint: TopologySpread, pod: PodShape, owner: PodShape) -> bool:
    selector = constraint.selector
    return (
        selector is not None
        and len(selector.requirements) > 0
        and pod.namespace == owner.namespace
        and selector.matches(dict(pod.labels))
    )


def _matches(term: PodAffinityTerm, pod: PodShape) -> bool:
    if term.selector is None or pod.namespace not in term.namespaces:
        return False
    return term.selector.matches(dict(pod.labels))


def _terms(hosts: list[Host], host: Host, shape: PodShape) -> Iterator[str]:
    terms = shape.affinity
    everyone = [pod for other in hosts for pod in other.pods]
    friends = [pod for pod in everyone if _matches_all(terms, pod)]
    for term in terms:
        near = [pod for other in _same(hosts, host, term.topology_key) for pod in other.pods]
        first = not friends and _matches_all(terms, shape) and term.topology_key in host.labels
        if not first and not any(_matches_all(terms, pod) for pod in near):
            yield f"no friend by {term.topology_key}"
    for term in shape.anti_affinity:
        for other in _same(hosts, host, term.topology_key):
            if any(_matches(term, pod) for pod in other.pods):
                yield f"too near by {term.topology_key}"
    for other in hosts:
        for term in [term for pod in other.pods for term in pod.anti_affinity]:
            if other in _same(hosts, host, term.topology_key) and _matches(term, shape):
                yield f"a running pod keeps away by {term.topology_key}"


def _matches_all(terms: tuple[PodAffinityTerm, ...], pod: PodShape) -> bool:
    return all(_matches(term, pod) for term in terms)


def _same(hosts: list[Host], host: Host, key: str) -> list[Host]:
    value = host.labels.get(key)
    return [one for one in hosts if value is not None and one.labels.get(key) == value]
