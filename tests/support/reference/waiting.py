"""Which pods wait, in which order, and the cluster as it is for them.

Source: `docs/sources.md` B (reschedulable), D1, D4.1, D5.2.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from libs.checker.ahead import ahead
from libs.checker.nodes import flying_node
from libs.domain import do_not_disrupt
from libs.domain.pod import PodRow
from libs.domain.snapshot import ClusterSnapshot
from libs.oracle.cluster import Cluster
from libs.oracle.daemons import daemon_pods
from libs.oracle.objects import KubeObject, metadata_of, spec_of
from libs.oracle.pods import read_pod
from libs.oracle.verdict import judge_node
from tests.support.reference.options import World, put_node


def queue(cluster: Cluster, snapshot: ClusterSnapshot, now: datetime) -> list[PodRow]:
    """Return the pods that wait, in the order in which they are tried.

    Virtual pods of buffers, which are no objects of Kubernetes, are left out.
    """
    objects = cluster.pending | {key: pod.obj for key, pod in cluster.pods.items()}
    found = []
    for row in snapshot.pods.rows():
        if row.key in objects and _waits(row, snapshot, now):
            requests = read_pod(_unbound(objects[row.key])).requests
            size = -requests.get("cpu", 0), -requests.get("memory", 0)
            order = (-row.priority, *size, row.created_ms, row.uid)
            found.append((order, row))
    return [row for _, row in sorted(found, key=lambda one: one[0])]


def ground(cluster: Cluster, world: World, waiting: Sequence[PodRow]) -> tuple[Cluster, list[str]]:
    """Return the cluster without what leaves and with what comes, and its nodes in order.

    Claims in flight count once they are launched. Daemon pods that are missing are there already.
    """
    snapshot = world.snapshot
    state = ahead(cluster, snapshot, [row.key for row in waiting]).copy()
    for node in snapshot.nodes.values():
        if node.leaving and node.name in state.nodes:
            state.delete("Node", node.name)
    for name in tuple(state.device_classes) if not world.gives_devices else ():
        state.delete("DeviceClass", name)
    usable = [snapshot.nodes[name] for name in state.nodes if name in snapshot.nodes]
    names = [one.name for one in sorted(usable, key=lambda one: (not one.initialized, one.name))]
    for name in names:
        _add_daemons(state, name, world.daemon_sets)
    for claim in snapshot.nodeclaims.values():
        if not claim.node_name and claim.deleting_at is None and len(claim.allocatable):
            put_node(state, flying_node(claim, None), world.daemon_sets)
            names.append(claim.name)
    return state, names


def _add_daemons(state: Cluster, name: str, daemon_sets: Sequence[KubeObject]) -> None:
    there = {
        owner.get("uid")
        for pod in state.nodes[name].pods.values()
        for owner in metadata_of(pod.obj).get("ownerReferences") or ()
    }
    missing = [one for one in daemon_sets if metadata_of(one).get("uid") not in there]
    for daemon in daemon_pods(state, missing, name):
        if not judge_node(state, daemon, name):
            state.bind(daemon, name)


def _waits(row: PodRow, snapshot: ClusterSnapshot, now: datetime) -> bool:
    if row.terminal:
        return False
    if not row.node:
        return row.provisionable
    node = snapshot.nodes.get(row.node)
    if node is None or not node.leaving or not row.reschedulable:
        return False
    protected = do_not_disrupt.protects(
        row.do_not_disrupt_ms,
        started_ms=row.started_ms,
        now_ms=int(now.timestamp() * 1000),
    )
    return not (row.active and protected) and not any(_never_evicted(row, snapshot))


def _never_evicted(row: PodRow, snapshot: ClusterSnapshot) -> Iterator[bool]:
    labels = dict(snapshot.shapes[row.shape].labels)
    budgets = [
        one
        for one in snapshot.pod_disruption_budgets.values()
        if one.namespace == row.namespace
        and one.selector is not None
        and one.selector.matches(labels)
    ]
    yield len(budgets) > 1
    yield from (one.never_satisfiable for one in budgets)


def _unbound(pod: KubeObject) -> KubeObject:
    spec = {name: value for name, value in spec_of(pod).items() if name != "nodeName"}
    return {**pod, "spec": spec}
