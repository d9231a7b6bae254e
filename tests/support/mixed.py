"""A cluster of Kubernetes documents as the solver sees it, and as its judges do."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from libs.cluster import files
from libs.domain.capacity import Catalogue, InstanceType
from libs.domain.plan import UnplacedPods
from libs.domain.pod import PodRow, PodTable
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId, keyed
from libs.domain.workload import CapacityBuffer, Gang
from libs.oracle.cluster import Cluster
from libs.oracle.daemons import daemon_pods
from libs.oracle.objects import name_of
from tests.support.builders import NODE_CLASS, NOW

Document = dict[str, Any]

_ID = SnapshotId(cluster_id="mixed", epoch=Epoch(boot_id="boot"), revision=1)
_NAMESPACE = "n1"


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedCluster:
    """Documents, what can be bought, and what Kubernetes' own objects do not say."""

    documents: tuple[Document, ...]
    types: tuple[InstanceType, ...]
    gangs: Mapping[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    """By name: the least that is placed together, and the uids of all members."""
    virtual: tuple[str, ...] = ()
    """Uids of pods that stand for room that is kept free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The cluster in both forms."""

    snapshot: ClusterSnapshot
    left_out: tuple[UnplacedPods, ...]
    """Pods whose objects lead nowhere."""
    cluster: Cluster
    daemon_sets: tuple[Document, ...]


def load(mixed: MixedCluster) -> Loaded:
    """Return the cluster as a snapshot and as objects."""
    documents = [*mixed.documents, *_daemons(mixed.documents)]
    loaded = files.load([("mixed", document) for document in documents], default_class=NODE_CLASS)
    for node_class in loaded.node_classes:
        loaded.state.set_catalogue(
            Catalogue(
                node_class=node_class,
                etag="1",
                observed_at=NOW,
                instance_types=mixed.types,
                well_known_keys=("example.com/reservation-id", "gen"),
            )
        )
    cluster = Cluster()
    for kind, document in loaded.documents:
        cluster.put(kind, document)
    return Loaded(
        snapshot=_joined(mixed, loaded.state.snapshot(NOW, _ID)),
        left_out=loaded.state.left_out(),
        cluster=cluster,
        daemon_sets=tuple(
            dict(document) for kind, document in loaded.documents if kind == "DaemonSet"
        ),
    )


def _daemons(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield the pods that DaemonSets have on the nodes that are there."""
    cluster = Cluster()
    sets = []
    for document in documents:
        cluster.put(document["kind"], document)
        sets += [document] if document["kind"] == "DaemonSet" else []
    for node in cluster.nodes:
        for pod in daemon_pods(cluster, sets, node):
            owner = next(one for one in sets if name_of(pod).startswith(name_of(one)))
            reference = {
                "apiVersion": "apps/v1",
                "kind": "DaemonSet",
                "name": name_of(owner),
                "uid": name_of(owner),
                "controller": True,
            }
            metadata = {**pod["metadata"], "uid": name_of(pod), "ownerReferences": [reference]}
            yield {
                **pod,
                "metadata": metadata,
                "spec": {**pod["spec"], "nodeName": node},
                "status": {"phase": "Running"},
            }


def _joined(mixed: MixedCluster, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Return the snapshot with its gangs and buffers."""
    gang_of = {uid: name for name, (_, members) in mixed.gangs.items() for uid in members}
    buffers: list[CapacityBuffer] = []
    rows: list[PodRow] = []
    for row in snapshot.pods.rows():
        if row.uid in gang_of:
            rows.append(row._replace(gang=f"{_NAMESPACE}/{gang_of[row.uid]}"))
        elif row.uid in mixed.virtual:
            name = f"buffer-{row.uid}"
            buffers.append(
                CapacityBuffer(
                    namespace=row.namespace, name=name, uid=name, shape=row.shape, replicas=1
                )
            )
            rows.append(row._replace(uid=f"{name}-1", name=f"capacity-{name}", provisionable=False))
        else:
            rows.append(row)
    gangs = [
        Gang(namespace=_NAMESPACE, name=name, min_members=least)
        for name, (least, _) in mixed.gangs.items()
    ]
    return replace(
        snapshot,
        pods=PodTable.from_rows(rows),
        buffers=keyed("buffers", buffers),
        gangs=keyed("gangs", gangs),
    )
