"""Which nodes accept a pod as things are: the question that kube-scheduler's filters answer.

Apart from packing because nothing is placed; the rules are packing's own, so that replaying
verdicts of a real kube-scheduler judges them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from libs.domain.feature_gates import FeatureGate
from libs.domain.labels import HOSTNAME
from libs.domain.pod import PodRow, PodShape
from libs.domain.pod_table import PodTable
from libs.domain.reason import TargetKind
from libs.domain.resources import Resources
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import PreferencePolicy, SolveOptions
from libs.domain.topology import PodAffinityTerm, TopologySpread
from services.solver.core.devices.extended import resource_classes
from services.solver.core.offers.market import NOTHING_REMEMBERED
from services.solver.core.packing.encode import encode, problem
from services.solver.core.pods.shape_index import ShapeIndex

_Constraint = TypeVar("_Constraint", PodAffinityTerm, TopologySpread)

_HOST = "joiner.internal/hostname"
"""Stands for the label of the host where several nodes have the same one."""


def accepting_nodes(snapshot: ClusterSnapshot, pod_uid: str) -> tuple[str, ...]:
    """Return the names of the nodes that a waiting pod could be bound to now, sorted.

    Args:
        snapshot: the cluster; its pools are not looked at.
        pod_uid: a pod that waits; empty is returned for any other.
    """
    pod = snapshot.pods.find(pod_uid)
    found = _accepted(snapshot, pod_uid)
    if pod is None or not found:
        return tuple(sorted(found))
    refused = {
        node
        for node, rows in _nominated(snapshot, pod).items()
        if node in found and node not in _accepted(_with_rows(snapshot, pod, rows), pod_uid)
    }
    return tuple(sorted(found - refused))


def _nominated(snapshot: ClusterSnapshot, pod: PodRow) -> dict[str, list[PodRow]]:
    """Return by node the pods for which it is nominated and whose room is not free to a pod.

    kube-scheduler asks twice about such a node: as it is, and with these pods on it, but with those
    of no other node.
    """
    found: dict[str, list[PodRow]] = defaultdict(list)
    for row in snapshot.pods.rows():
        if row.nominated and row.uid != pod.uid and row.priority >= pod.priority:
            found[row.nominated].append(row)
    return found


def _with_rows(snapshot: ClusterSnapshot, pod: PodRow, rows: Sequence[PodRow]) -> ClusterSnapshot:
    """Return the cluster with pods on the nodes that are nominated for them.

    kube-scheduler does not look at their anti-affinity unless it looks at neighbours anyway: for
    rules of the pod's own, or of pods that run.
    """
    shape, shapes = snapshot.shapes[pod.shape], dict(snapshot.shapes)
    there = {row.uid: row._replace(node=row.nominated, nominated="") for row in rows}
    if not (shape.affinity or shape.anti_affinity or _is_shunned(snapshot, shape)):
        for number, row in enumerate(rows, start=1 + max(shapes)):
            shapes[number] = replace(shapes[row.shape], id=number, anti_affinity=())
            there[row.uid] = there[row.uid]._replace(shape=number)
    others = (there.get(row.uid, row) for row in snapshot.pods.rows())
    return replace(snapshot, pods=PodTable.from_rows(others), shapes=shapes)


def _is_shunned(snapshot: ClusterSnapshot, shape: PodShape) -> bool:
    """Tell whether a pod that runs must not have a pod of this shape near it."""
    index = ShapeIndex((), snapshot.namespaces)
    for row in snapshot.pods.rows():
        node = snapshot.nodes.get(row.node)
        terms = snapshot.shapes[row.shape].anti_affinity
        if node is None or row.terminal or not terms:
            continue
        keys = {key for key, _ in node.labels}
        if any(one.topology_key in keys and index.matches(one, shape) for one in terms):
            return True
    return False


def _accepted(snapshot: ClusterSnapshot, pod_uid: str) -> set[str]:
    return {
        name
        for names, part in _parts(_with_hosts_as_labelled(_as_it_is(snapshot)))
        for name in names.intersection(_accepting(part, pod_uid))
    }


def _accepting(snapshot: ClusterSnapshot, pod_uid: str) -> Iterable[str]:
    options = SolveOptions(
        preference_policy=PreferencePolicy.IGNORE,
        feature_gates={FeatureGate.DYNAMIC_RESOURCES: True},
    )
    encoded = encode(snapshot, options, snapshot.observed_at, NOTHING_REMEMBERED)
    groups = tuple(group for group in encoded.work.groups if pod_uid in group.uids)
    if not groups:
        return ()
    made = problem(encoded, groups)
    ask, packing = made.asks[0][-1], made.algebra.packing
    number = made.topology.ask(ask)
    where = packing.verdict(number)
    if where is None:
        return ()
    bins, counts = packing.room(number, where)
    return [
        encoded.standing.names[position]
        for position in bins[counts > 0].tolist()
        if encoded.standing.kinds[position] is TargetKind.NODE
        and made.algebra.grants.has_on_standing(ask.shape, position)
    ]


def _as_it_is(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Return the cluster without what planning adds: kube-scheduler only looks at what is there.

    It binds pods to nodes that are going, and lets a claim that has no volume yet be for each of
    its pods what it is for the first.
    """
    return replace(
        snapshot,
        nodepools={},
        nodeclaims={},
        nodes={name: replace(node, leaving=False) for name, node in snapshot.nodes.items()},
        shapes={
            number: replace(
                shape,
                shared_volumes=tuple(
                    replace(volume, topology_key="") for volume in shape.shared_volumes
                ),
            )
            for number, shape in snapshot.shapes.items()
        },
    )


def _with_hosts_as_labelled(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Return the cluster with hosts as a label like any other, where nodes share its value.

    Planning takes each node for a host of its own; such nodes come from wrong labels.
    """
    hosts = {name: dict(node.labels).get(HOSTNAME) for name, node in snapshot.nodes.items()}
    known = [host for host in hosts.values() if host is not None]
    if len(set(known)) == len(known):
        return snapshot
    return replace(
        snapshot,
        nodes={
            name: node if host is None else replace(node, labels=(*node.labels, (_HOST, host)))
            for (name, host), node in zip(hosts.items(), snapshot.nodes.values(), strict=True)
        },
        shapes={
            number: replace(
                shape,
                affinity=_renamed(shape.affinity),
                anti_affinity=_renamed(shape.anti_affinity),
                topology_spread=_renamed(shape.topology_spread),
            )
            for number, shape in snapshot.shapes.items()
        },
    )


def _renamed(given: tuple[_Constraint, ...]) -> tuple[_Constraint, ...]:
    return tuple(
        replace(one, topology_key=_HOST) if one.topology_key == HOSTNAME else one for one in given
    )


def _parts(snapshot: ClusterSnapshot) -> Iterable[tuple[frozenset[str], ClusterSnapshot]]:
    """Return the nodes by the resources that device plugins offer there, in place of devices.

    What a device class stands for is a resource on the ones and a claim on the others, but planning
    has to take it for one of the two; so the others of each part offer none of it.
    """
    resources = resource_classes(snapshot.device_classes).keys()
    parts: dict[frozenset[str], set[str]] = defaultdict(set)
    for name, node in snapshot.nodes.items():
        parts[frozenset(one for one in resources if node.allocatable.get(one))].add(name)
    for names in parts.values():
        nodes = {
            name: node if name in names else replace(node, allocatable=Resources())
            for name, node in snapshot.nodes.items()
        }
        yield frozenset(names), snapshot if len(parts) == 1 else replace(snapshot, nodes=nodes)
