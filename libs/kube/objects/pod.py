"""Pods and pod templates."""

import msgspec

from libs.kube.objects.metadata import (
    Condition,
    Instant,
    Int32,
    Int64,
    KubeStruct,
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    Quantities,
)
from libs.kube.objects.storage import PersistentVolumeClaimTemplate

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class ResourceRequirements(KubeStruct, frozen=True):
    """Requests and limits of a container or a whole pod."""

    requests: Quantities = msgspec.field(default_factory=dict)
    limits: Quantities = msgspec.field(default_factory=dict)


class ContainerPort(KubeStruct, frozen=True):
    """A port of a container, perhaps taken on the node."""

    container_port: Int32 = 0
    host_port: Int32 = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = "TCP"


class RestartRule(KubeStruct, frozen=True):
    """What happens when a container ends in a certain way."""

    action: str = ""


class Container(KubeStruct, frozen=True):
    """A container, init container or sidecar (an init container that is always restarted)."""

    name: str = ""
    restart_policy: str = ""
    restart_policy_rules: tuple[RestartRule, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()


class PreferredSchedulingTerm(KubeStruct, frozen=True):
    """A preferred node affinity term."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(KubeStruct, frozen=True):
    """Affinity to nodes."""

    required: NodeSelector | None = msgspec.field(default=None, name=_REQUIRED)
    preferred: tuple[PreferredSchedulingTerm, ...] = msgspec.field(default=(), name=_PREFERRED)


class PodAffinityTerm(KubeStruct, frozen=True):
    """A term of an affinity to pods; no selector selects none."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(KubeStruct, frozen=True):
    """A preferred term of an affinity to pods."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(KubeStruct, frozen=True):
    """Affinity or anti-affinity to pods."""

    required: tuple[PodAffinityTerm, ...] = msgspec.field(default=(), name=_REQUIRED)
    preferred: tuple[WeightedPodAffinityTerm, ...] = msgspec.field(default=(), name=_PREFERRED)


class Affinity(KubeStruct, frozen=True):
    """All affinities of a pod."""

    node_affinity: NodeAffinity = NodeAffinity()
    pod_affinity: PodAffinity = PodAffinity()
    pod_anti_affinity: PodAffinity = PodAffinity()


class Toleration(KubeStruct, frozen=True):
    """A toleration."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class TopologySpreadConstraint(KubeStruct, frozen=True):
    """A topology spread constraint; absent policies have defaults."""

    topology_key: str = ""
    max_skew: Int32 = 0
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str = ""
    node_taints_policy: str = ""
    match_label_keys: tuple[str, ...] = ()


class ClaimVolume(KubeStruct, frozen=True):
    """A volume through a claim."""

    claim_name: str = ""


class EphemeralVolume(KubeStruct, frozen=True):
    """A volume through a claim that lives as long as the pod."""

    volume_claim_template: PersistentVolumeClaimTemplate = PersistentVolumeClaimTemplate()


class CsiVolume(KubeStruct, frozen=True):
    """A CSI volume without a claim."""

    driver: str = ""


class EbsVolume(KubeStruct, frozen=True):
    """A disk of EC2 without a claim."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class GceVolume(KubeStruct, frozen=True):
    """A disk of GCE without a claim."""

    pd_name: str = ""
    read_only: bool = False


class AzureVolume(KubeStruct, frozen=True):
    """A disk of Azure without a claim."""

    disk_uri: str = msgspec.field(default="", name="diskURI")
    kind: str = "Managed"


class PortworxVolume(KubeStruct, frozen=True):
    """A disk of Portworx."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class CinderVolume(KubeStruct, frozen=True):
    """A disk of OpenStack without a claim."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class IscsiVolume(KubeStruct, frozen=True):
    """An iSCSI disk without a claim."""

    iqn: str = ""
    read_only: bool = False


class RbdVolume(KubeStruct, frozen=True):
    """An image in Ceph without a claim."""

    monitors: tuple[str, ...] = ()
    pool: str = "rbd"
    image: str = ""
    read_only: bool = False


class Volume(KubeStruct, frozen=True):
    """A volume, by what it is made of; other kinds do not bind a pod to a place."""

    name: str = ""
    persistent_volume_claim: ClaimVolume | None = None
    ephemeral: EphemeralVolume | None = None
    csi: CsiVolume | None = None
    aws_elastic_block_store: EbsVolume | None = None
    gce_persistent_disk: GceVolume | None = None
    azure_disk: AzureVolume | None = None
    cinder: CinderVolume | None = None
    portworx_volume: PortworxVolume | None = None
    iscsi: IscsiVolume | None = None
    rbd: RbdVolume | None = None


class PodResourceClaim(KubeStruct, frozen=True):
    """A claim on devices, by name or by template."""

    name: str = ""
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""


class SchedulingGate(KubeStruct, frozen=True):
    """Something that keeps the pod from the scheduler."""

    name: str = ""


class SchedulingGroup(KubeStruct, frozen=True):
    """The gang of a pod."""

    pod_group_name: str = ""


class PodSpec(KubeStruct, frozen=True):
    """What a pod asks for."""

    node_name: str = ""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: ResourceRequirements | None = None
    overhead: Quantities = msgspec.field(default_factory=dict)
    host_network: bool = False
    host_users: bool | None = None
    node_selector: dict[str, str] = msgspec.field(default_factory=dict)
    affinity: Affinity = Affinity()
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    scheduling_group: SchedulingGroup | None = None
    priority: Int32 | None = None
    priority_class_name: str = ""
    runtime_class_name: str = ""
    termination_grace_period_seconds: Int64 | None = None


class ContainerStatus(KubeStruct, frozen=True):
    """What a container was given (`allocated_resources`) and has (`resources`)."""

    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: Quantities = msgspec.field(default_factory=dict)


class ResourceClaimStatus(KubeStruct, frozen=True):
    """The claim that was made from a template."""

    name: str = ""
    resource_claim_name: str = ""


class PodStatus(KubeStruct, frozen=True):
    """What became of a pod."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    start_time: Instant | None = None
    nominated_node_name: str = ""
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resource_claim_statuses: tuple[ResourceClaimStatus, ...] = ()
    resources: ResourceRequirements | None = None
    """What the pod as a whole has."""
    allocated_resources: Quantities = msgspec.field(default_factory=dict)
    """What the pod as a whole was given."""


class Pod(KubeStruct, frozen=True):
    """A pod."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class PodTemplateSpec(KubeStruct, frozen=True):
    """What a controller makes its pods from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class PodTemplate(KubeStruct, frozen=True):
    """A pod template that stands by itself."""

    metadata: ObjectMeta = ObjectMeta()
    template: PodTemplateSpec = PodTemplateSpec()
