"""`reference_solve`: every waiting pod tried in order, again and again until nothing more fits."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from libs.checker.devices import node_slices
from libs.checker.limits import existing_usage
from libs.domain import labels as keys
from libs.domain.capacity import CapacityType
from libs.domain.pod import PodRow
from libs.domain.resources import NODES, Resources, total
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from libs.oracle.check import check
from libs.oracle.cluster import Cluster
from libs.oracle.objects import KubeObject, spec_of
from tests.support.reference.options import Market, Option, World, renamed
from tests.support.reference.placing import NewNode, Placing, largest_charge
from tests.support.reference.waiting import ground, queue

_DEFAULTS = SolveOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSolution:
    """Where every waiting pod went."""

    places: dict[str, str]
    """Node by uid of the pod, in the order in which they were bound."""
    unplaced: tuple[str, ...]
    """Uids, sorted."""
    new: tuple[NewNode, ...]


def reference_solve(
    cluster: Cluster,
    snapshot: ClusterSnapshot,
    options: SolveOptions = _DEFAULTS,
    *,
    daemon_sets: Iterable[KubeObject] = (),
) -> ReferenceSolution:
    """Place the waiting pods one by one, in the order of the queue, in rounds.

    A gang that comes out short is tried once more with its smallest pods first, which then have the
    turn of its first one; still short it is given up whole. The last in the queue comes first, and
    each time all begins anew.

    Args:
        cluster: The cluster as Kubernetes objects; it is not changed.
        snapshot: The same cluster: which pods wait, nodes, pools, catalogues.
        options: As for the solver.
        daemon_sets: DaemonSet objects.
    """
    world = World.of(snapshot, options, daemon_sets)
    rows = queue(cluster, snapshot, world.now)
    market = Market(cluster, world)
    order = rows
    turned: set[str] = set()
    while True:
        placing = start(cluster, world, market, rows)
        _in_rounds(placing, order)
        short = _short_gang(placing, snapshot, order)
        if short is None:
            return _solution(cluster, world, placing, rows)
        if short in turned:
            order = [row for row in order if row.gang != short]
        else:
            turned.add(short)
            order = _smallest_first(order, short)


def _smallest_first(rows: Sequence[PodRow], gang: str) -> list[PodRow]:
    """Return the queue with all pods of a gang at the turn of its first one, the last one first."""
    mine = [row for row in rows if row.gang == gang]
    at = rows.index(mine[0])
    others = (row for row in rows[at:] if row.gang != gang)
    return [*rows[:at], *reversed(mine), *others]


def start(cluster: Cluster, world: World, market: Market, rows: Sequence[PodRow]) -> Placing:
    """Return the state before any of the waiting pods is placed."""
    state, existing = ground(cluster, world, rows)
    return Placing(
        cluster=state,
        existing=existing,
        market=market,
        options=world.options,
        gives_devices=world.gives_devices,
        left={pool: _left(world.snapshot, pool, offered) for pool, offered in market.pools.items()},
        instances=_instances(world),
        settled=_settled(cluster),
    )


def _left(snapshot: ClusterSnapshot, pool: str, offered: Sequence[Option]) -> Resources:
    """Return what the limits leave; a claim that is not launched is as large as it may be."""
    unlaunched = [
        largest_charge(
            one for one in offered if claim.requirements.has_intersection(one.kind.requirements)
        ).subtract(Resources({NODES: 1}))
        for claim in snapshot.nodeclaims.values()
        if claim.nodepool == pool and claim.deleting_at is None and not len(claim.capacity)
    ]
    used = total([existing_usage(snapshot, pool), *unlaunched])
    return snapshot.nodepools[pool].limits.subtract(used)


def _in_rounds(placing: Placing, rows: Sequence[PodRow]) -> None:
    left = list(rows)
    while True:
        refused = [row for row in left if not placing.place(_pending(placing, row))]
        if len(refused) == len(left):
            return
        left = refused


def _pending(placing: Placing, row: PodRow) -> KubeObject:
    return placing.cluster.pending[row.key]


def gang_sizes(placing: Placing, snapshot: ClusterSnapshot, rows: Sequence[PodRow]) -> Counter[str]:
    """Return how many members each gang has on nodes."""
    waiting = {row.uid for row in rows}
    sizes: Counter[str] = Counter(
        row.gang
        for row in snapshot.pods.rows()
        if row.node and not row.terminal and not row.terminating and row.uid not in waiting
    )
    sizes.update(row.gang for row in rows if row.key in placing.places)
    return sizes


def _short_gang(placing: Placing, snapshot: ClusterSnapshot, rows: Sequence[PodRow]) -> str | None:
    """Return the last gang in the queue that got places, but too few."""
    sizes = gang_sizes(placing, snapshot, rows)
    for row in reversed(rows):
        gang = snapshot.gangs.get(row.gang)
        if gang is None or row.key not in placing.places:
            continue
        if sizes[gang.key] < gang.min_members:
            return gang.key
    return None


def _solution(
    cluster: Cluster, world: World, placing: Placing, rows: Sequence[PodRow]
) -> ReferenceSolution:
    uids = {row.key: row.uid for row in rows}
    kept = _kept(cluster, world, placing, rows)
    return ReferenceSolution(
        places={uids[key]: node for key, node in kept.items()},
        unplaced=tuple(sorted(uid for key, uid in uids.items() if key not in kept)),
        new=tuple(placing.new),
    )


def _kept(
    cluster: Cluster, world: World, placing: Placing, rows: Sequence[PodRow]
) -> dict[str, str]:
    """Return the places that hold when all new nodes are there before the first pod is bound.

    A node that was opened late may bring a domain that is empty, as nobody knew before.
    """
    before, _ = ground(cluster, world, rows)
    nodes = [renamed(one.option.node, one.name) for one in placing.new]
    for one in placing.new:
        for part in node_slices(one.name, one.option.kind):
            before.put("ResourceSlice", part)
    kept = dict(placing.places)
    while True:
        refused = check(before, nodes, tuple(kept.items()), daemon_sets=world.daemon_sets)
        if not refused:
            return kept
        for violation in refused:
            kept.pop(violation.pod, None)


def _instances(world: World) -> Counter[str]:
    left: Counter[str] = Counter()
    for offer in world.sold.values():
        for kind in offer.catalogue.instance_types:
            for one in kind.offerings:
                if one.available and one.capacity_type == CapacityType.RESERVED:
                    known = left.get(one.reservation_id, one.reservation_capacity)
                    left[one.reservation_id] = min(known, one.reservation_capacity)
    return left


def _settled(cluster: Cluster) -> frozenset[str]:
    """Return the labels that a rule about places may read."""
    found = {keys.ZONE, keys.REGION}
    for pod in (*cluster.pending.values(), *(pod.obj for pod in cluster.pods.values())):
        spec = spec_of(pod)
        found |= {one["topologyKey"] for one in spec.get("topologySpreadConstraints") or ()}
        for name in ("podAffinity", "podAntiAffinity"):
            affinity = (spec.get("affinity") or {}).get(name) or {}
            required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
            preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
            found |= {one["topologyKey"] for one in required}
            found |= {one["podAffinityTerm"]["topologyKey"] for one in preferred}
    # Each node has a host name of its own.
    return frozenset(found - {keys.HOSTNAME})
