"""Cluster states of documents, and snapshots of them."""

from datetime import UTC, datetime

from libs.cluster.state import ClusterState, StateOptions
from libs.domain.nodeclaim import NodeClaim
from libs.domain.pod import PodRow, PodShape
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId, inconsistencies
from libs.kube.objects.decoding import from_document
from libs.kube.objects.kinds import KubeObject, struct_of
from tests.unit.libs.kube.manifests import Document

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
LIVE = StateOptions()
ID = SnapshotId(cluster_id="home", epoch=Epoch(boot_id="boot"), revision=1)


def an_object_of(document: Document) -> KubeObject:
    struct = struct_of(document["apiVersion"], document["kind"])
    assert struct is not None
    return from_document(document, struct)


def a_state(*documents: Document, options: StateOptions = LIVE) -> ClusterState:
    state = ClusterState(options)
    for document in documents:
        state.upsert(an_object_of(document))
    return state


def taken(state: ClusterState, now: datetime = NOW) -> ClusterSnapshot:
    """Return a snapshot, which is consistent whatever was put in."""
    snapshot = state.snapshot(now, ID)
    assert inconsistencies(snapshot) == ()
    return snapshot


def snapshot_of(*documents: Document, options: StateOptions = LIVE) -> ClusterSnapshot:
    return taken(a_state(*documents, options=options))


def row_of(snapshot: ClusterSnapshot, name: str) -> PodRow:
    (found,) = (row for row in snapshot.pods.rows() if row.name == name)
    return found


def shape_of(snapshot: ClusterSnapshot, name: str) -> PodShape:
    return snapshot.shapes[row_of(snapshot, name).shape]


def pod_names(snapshot: ClusterSnapshot) -> list[str]:
    return sorted(snapshot.pods.names)


def reasons(snapshot: ClusterSnapshot) -> dict[str, tuple[str, str]]:
    """Return field and message of what was set aside, by key."""
    return {key: (one.field, one.message) for key, one in snapshot.set_aside.items()}


def claim(snapshot: ClusterSnapshot, name: str = "default-x1") -> NodeClaim:
    return snapshot.nodeclaims[name]
