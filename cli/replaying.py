"""Replay recorded verdicts of a real kube-scheduler with the solver's rules.

Apart from the command because here raw objects become a snapshot: the recorded cluster goes through
the same reading as a live one, and the pod is then asked about as if no pool existed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from msgspec.structs import replace

from libs.cluster.state import ClusterState, StateOptions
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId
from libs.kube.convert.pod import uid_of
from libs.kube.objects.decoding import decode_object
from libs.kube.objects.device import DeviceClass, ResourceClaim, ResourceSlice
from libs.kube.objects.kinds import KubeObject
from libs.kube.objects.metadata import KubeStruct
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod
from libs.kube.objects.policy import Namespace, RuntimeClass
from libs.kube.objects.storage import (
    CsiDriver,
    CsiNode,
    CsiStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from services.solver.core.acceptance import accepting_nodes

_RECORDED_AT = datetime(2026, 1, 1, tzinfo=UTC)
_ID = SnapshotId(cluster_id="recording", epoch=Epoch(boot_id="recording"), revision=1)
_OPTIONS = StateOptions(offline=True)


class RecordedVerdict(KubeStruct, frozen=True):
    """What kube-scheduler said, as far as the solver answers the same question."""

    schedulable: bool
    feasible_nodes: tuple[str, ...]


class Recording(KubeStruct, frozen=True):
    """A line: a cluster, a pod, and the verdict on it."""

    id: int
    pending: Pod
    verdict: RecordedVerdict
    nodes: tuple[Node, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    pods: tuple[Pod, ...] = ()
    pvcs: tuple[PersistentVolumeClaim, ...] = ()
    pvs: tuple[PersistentVolume, ...] = ()
    storage_classes: tuple[StorageClass, ...] = ()
    csi_drivers: tuple[CsiDriver, ...] = ()
    csi_nodes: tuple[CsiNode, ...] = ()
    csi_storage_capacities: tuple[CsiStorageCapacity, ...] = ()
    volume_attachments: tuple[VolumeAttachment, ...] = ()
    runtime_classes: tuple[RuntimeClass, ...] = ()
    resource_claims: tuple[ResourceClaim, ...] = ()
    resource_slices: tuple[ResourceSlice, ...] = ()
    device_classes: tuple[DeviceClass, ...] = ()
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One line replayed."""

    id: int
    differences: tuple[str, ...]
    """What differs, for people; empty if nothing does."""
    kinds: tuple[str, ...]


def replay(lines: Iterable[str]) -> Iterator[Result]:
    """Ask the solver about every recorded pod, lazily and in order.

    Args:
        lines: JSON, one recording a line: the cluster's lists, `pending` and `verdict`.

    Raises:
        InvalidRequest: a line is no recording; names the field.
    """
    for line in lines:
        recording = decode_object(line.encode(), Recording)
        accepting = accepting_nodes(snapshot_of(recording), uid_of(recording.pending.metadata))
        yield Result(
            id=recording.id,
            differences=tuple(_differences(recording.verdict, accepting)),
            kinds=recording.kinds,
        )


def snapshot_of(recording: Recording) -> ClusterSnapshot:
    """Return the recorded cluster, in which the pod waits."""
    state = ClusterState(_OPTIONS)
    for one in _objects(recording):
        state.upsert(one)
    return state.snapshot(_RECORDED_AT, _ID)


def _objects(recording: Recording) -> Iterator[KubeObject]:
    yield from recording.nodes
    yield from recording.namespaces
    yield from recording.pods
    yield from recording.pvcs
    yield from recording.pvs
    yield from recording.storage_classes
    yield from recording.csi_drivers
    yield from recording.csi_nodes
    yield from recording.csi_storage_capacities
    yield from recording.volume_attachments
    yield from recording.runtime_classes
    yield from recording.resource_claims
    yield from recording.resource_slices
    yield from recording.device_classes
    yield _waiting(recording.pending)


def _waiting(pod: Pod) -> Pod:
    """Return the pod without what makes planning leave it to someone else, as filters do not."""
    return replace(
        pod,
        metadata=replace(pod.metadata, owner_references=()),
        status=replace(pod.status, nominated_node_name=""),
    )


def _differences(recorded: RecordedVerdict, accepting: tuple[str, ...]) -> Iterator[str]:
    theirs = tuple(sorted(recorded.feasible_nodes))
    if recorded.schedulable != bool(accepting):
        yield f"schedulable: recorded {recorded.schedulable}, ours {bool(accepting)}"
    if theirs != accepting:
        yield f"feasible nodes: recorded {list(theirs)}, ours {list(accepting)}"
