"""`takers`: which nodes could take a pod that a plan left out, alone?

Apart from solving: nothing is decided here, a plan is carried out as it stands.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from libs.checker.claims import purchase
from libs.checker.devices import node_slices
from libs.checker.nodes import flying_node, planned_name, planned_node
from libs.checker.storage import node_capacities
from libs.domain.plan import Plan, PlannedNodeClaim
from libs.domain.pod import PodRow
from libs.domain.resources import NOTHING
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from libs.oracle.check import Violation, carry_out
from libs.oracle.cluster import Cluster
from libs.oracle.objects import KubeObject, name_of
from libs.oracle.pods import read_pod
from libs.oracle.verdict import judge
from tests.support.reference.options import Market, World
from tests.support.reference.placing import NewNode, Placing
from tests.support.reference.solving import gang_sizes, start
from tests.support.reference.waiting import queue
from tests.support.reference.wishes import Wish

_DEFAULTS = SolveOptions()


def takers(
    cluster: Cluster,
    snapshot: ClusterSnapshot,
    plan: Plan,
    options: SolveOptions = _DEFAULTS,
    *,
    daemon_sets: Iterable[KubeObject] = (),
) -> dict[str, tuple[str, ...]]:
    """Return who could take each pod that the plan left out after all, once it is carried out.

    A new claim is charged against its pool's limits with the most that it could have become for any
    of its pods alone: no solver charges more when it opens a claim. Pods that came late to a gang
    that is whole count, members of a gang that is not do not.

    Args:
        cluster: The cluster as Kubernetes objects; it is not changed.
        snapshot: What the plan was made from.
        plan: It must be right, as `libs.checker` says.
        options: As the solver had them.
        daemon_sets: DaemonSet objects.

    Returns:
        By uid the names of nodes (new ones only if they keep their pool's minValues), and
        `new <pool>/<type>/…` for one that could be bought; only pods that have any.
    """
    world = World.of(snapshot, options, daemon_sets)
    snapshot = world.snapshot
    rows = queue(cluster, snapshot, world.now)
    placing = start(cluster, world, Market(cluster, world), rows)
    by_uid = {row.uid: row for row in rows}
    nodes = [
        *_in_flight(placing, world),
        *(_buy(placing, world, claim, by_uid) for claim in plan.nodeclaims),
    ]
    _bind(placing, by_uid, plan, nodes)
    sizes = gang_sizes(placing, snapshot, rows)
    found = {}
    for row in rows:
        gang = snapshot.gangs.get(row.gang)
        if row.key in placing.places:
            continue
        if gang is None or sizes[gang.key] + 1 >= gang.min_members:
            names = _takers_of(placing, placing.cluster.pending[row.key])
            if names:
                found[row.uid] = names
    return found


def _takers_of(placing: Placing, pod: KubeObject) -> tuple[str, ...]:
    if placing.ignores(pod) or placing.nominated(pod):
        return ()
    wish = Wish(pod=pod, avoids_soft_taints=False)
    planned = {one.name: one for one in placing.new}
    there = [
        name
        for name in judge(placing.cluster, pod).feasible
        if name not in planned or placing.keeps_choice(planned[name], wish)
    ]
    bought = placing.new_node(wish)
    new = () if bought is None else (f"new {name_of(bought.option.node)}",)
    return (*there, *new)


def _in_flight(placing: Placing, world: World) -> Iterator[KubeObject]:
    """Yield the nodes of claims that are not launched: they come, whether a pod waits or not."""
    for claim in world.snapshot.nodeclaims.values():
        is_coming = not claim.node_name and claim.deleting_at is None
        if is_coming and claim.name not in placing.cluster.nodes:
            offer = world.sold.get(claim.nodepool)
            yield flying_node(claim, offer.catalogue if offer is not None else None)


def _buy(
    placing: Placing, world: World, claim: PlannedNodeClaim, rows: Mapping[str, PodRow]
) -> KubeObject:
    """Return the claim's node; what it brings is there, it is charged against its pool."""
    bought = purchase(world.snapshot, claim, world.sold)
    if isinstance(bought, Violation):
        raise AssertionError(bought)
    for one in node_slices(planned_name(claim), bought.kind):
        placing.cluster.put("ResourceSlice", one)
    wishes = [
        Wish(pod=placing.cluster.pending[rows[uid].key], avoids_soft_taints=False)
        for uid in claim.pod_uids
        if uid in rows
    ]
    fitting = [placing.market.fitting(wish, read_pod(wish.pod), claim.nodepool) for wish in wishes]
    # Virtual pods are no rows of the queue: a node for them alone is all that its claim lists.
    sold = () if fitting else placing.market.pools[claim.nodepool]
    possible = tuple(dict.fromkeys([*sold, *(one for options in fitting for one in options)]))
    if possible:
        placing.charge(possible)
    listed = [
        one
        for one in possible
        if one.kind.name in claim.instance_types and all(one in options for options in fitting)
    ]
    if listed:
        placing.new.append(NewNode(name=planned_name(claim), option=listed[0], options=listed))
    room = bought.observed.get(bought.kind.name, NOTHING)
    node = planned_node(claim, bought.pool, bought.kind, bought.offering, room)
    for capacity in tuple(node_capacities(placing.cluster, node)):
        placing.cluster.put("CSIStorageCapacity", capacity)
    return node


def _bind(
    placing: Placing, rows: Mapping[str, PodRow], plan: Plan, nodes: Sequence[KubeObject]
) -> None:
    """Let the new nodes come and bind the placed pods, in an order that works."""
    placed = [(uid, one.target) for one in plan.nominations for uid in one.pod_uids]
    placed += [(uid, planned_name(one)) for one in plan.nodeclaims for uid in one.pod_uids]
    # Virtual pods of buffers are no rows of the queue.
    placements = [(rows[uid].key, node) for uid, node in placed if uid in rows]
    before = placing.cluster
    daemon_sets = placing.market.daemon_sets
    placing.cluster = carry_out(before, nodes, placements, daemon_sets=daemon_sets).cluster
    for key, node in placements:
        placing.note(before.pending[key], node)
