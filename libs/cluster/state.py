"""`ClusterState`: objects and catalogues go in one by one, snapshots come out.

The only mutable thing here. The watcher owns one and feeds it from its informers, in any order; the
command line fills one from files. All joining is in the modules beside it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from libs.cluster import workloads
from libs.cluster.attachments import LeftAttached, left_attached
from libs.cluster.capacity import Capacity
from libs.cluster.memo import Memo
from libs.cluster.objects import Key, Objects
from libs.cluster.pods import Pods
from libs.cluster.pools import PoolInputs, pools
from libs.cluster.problems import ObjectKey, Problems
from libs.cluster.resolving import Resolver
from libs.cluster.shaped import ShapedInputs, shaped
from libs.cluster.shapes import Shapes
from libs.cluster.targets import Around, Targets
from libs.domain.capacity import Catalogue, NodeClassRef
from libs.domain.errors import InvalidRequest
from libs.domain.node import Node
from libs.domain.nodeclaim import ConditionType, NodeClaim
from libs.domain.nodepool import NodePool
from libs.domain.plan import UnplacedPods
from libs.domain.pod import Target
from libs.domain.pod_change import merged
from libs.domain.pod_table import PodTable
from libs.domain.reason import TargetKind
from libs.domain.snapshot import ClusterSnapshot, SnapshotId, keyed
from libs.domain.topology import TopologySpread
from libs.domain.workload import PodDisruptionBudget
from libs.kube.convert.migration import migrated_labels
from libs.kube.convert.storage import Storage
from libs.kube.objects import device, karpenter, storage
from libs.kube.objects.decoding import BrokenObject
from libs.kube.objects.kinds import KubeObject, is_namespaced, kind_of
from libs.kube.objects.pod import Pod

_REFERRED = frozenset(
    {
        "PersistentVolumeClaim",
        "PersistentVolume",
        "StorageClass",
        "CSIDriver",
        "CSIStorageCapacity",
        "ResourceClaim",
        "ResourceClaimTemplate",
    }
)
"""Kinds that pods refer to: a change of one makes rows anew."""
_KEPT_WHEN_BROKEN = frozenset({"Pod", "Node", "NodeClaim"})
"""Kinds whose last legible state stays: forgetting capacity would buy it again."""
_POD = "Pod"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateOptions:
    """How objects are read."""

    offline: bool = False
    """Pods come from files that no scheduler saw: unbound ones need no condition to be waiting."""
    capacity_buffers: bool = False
    """Whether buffers get virtual pods (Karpenter's gate CapacityBuffer)."""
    default_spread: tuple[TopologySpread, ...] = ()
    """Constraints of pods that have none, without selectors (Karpenter's scheduler-config)."""


class ClusterState:
    """What is known of a cluster."""

    def __init__(self, options: StateOptions = StateOptions()) -> None:
        self._options = options
        self._objects = Objects()
        self._shapes = Shapes()
        self._pods = Pods(self._shapes, offline=options.offline)
        self._capacity = Capacity(self._objects)
        self._classes: dict[str, karpenter.NodeClass] = {}
        self._catalogues: dict[str, Catalogue] = {}
        self._restricted_domains: dict[str, frozenset[str]] = {}
        self._targets = Targets()
        self._broken: dict[ObjectKey, InvalidRequest] = {}
        self._since: dict[ObjectKey, datetime] = {}
        self._pools: Memo[NodePool] = Memo()
        self._version = 0
        self._migrated: frozenset[str] = frozenset()
        """What the kubelet of some node has left to CSI drivers; never less."""
        self._storage: Memo[Storage] = Memo()
        self._attached: Memo[LeftAttached] = Memo()
        self._last_attached: LeftAttached = {}
        self._node_count = 0

    def upsert(self, obj: KubeObject) -> None:
        """Take an object in, in the place of its predecessor."""
        kind, metadata = kind_of(obj), obj.metadata
        if error := _nameless(obj):
            self._broken[kind, metadata.namespace, metadata.name] = error
            return
        if self._broken:
            self._broken.pop((kind, metadata.namespace, metadata.name), None)
        if isinstance(obj, Pod):
            self._pods.upsert(obj)
            return
        if isinstance(obj, karpenter.NodeClass):
            self._classes[f"{obj.group}/{kind}/{metadata.name}"] = obj
        if isinstance(obj, karpenter.NodeClaim):
            self._capacity.claims.forget(metadata.name)
        if isinstance(obj, storage.CsiNode) and not self._migrated.issuperset(migrated_labels(obj)):
            self._migrated = self._migrated.union(migrated_labels(obj))
            self._version += 1
        self._objects.upsert(obj)
        self._version += kind in _REFERRED

    def remove(self, kind: str, namespace: str, name: str) -> None:
        """Forget an object; one that is not known is no error."""
        key = namespace, name
        self._broken.pop((kind, *key), None)
        if kind == _POD:
            self._pods.remove(key)
        if kind == "NodeClaim":
            self._capacity.claims.forget(name)
        gone = self._objects.of(karpenter.NodeClass, kind).get(key)
        if isinstance(gone, karpenter.NodeClass):
            self._classes.pop(f"{gone.group}/{kind}/{name}", None)
        self._objects.remove(kind, key)
        self._version += kind in _REFERRED

    def replace(self, kind: str, objects: Iterable[KubeObject]) -> None:
        """Take in a whole list of one kind: what is not in it is forgotten, as after a re-list."""
        listed = tuple(objects)
        kept = {(one.metadata.namespace, one.metadata.name) for one in listed}
        known = self._pods.keys() if kind == _POD else self._objects.keys(kind)
        for key in [key for key in known if key not in kept]:
            self.remove(kind, *key)
        for one in listed:
            self.upsert(one)

    def refuse(self, broken: BrokenObject) -> None:
        """Note an object that could not be decoded; it is set aside until it can.

        The last legible state of pods, nodes and claims stays; any other object is forgotten.
        """
        if broken.kind not in _KEPT_WHEN_BROKEN:
            self.remove(broken.kind, broken.namespace, broken.name)
        self._broken[broken.kind, broken.namespace, broken.name] = broken.error

    def refuse_pod(self, pod: Pod, error: InvalidRequest | None) -> None:
        """Take a pod in that no API server would: it waits in vain, or only weighs on its node."""
        self._pods.upsert(pod, error)

    def set_catalogue(self, catalogue: Catalogue) -> None:
        """Take what a provider offers for one class, in the place of what it offered before."""
        self._catalogues[catalogue.key] = catalogue

    def remove_catalogue(self, key: str) -> None:
        """Forget what is offered for the class `group/kind/name`."""
        self._catalogues.pop(key, None)

    def restrict_domains(self, group: str, domains: Iterable[str]) -> None:
        """Note the label domains that the provider of this group of classes keeps to itself."""
        self._restricted_domains[group] = frozenset(domains)

    def nominate(self, kind: TargetKind, name: str, until: datetime) -> None:
        """Expect pods on a node or a claim until then; a later end wins."""
        self._capacity.nominate(kind, name, until)

    def expect(self, targets: Mapping[str, Target], now: datetime, span: timedelta) -> None:
        """Remember where the plan that was carried out now put each pod, by uid (`targets.py`)."""
        self._targets.put(targets, now, span)

    def is_on_its_way(self, pod_uid: str) -> bool:
        """Tell whether a claim that the pod is expected on is there and still boots."""
        name = self._targets.claim_of(pod_uid)
        if not name or name in self._capacity.claims.expected():
            return bool(name)
        claim = self._objects.of(karpenter.NodeClaim).get(("", name))
        return (
            claim is not None
            and claim.metadata.deletion_timestamp is None
            and not any(
                one.type == ConditionType.INITIALIZED and one.status == "True"
                for one in claim.status.conditions
            )
        )

    def claim_in_flight(self, claim: NodeClaim) -> None:
        """Count a claim that was created, before the watch shows it (`claims.planned_claim`)."""
        if ("", claim.name) not in self._objects.of(karpenter.NodeClaim):
            self._capacity.claims.expect(claim)

    def forget_in_flight(self, name: str) -> None:
        """No longer count a claim that turned out to be gone without the watch having shown it."""
        self._capacity.claims.forget(name)

    def claims_in_flight(self) -> tuple[str, ...]:
        """Return the names of claims that were created and that the watch has not shown yet."""
        return self._capacity.claims.expected()

    def node_classes(self) -> tuple[NodeClassRef, ...]:
        """Return the classes that pools and claims refer to, sorted: those to ask providers for."""
        return self._capacity.classes()

    def invalid_pods(self) -> list[tuple[Key, InvalidRequest]]:
        """Return the pods that are illegible, with the field, by namespace and name."""
        return self._pods.invalid()

    def held(self) -> Mapping[str, str]:
        """Return what kept pods of the last snapshot where they run, by `namespace/name`."""
        return self._pods.held()

    def left_out(self) -> tuple[UnplacedPods, ...]:
        """Return the waiting pods that the last snapshot does not have, each with the reason.

        No solver sees them; whoever acts on a plan adds them to those that it could not place.
        """
        return self._pods.left_out(self._node_count)

    def snapshot(self, now: datetime, snapshot_id: SnapshotId) -> ClusterSnapshot:
        """Return the cluster as it is known now."""
        problems = Problems()
        for (kind, namespace, name), error in self._broken.items():
            problems.add(kind, namespace, name, error)
        built = self._capacity.build(now, self._left_attached())
        problems.include(built.problems)
        self._node_count = len(built.nodes)
        gangs = keyed("gangs", workloads.gangs(self._objects, problems))
        budgets = workloads.budgets(self._objects, problems)
        made = shaped(self._shaped_inputs(built.nodes, gangs, budgets), problems)
        device_pools, device_classes = workloads.devices(self._objects, problems)
        return ClusterSnapshot(
            id=snapshot_id,
            observed_at=now,
            shapes=keyed("shapes", made.shapes.values()),
            pods=self._targets.onto(
                merged(made.pods, PodTable.from_rows(made.virtual), ()),
                Around(now=now, nodes=built.nodes, claims=built.claims),
            ),
            nodes=built.nodes,
            nodeclaims=built.claims,
            nodepools=keyed("nodepools", self._build_pools(problems)),
            catalogues=keyed("catalogues", self._catalogues.values()),
            daemonsets=keyed("daemonsets", made.daemonsets),
            pod_disruption_budgets=keyed("pod_disruption_budgets", budgets),
            namespaces=keyed(
                "namespaces",
                workloads.namespaces(self._objects, made.namespaces, made.namespace_keys),
            ),
            buffers=keyed("buffers", made.buffers),
            gangs=gangs,
            overlays=keyed("overlays", workloads.overlays(self._objects, problems)),
            observed_allocatable=self._capacity.observed(built),
            device_pools=keyed("device_pools", device_pools),
            device_classes=keyed("device_classes", device_classes),
            volume_kinds=keyed("volume_kinds", self._held_storage().kinds.all),
            set_aside=keyed("set_aside", problems.set_aside(now, self._since)),
        )

    def _build_pools(self, problems: Problems) -> list[NodePool]:
        inputs = PoolInputs(
            pools=self._objects.of(karpenter.NodePool),
            classes=self._classes,
            catalogues=self._catalogues,
            restricted_domains=self._restricted_domains,
        )
        return pools(inputs, self._pools, problems)

    def _shaped_inputs(
        self,
        found: Mapping[str, Node],
        gangs: Mapping[str, object],
        budgets: Iterable[PodDisruptionBudget],
    ) -> ShapedInputs:
        return ShapedInputs(
            objects=self._objects,
            pods=self._pods,
            shapes=self._shapes,
            nodes=found,
            gangs=gangs,
            budgets=tuple(budgets),
            resolver=self._resolver(),
            default_spread=self._options.default_spread,
            capacity_buffers=self._options.capacity_buffers,
        )

    def _left_attached(self) -> LeftAttached:
        """Return what is attached and not used; the same object as long as it is equal."""
        attachments = self._objects.of(storage.VolumeAttachment)
        versions = self._version, self._pods.uses_version
        inputs = (*versions, self._objects.version(storage.VolumeAttachment.__name__))
        found = self._attached.get(
            "",
            inputs,
            lambda: (
                left_attached(attachments.values(), self._held_storage(), self._pods.uses)
                if attachments
                else {}
            ),
        )
        if found != self._last_attached:
            self._last_attached = found
        return self._last_attached

    def _held_storage(self) -> Storage:
        return self._storage.get("", (self._version,), self._make_storage)

    def _make_storage(self) -> Storage:
        return Storage(
            claims=self._objects.of(storage.PersistentVolumeClaim),
            volumes=self._objects.of(storage.PersistentVolume),
            classes=self._objects.of(storage.StorageClass),
            drivers=self._objects.of(storage.CsiDriver, "CSIDriver"),
            capacities=self._objects.of(storage.CsiStorageCapacity, "CSIStorageCapacity"),
            migrated=self._migrated,
            refused=dict(self._broken),
        )

    def _resolver(self) -> Resolver:
        return Resolver(
            storage=self._held_storage(),
            claims=self._objects.of(device.ResourceClaim),
            templates=self._objects.of(device.ResourceClaimTemplate),
            version=self._version,
            refused=self._broken,
        )


def _nameless(obj: KubeObject) -> InvalidRequest | None:
    """Return what no API server lets in: an object without a name, or without its namespace."""
    metadata = obj.metadata
    if not metadata.name:
        return InvalidRequest("has no name", field="metadata.name")
    if not metadata.namespace and is_namespaced(obj):
        return InvalidRequest("has no namespace", field="metadata.namespace")
    return None
