"""Volumes, claims on them, and what nodes can attach."""

import msgspec

from libs.kube.objects.metadata import (
    Int32,
    KubeStruct,
    LabelSelector,
    NodeSelector,
    ObjectMeta,
    Quantities,
    Quantity,
)


class ClaimResources(KubeStruct, frozen=True):
    """How much storage a claim asks for."""

    requests: Quantities = msgspec.field(default_factory=dict)


class PersistentVolumeClaimSpec(KubeStruct, frozen=True):
    """What a claim asks for; an absent class is the default one, an empty one none."""

    storage_class_name: str | None = None
    volume_name: str = ""
    volume_mode: str = "Filesystem"
    access_modes: tuple[str, ...] = ()
    resources: ClaimResources = ClaimResources()
    selector: LabelSelector | None = None
    volume_attributes_class_name: str = ""


class PersistentVolumeClaimTemplate(KubeStruct, frozen=True):
    """What a controller makes a claim from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class PersistentVolumeClaimStatus(KubeStruct, frozen=True):
    """State of a claim."""

    phase: str = ""


class PersistentVolumeClaim(KubeStruct, frozen=True):
    """A claim on a volume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class CsiSource(KubeStruct, frozen=True):
    """A volume of a CSI driver."""

    driver: str = ""
    volume_handle: str = ""


class EbsSource(KubeStruct, frozen=True):
    """A disk of EC2."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class GceSource(KubeStruct, frozen=True):
    """A disk of GCE."""

    pd_name: str = ""


class AzureSource(KubeStruct, frozen=True):
    """A disk of Azure."""

    disk_uri: str = msgspec.field(default="", name="diskURI")
    kind: str = "Managed"


class CinderSource(KubeStruct, frozen=True):
    """A disk of OpenStack."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class PortworxSource(KubeStruct, frozen=True):
    """A disk of Portworx."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class HostSource(KubeStruct, frozen=True):
    """A directory of one node."""

    path: str = ""


class VolumeNodeAffinity(KubeStruct, frozen=True):
    """Nodes that can use a volume."""

    required: NodeSelector | None = None


class ClaimReference(KubeStruct, frozen=True):
    """The claim that a volume is kept for."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class PersistentVolumeSpec(KubeStruct, frozen=True):
    """A volume by what it is made of."""

    storage_class_name: str = ""
    volume_attributes_class_name: str = ""
    claim_ref: ClaimReference | None = None
    volume_mode: str = "Filesystem"
    access_modes: tuple[str, ...] = ()
    capacity: Quantities = msgspec.field(default_factory=dict)
    node_affinity: VolumeNodeAffinity = VolumeNodeAffinity()
    csi: CsiSource | None = None
    aws_elastic_block_store: EbsSource | None = None
    gce_persistent_disk: GceSource | None = None
    azure_disk: AzureSource | None = None
    cinder: CinderSource | None = None
    portworx_volume: PortworxSource | None = None
    local: HostSource | None = None


class PersistentVolumeStatus(KubeStruct, frozen=True):
    """State of a volume."""

    phase: str = ""


class PersistentVolume(KubeStruct, frozen=True):
    """A volume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class TopologySelectorLabelRequirement(KubeStruct, frozen=True):
    """Allowed values of one label."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(KubeStruct, frozen=True):
    """A place where a class may provision volumes."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(KubeStruct, frozen=True):
    """A class of volumes."""

    metadata: ObjectMeta = ObjectMeta()
    provisioner: str = ""
    volume_binding_mode: str = "Immediate"
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class CsiDriverSpec(KubeStruct, frozen=True):
    """What a CSI driver can do."""

    storage_capacity: bool | None = None


class CsiDriver(KubeStruct, frozen=True):
    """A CSI driver; those that say so publish how much room there is for new volumes."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CsiDriverSpec = CsiDriverSpec()


class CsiStorageCapacity(KubeStruct, frozen=True):
    """How much room there is for volumes of a class where the topology is; absent: nowhere."""

    metadata: ObjectMeta = ObjectMeta()
    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


class VolumeNodeResources(KubeStruct, frozen=True):
    """How many volumes a node attaches; absent: no limit."""

    count: Int32 | None = None


class CsiNodeDriver(KubeStruct, frozen=True):
    """A CSI driver on a node."""

    name: str = ""
    allocatable: VolumeNodeResources = VolumeNodeResources()


class CsiNodeSpec(KubeStruct, frozen=True):
    """The CSI drivers of a node."""

    drivers: tuple[CsiNodeDriver, ...] = ()


class CsiNode(KubeStruct, frozen=True):
    """What a node, whose name it has, can attach."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CsiNodeSpec = CsiNodeSpec()


class VolumeAttachmentSource(KubeStruct, frozen=True):
    """The volume that is attached."""

    persistent_volume_name: str = ""


class VolumeAttachmentSpec(KubeStruct, frozen=True):
    """Which volume is attached to which node."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


class VolumeAttachment(KubeStruct, frozen=True):
    """A volume on a node."""

    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
