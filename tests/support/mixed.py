"""A cluster of Kubernetes documents as the solver sees it, and as its judges do."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from libs.cluster import files
from libs.domain.capacity import Catalogue, InstanceType
from libs.domain.feature_gates import FeatureGate
from libs.domain.plan import UnplacedPods
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId
from libs.domain.solution import SolveOptions
from libs.oracle.cluster import Cluster
from libs.oracle.daemons import daemon_pods
from libs.oracle.objects import name_of
from tests.support.builders import NODE_CLASS, NOW

Document = dict[str, Any]

_ID = SnapshotId(cluster_id="mixed", epoch=Epoch(boot_id="boot"), revision=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedCluster:
    """Documents, what can be bought, and which feature gates are open."""

    documents: tuple[Document, ...]
    types: tuple[InstanceType, ...]
    gates: tuple[FeatureGate, ...] = ()

    @property
    def options(self) -> SolveOptions:
        """How it is solved."""
        return SolveOptions(feature_gates={str(gate): True for gate in self.gates})


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The cluster in both forms."""

    snapshot: ClusterSnapshot
    options: SolveOptions
    left_out: tuple[UnplacedPods, ...]
    """Pods whose objects lead nowhere."""
    cluster: Cluster
    daemon_sets: tuple[Document, ...]


def load(mixed: MixedCluster) -> Loaded:
    """Return the cluster as a snapshot and as objects."""
    documents = [*mixed.documents, *_daemons(mixed.documents)]
    loaded = files.load(
        [("mixed", document) for document in documents],
        default_class=NODE_CLASS,
        options=files.reading(mixed.options.feature_gates),
    )
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
        snapshot=loaded.state.snapshot(NOW, _ID),
        options=mixed.options,
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
