"""Small clusters of documents, and what the reference solver makes of them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from libs.catalogues import well_known_keys
from libs.cluster.files import load
from libs.domain import labels as keys
from libs.domain.capacity import Catalogue, InstanceType
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId
from libs.domain.solution import SolveOptions
from libs.oracle.check import check
from libs.oracle.cluster import Cluster
from libs.oracle.objects import KubeObject
from tests.support.builders import NODE_CLASS, a_type, amounts
from tests.support.reference import ReferenceSolution, reference_solve
from tests.support.reference.options import renamed

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ID = SnapshotId(cluster_id="files", epoch=Epoch(boot_id="files"), revision=1)
SMALL = a_type("small", capacity=amounts(cpu=2, memory="8Gi", pods=10), price=10**8)
LARGE = a_type("large", capacity=amounts(cpu=8, memory="32Gi", pods=10), price=5 * 10**8)
TYPES = (LARGE, SMALL)
Obj = dict[str, Any]


def a_pod(name: str, cpu: str = "1", *, labels: Obj | None = None, **spec: Any) -> Obj:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu, "memory": "100Mi"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": name, "labels": labels or {}},
        "spec": {"containers": [container], **spec},
    }


def a_pool(name: str = "pool", **spec: Any) -> Obj:
    reference = {"group": NODE_CLASS.group, "kind": NODE_CLASS.kind, "name": NODE_CLASS.name}
    own = {
        "nodeClassRef": reference,
        "requirements": spec.pop("requirements", []),
        "taints": spec.pop("taints", []),
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "uid": name},
        "spec": {"template": {"spec": own}, **spec},
    }


def a_node(name: str, cpu: str = "4", **labels: str) -> Obj:
    room = {"cpu": cpu, "memory": "8Gi", "pods": "10"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": name, "labels": {keys.HOSTNAME: name, **labels}},
        "status": {"capacity": room, "allocatable": room},
    }


def a_daemon(cpu: str) -> Obj:
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": a_pod("", cpu)["spec"]}
    selector = {"matchLabels": {"app": "agent"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "shop", "uid": "agent"},
        "spec": {"selector": selector, "template": template},
    }


def a_gang(name: str, members: int) -> Obj:
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"minMember": members},
    }


def loaded(
    objects: tuple[Obj, ...], types: tuple[InstanceType, ...] = TYPES
) -> tuple[Cluster, ClusterSnapshot]:
    loaded = load([("test", list(objects))], default_class=NODE_CLASS)
    for node_class in loaded.node_classes:
        catalogue = Catalogue(
            node_class=node_class,
            etag="",
            observed_at=NOW,
            instance_types=tuple(sorted(types, key=lambda one: one.name)),
            well_known_keys=well_known_keys("file", types),
        )
        loaded.state.set_catalogue(catalogue)
    cluster = Cluster()
    for kind, document in loaded.documents:
        cluster.put(kind, document)
    return cluster, loaded.state.snapshot(NOW, ID)


def solved(
    *objects: Obj,
    types: tuple[InstanceType, ...] = TYPES,
    options: SolveOptions | None = None,
) -> ReferenceSolution:
    cluster, snapshot = loaded(objects, types)
    daemon_sets = [one for one in objects if one["kind"] == "DaemonSet"]
    found = reference_solve(cluster, snapshot, options or SolveOptions(), daemon_sets=daemon_sets)
    _confirm(cluster, found, daemon_sets)
    return found


def _confirm(cluster: Cluster, found: ReferenceSolution, daemon_sets: Sequence[KubeObject]) -> None:
    nodes = [renamed(one.option.node, one.name) for one in found.new]
    placements = [(f"shop/{uid}", node) for uid, node in found.places.items()]
    assert check(cluster, nodes, placements, daemon_sets=daemon_sets) == []


def bought(found: ReferenceSolution) -> list[tuple[str, int]]:
    return [(one.option.kind.name, len(one.pods)) for one in found.new]
