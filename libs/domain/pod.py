"""Pods in two parts: the shape says where a pod may run, the row says which pod and when.

Thousands of pods share a few hundred shapes; whatever costs time (matching, interning, reasons) is
done per shape. Rows are kept as columns (`pod_table.py`), so that a solver needs no object per pod.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, NewType

from libs.domain.device import DeviceClaim
from libs.domain.labels import HOSTNAME
from libs.domain.reason import TargetKind
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.taint import Toleration
from libs.domain.topology import (
    PodAffinityTerm,
    PreferredNodeTerm,
    TopologySpread,
    WeightedPodAffinityTerm,
)
from libs.domain.volume import UnboundClaim

PodUid = NewType("PodUid", str)

DO_NOT_DISRUPT_FOR_EVER = -1


class PodPhase(StrEnum):
    """status.phase."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class HostPort:
    """A port taken on the node; address 0.0.0.0 takes it on every address."""

    ip: str = "0.0.0.0"
    protocol: str = "TCP"
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTerm:
    """One term of a required node affinity: labels and names (matchFields), both of which hold."""

    requirements: Requirements
    node_names: tuple[str, ...] = ()
    """Allowed names; empty allows every name."""
    excluded_node_names: tuple[str, ...] = ()


NOWHERE = NodeTerm(
    requirements=Requirements(
        Requirement.of(HOSTNAME, operator)
        for operator in (Operator.EXISTS, Operator.DOES_NOT_EXIST)
    )
)
"""Stands for terms of which none matches a node, as empty ones do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeAttachCount:
    """Distinct volumes of a CSI driver: attached by a pod, or the most that a node attaches."""

    driver: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedVolume:
    """A volume of a pod that other pods use, too: through a claim, or named by each of them."""

    claim: str
    """`namespace/name` of the claim; `driver/volume` of a disk without one, or with several names.
    """
    driver: str = ""
    """CSI driver that attaches its volume, once per node; empty where none does."""
    exclusive: bool = False
    """Whether a single pod at a time may use it (ReadWriteOncePod)."""
    topology_key: str = ""
    """Its pods have to be in one domain of this key, as its volume is yet to be made there."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ExclusiveDisk:
    """A disk that a pod names without a claim: one pod of a node has it, or several that read."""

    disk: str
    """Kind and name, so that equal text is the same disk."""
    read_only: bool = False
    """Whether pods that only read it, too, may be beside this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageRoom:
    """Where there is room for volumes of a pod that are yet to be made, as their driver says.

    Apart from where the volumes can be used: room comes and goes.
    """

    storage_class: str
    size: int
    """Bytes of the largest of them."""
    published: tuple[Requirements, ...] = ()
    """Where the driver says that it has enough, or a volume that is there will do instead; any one
    suffices."""
    starting: tuple[Requirements, ...] = ()
    """Where nothing is said that speaks against it; any one suffices for a node that is yet to
    start, of which no driver can have said anything."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class RequestField:
    """A field of a pod, or of its runtime class, that an amount of its requests comes from."""

    resource: str
    field: str
    """Path without the resource; `RuntimeClass/NAME.` comes before one of the runtime class."""
    amount: int
    """What it says."""
    without: int
    """What the pod would request if it said nothing: less there counts down to this."""


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class PodShape:
    """Everything that decides where a pod may run, and where what it requests is written."""

    id: int
    """Unique and stable within an epoch; says nothing else."""
    namespace: str
    labels: tuple[tuple[str, str], ...] = ()
    """Labels that at least one selector of the cluster reads, sorted by key."""
    requests: Resources
    """Effective requests, init containers, sidecars and overhead included; `pods` is 1."""
    node_selector: Requirements
    required_node_terms: tuple[NodeTerm, ...] = ()
    """Any one suffices; empty: no required node affinity."""
    preferred_node_terms: tuple[PreferredNodeTerm, ...] = ()
    """Heaviest first."""
    tolerations: tuple[Toleration, ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    topology_spread: tuple[TopologySpread, ...] = ()
    affinity: tuple[PodAffinityTerm, ...] = ()
    anti_affinity: tuple[PodAffinityTerm, ...] = ()
    preferred_affinity: tuple[WeightedPodAffinityTerm, ...] = ()
    preferred_anti_affinity: tuple[WeightedPodAffinityTerm, ...] = ()
    volumes: tuple[tuple[Requirements, ...], ...] = ()
    """Per volume its alternatives, any one of which suffices; all volumes must hold."""
    volume_attach_counts: tuple[VolumeAttachCount, ...] = ()
    device_claims: tuple[DeviceClaim, ...] = ()
    shared_volumes: tuple[SharedVolume, ...] = ()
    """Volumes that other pods use, too, sorted; `volume_attach_counts` has them as well."""
    exclusive_disks: tuple[ExclusiveDisk, ...] = ()
    """Those that other pods name, too, sorted."""
    storage_rooms: tuple[StorageRoom, ...] = ()
    """All must hold; only of drivers that say how much room there is."""
    unbound_claims: tuple[UnboundClaim, ...] = ()
    """Claims for which there are volumes that other claims may take, too, in the order in which
    they choose; where they could be bound, were there no others, `volumes` and `storage_rooms` say.
    """
    required_features: tuple[str, ...] = ()
    """What the kubelet has to say that it can do, sorted."""
    request_fields: tuple[RequestField, ...] = ()
    """Which fields `requests` come from, sorted; empty where containers ask for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The controller that owns a pod."""

    api_version: str
    kind: str
    name: str
    uid: str

    @property
    def is_daemonset(self) -> bool:
        """Return whether every node gets such a pod by itself."""
        return self.api_version == "apps/v1" and self.kind == "DaemonSet"

    @property
    def is_node(self) -> bool:
        """Return whether the pod mirrors a static manifest of its node."""
        return self.api_version == "v1" and self.kind == "Node"

    @property
    def is_statefulset(self) -> bool:
        """Return whether a terminating pod comes back under the same name."""
        return self.api_version == "apps/v1" and self.kind == "StatefulSet"


class Target(NamedTuple):
    """A node or a claim in flight on which a pod is expected."""

    kind: TargetKind
    name: str


class PodRow(NamedTuple):
    """One pod. Instants are milliseconds since 1970 UTC, 0 where there is none."""

    uid: str
    namespace: str
    name: str
    shape: int
    node: str = ""
    phase: PodPhase = PodPhase.PENDING
    ready: bool = False
    provisionable: bool = False
    """Whether it waits for a node that nobody else will bring."""
    created_ms: int = 0
    started_ms: int = 0
    deleting_ms: int = 0
    """Deletion timestamp, grace period included."""
    priority: int = 0
    deletion_cost: int = 0
    do_not_disrupt_ms: int = 0
    """Protection from the pod's start on: 0 none, -1 for ever."""
    owner: Owner | None = None
    volume_claims: tuple[str, ...] = ()
    """Names of its claims in its namespace, sorted."""
    gang: str = ""
    """`namespace/name` of its gang."""
    target: Target | None = None
    """Where the last plan that was carried out expects it, while it waits."""
    nominated: str = ""
    """Node on which kube-scheduler makes room for it, while it waits. One that is not provisionable
    lacks something else: it gets no place, and its room is kept all the same."""

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def terminal(self) -> bool:
        """Return whether all containers have ended, so that the pod takes no room."""
        return self.phase in (PodPhase.SUCCEEDED, PodPhase.FAILED)

    @property
    def terminating(self) -> bool:
        """Return whether the pod is being deleted."""
        return self.deleting_ms != 0

    @property
    def active(self) -> bool:
        """Return whether the pod runs or will run."""
        return not self.terminal and not self.terminating

    @property
    def reschedulable(self) -> bool:
        """Return whether it, or its successor of the same name, needs a place if its node goes."""
        owner = self.owner
        if owner is not None and (owner.is_daemonset or owner.is_node):
            return False
        return self.active or (owner is not None and owner.is_statefulset and self.terminating)
