"""What is read of pods and nodes, held against what a real kube-scheduler decided about them.

The judge here looks at snapshots only, and at no more than taints, node affinity, resources, host
ports and volumes: a mistake in reading shows as a node that is refused and was feasible, or, where
nothing else is in play, as one that is allowed and was not.
"""

import json
from collections.abc import Iterator
from typing import Any

from libs.cluster.files import load
from libs.domain import taint as taints
from libs.domain.capacity import NodeClassRef
from libs.domain.node import Node
from libs.domain.pod import PodRow, PodShape
from libs.domain.resources import total
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.taint import Effect, Taint
from tests.unit.libs.cluster.clusters import taken
from tests.unit.libs.kube.manifests import CLASS
from tests.unit.libs.oracle.recordings import documents_of, recorded_lines

EVERY = 8
BETWEEN_PODS = {
    "podAffinity",
    "podAntiAffinity",
    "existingAntiAffinity",
    "topologySpread",
    "csiLimits",
    "rwop",
    "inlineDisk",
    "schedulingGates",
}
CORDONED = Taint(key="node.kubernetes.io/unschedulable", effect=Effect.NO_SCHEDULE)


def test_no_feasible_node_is_refused_and_no_refused_pod_is_lost() -> None:
    seen = 0
    for case, snapshot, row in _cases():
        seen += 1
        feasible = set(case["verdict"]["feasibleNodes"])
        if row is None:
            assert not feasible, case["id"]
            assert f"Pod/{_key(case)}" in snapshot.set_aside, case["id"]
            continue
        shape = snapshot.shapes[row.shape]
        allowed = {n.name for n in snapshot.nodes.values() if _allows(n, shape, snapshot)}
        assert feasible <= allowed, case["id"]
        if BETWEEN_PODS.isdisjoint(case["kinds"]):
            within = {name for name in allowed if _attaches(snapshot.nodes[name], shape, snapshot)}
            assert within <= feasible, case["id"]
    assert seen > 6000 // EVERY


def _cases() -> Iterator[tuple[dict[str, Any], ClusterSnapshot, PodRow | None]]:
    for line in recorded_lines(every=EVERY):
        case = json.loads(line)
        documents = [("case", one) for one in documents_of(case)]
        loaded = load(documents, default_class=NodeClassRef(**CLASS))
        snapshot = taken(loaded.state)
        rows = {f"{row.namespace}/{row.name}": row for row in snapshot.pods.rows()}
        yield case, snapshot, rows.get(_key(case))


def _key(case: dict[str, Any]) -> str:
    metadata = case["pending"]["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}"


def _allows(node: Node, shape: PodShape, snapshot: ClusterSnapshot) -> bool:
    present = (*node.taints, CORDONED) if node.unschedulable else node.taints
    return (
        taints.tolerates(shape.tolerations, present, taints.HARD_EFFECTS, numeric=True)
        and _matches(node, shape)
        and _has_room(node, shape, snapshot)
    )


def _matches(node: Node, shape: PodShape) -> bool:
    labels = dict(node.labels)
    by_term = any(
        term.requirements.allows(labels)
        and (not term.node_names or node.name in term.node_names)
        and node.name not in term.excluded_node_names
        for term in shape.required_node_terms
    )
    return (
        shape.node_selector.allows(labels)
        and (by_term or not shape.required_node_terms)
        and all(any(one.allows(labels) for one in places) for places in shape.volumes)
    )


def _has_room(node: Node, shape: PodShape, snapshot: ClusterSnapshot) -> bool:
    there = _shapes_on(node, snapshot)
    used = total(one.requests for one in there)
    fits = all(
        amount + used.get(name) <= node.allocatable.get(name)
        for name, amount in shape.requests.items()
    )
    taken_ports = [port for one in there for port in one.host_ports]
    return fits and not any(
        (mine.port, mine.protocol) == (theirs.port, theirs.protocol)
        and (mine.ip == theirs.ip or "0.0.0.0" in (mine.ip, theirs.ip))
        for mine in shape.host_ports
        for theirs in taken_ports
    )


def _attaches(node: Node, shape: PodShape, snapshot: ClusterSnapshot) -> bool:
    there = [*_shapes_on(node, snapshot), shape]
    return all(
        sum(c.count for one in there for c in one.volume_attach_counts if c.driver == limit.driver)
        <= limit.count
        for limit in node.volume_limits
        if any(count.driver == limit.driver for count in shape.volume_attach_counts)
    )


def _shapes_on(node: Node, snapshot: ClusterSnapshot) -> list[PodShape]:
    return [snapshot.shapes[row.shape] for row in snapshot.pods.rows() if row.node == node.name]
