"""Where the volumes of a pod can be used, and how many its node must attach.

Apart because a claim leads to a volume or a class, and any of them may be missing: then the pod
cannot run anywhere yet, for a reason that says which object is the problem.

Differs from Karpenter on purpose: a volume of one host keeps the pod on that host. Karpenter
forgets the host name, and kube-scheduler refuses the node that it then buys.

Source: kube-scheduler's VolumeBinding, VolumeZone and NodeVolumeLimits; Kubernetes documentation,
"Storage Classes"; `docs/sources.md` B6, B7, D13.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from libs.domain import labels as label_keys
from libs.domain.errors import InvalidRequest
from libs.domain.labels import HOSTNAME, REGION, ZONE
from libs.domain.pod import ExclusiveDisk, SharedVolume, VolumeAttachCount
from libs.domain.quantity import parse
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import ANYTHING, Requirements
from libs.kube.convert import selectors
from libs.kube.convert.inline_disk import (
    AZURE_DRIVER,
    CINDER_DRIVER,
    EBS_DRIVER,
    GCE_DRIVER,
    InlineDisk,
)
from libs.kube.objects.metadata import Quantities
from libs.kube.objects.storage import (
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
ONE_POD = "ReadWriteOncePod"
NO_PROVISIONER = "kubernetes.io/no-provisioner"

_CSI_OF_PROVISIONER = {
    "kubernetes.io/aws-ebs": EBS_DRIVER,
    "kubernetes.io/gce-pd": GCE_DRIVER,
    "kubernetes.io/azure-disk": AZURE_DRIVER,
    "kubernetes.io/cinder": CINDER_DRIVER,
}
_IN_TREE = (
    ("aws_elastic_block_store", EBS_DRIVER),
    ("gce_persistent_disk", GCE_DRIVER),
    ("azure_disk", AZURE_DRIVER),
    ("cinder", CINDER_DRIVER),
)
"""Fields of the storage kinds that CSI drivers have taken over."""
_SEVERAL = "__"
"""Separates the zones in the label of a volume that several zones reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """The storage objects of a cluster: claims by namespace and name, the rest by name."""

    claims: Mapping[tuple[str, str], PersistentVolumeClaim]
    volumes: Mapping[tuple[str, str], PersistentVolume]
    classes: Mapping[tuple[str, str], StorageClass]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodVolumes:
    """What a pod's volumes demand of its node; volumes that work everywhere are left out."""

    topology: tuple[tuple[Requirements, ...], ...] = ()
    attached: tuple[VolumeAttachCount, ...] = ()
    shared: tuple[SharedVolume, ...] = ()
    exclusive: tuple[ExclusiveDisk, ...] = ()


NO_VOLUMES = PodVolumes()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """What one claim demands."""

    alternatives: tuple[Requirements, ...]
    """Never empty."""
    driver: str
    exclusive: bool
    topology_key: str
    """As of `SharedVolume`."""


def resolve(
    namespace: str,
    claims: Iterable[tuple[str, str]],
    inline: Iterable[InlineDisk],
    storage: Storage,
    shared: frozenset[str] = frozenset(),
) -> PodVolumes:
    """Return what a pod's volumes demand.

    Args:
        namespace: of the pod.
        claims: path in the pod and name of each claim.
        inline: disks without a claim.
        storage: everything that claims may refer to.
        shared: what other pods use, too: claims as `namespace/name`, disks as `disk_names` has
            them.

    Raises:
        InvalidRequest: a claim is missing, lost, deleting, or cannot be bound where the pod goes;
            with the path in the pod.
    """
    disks = tuple(inline)
    attached = Counter({one.attached: one.driver for one in disks if one.attached}.values())
    topology = []
    found: dict[str, _Claim] = {}
    for path, name in claims:
        if name in found:
            continue
        try:
            claim = found[name] = _claim(namespace, name, storage)
        except InvalidRequest as error:
            raise error.under(path) from None
        if ANYTHING not in claim.alternatives:
            topology.append(claim.alternatives)
        if claim.driver:
            attached[claim.driver] += 1
    return PodVolumes(
        topology=tuple(topology),
        attached=tuple(
            VolumeAttachCount(driver=driver, count=count)
            for driver, count in sorted(attached.items())
        ),
        shared=tuple(
            one
            for one in sorted(_volumes(namespace, found, disks), key=lambda one: one.claim)
            if one.claim in shared
        ),
        exclusive=tuple(
            sorted(
                one.exclusive
                for one in disks
                if one.exclusive is not None and one.exclusive.disk in shared
            )
        ),
    )


def _volumes(
    namespace: str, claims: Mapping[str, _Claim], disks: Iterable[InlineDisk]
) -> Iterator[SharedVolume]:
    for name, claim in claims.items():
        yield SharedVolume(
            claim=f"{namespace}/{name}",
            driver=claim.driver,
            exclusive=claim.exclusive,
            topology_key=claim.topology_key,
        )
    for volume, driver in {(one.attached, one.driver) for one in disks if one.attached}:
        yield SharedVolume(claim=volume, driver=driver)


def _claim(namespace: str, name: str, storage: Storage) -> _Claim:
    claim = storage.claims.get((namespace, name))
    shown = f'persistentvolumeclaim "{namespace}/{name}"'
    if claim is None:
        raise InvalidRequest(f"{shown} does not exist")
    if claim.metadata.deletion_timestamp is not None:
        raise InvalidRequest(f"{shown} is being deleted")
    if claim.status.phase == "Lost":
        raise InvalidRequest(f"{shown} has lost its volume")
    bound = bool(claim.spec.volume_name)
    alternatives, driver = (_bound if bound else _unbound)(claim, shown, storage)
    hosts = any(HOSTNAME in one for one in alternatives)
    return _Claim(
        alternatives=alternatives,
        driver=driver,
        exclusive=ONE_POD in claim.spec.access_modes,
        topology_key="" if bound else HOSTNAME if hosts else ZONE,
    )


def _bound(
    claim: PersistentVolumeClaim, shown: str, storage: Storage
) -> tuple[tuple[Requirements, ...], str]:
    name = claim.spec.volume_name
    if BIND_COMPLETED not in claim.metadata.annotations:
        raise InvalidRequest(f'{shown} is not yet bound to volume "{name}"')
    volume = storage.volumes.get(("", name))
    if volume is None:
        raise InvalidRequest(f'persistentvolume "{name}" of {shown} does not exist')
    if volume.metadata.deletion_timestamp is not None:
        raise InvalidRequest(f'persistentvolume "{name}" of {shown} is being deleted')
    return volume_alternatives(volume), _driver_of_volume(volume)


def volume_alternatives(volume: PersistentVolume) -> tuple[Requirements, ...]:
    """Return where a volume can be used: any one suffices, `ANYTHING` is everywhere.

    Raises:
        InvalidRequest: its node affinity has an expression that Kubernetes refuses.
    """
    zones = _zone_labels(volume.metadata.labels)
    required = volume.spec.node_affinity.required
    if required is None:
        return (zones,)
    path = f"persistentvolume {volume.metadata.name}: spec.nodeAffinity.required.nodeSelectorTerms"
    found = []
    for index, term in enumerate(required.node_selector_terms):
        converted = selectors.node_term(term, f"{path}[{index}]")
        if converted is None:
            continue
        requirements = converted.requirements
        if converted.node_names:
            # A volume that names its node means the host: nodes are made with that label.
            host = Requirement.of(HOSTNAME, Operator.IN, converted.node_names)
            requirements = requirements.intersection(Requirements((host,)))
        found.append(requirements.intersection(zones))
    if not found:
        raise InvalidRequest(f'persistentvolume "{volume.metadata.name}" can be used on no node')
    return tuple(found)


def _unbound(
    claim: PersistentVolumeClaim, shown: str, storage: Storage
) -> tuple[tuple[Requirements, ...], str]:
    storage_class = _class_of(claim, shown, storage)
    name = storage_class.metadata.name
    if storage_class.volume_binding_mode == "Immediate":
        raise InvalidRequest(
            f'{shown} is not bound, and storageclass "{name}" binds before pods are placed'
        )
    static = _static(claim, storage_class, storage)
    if storage_class.provisioner == NO_PROVISIONER:
        if not static:
            raise InvalidRequest(
                f'{shown} waits for a volume of storageclass "{name}", which makes none'
            )
        return static, ""
    terms = (
        Requirements(
            Requirement.of(one.key, Operator.IN, one.values) for one in term.match_label_expressions
        )
        for term in storage_class.allowed_topologies
    )
    places = tuple(term for term in terms if len(term)) or (ANYTHING,)
    provisioner = storage_class.provisioner
    return (*static, *places), _CSI_OF_PROVISIONER.get(provisioner, provisioner)


def _class_of(claim: PersistentVolumeClaim, shown: str, storage: Storage) -> StorageClass:
    name = claim.spec.storage_class_name
    if name is None:
        return _default_class(shown, storage)
    if not name:
        raise InvalidRequest(f"{shown} is not bound and has no storage class")
    found = storage.classes.get(("", name))
    if found is None:
        raise InvalidRequest(f'storageclass "{name}" of {shown} does not exist')
    return found


def _default_class(shown: str, storage: Storage) -> StorageClass:
    """Return the newest default class, as admission would choose it."""
    defaults = [
        one
        for one in storage.classes.values()
        if one.metadata.annotations.get(DEFAULT_CLASS) == "true"
    ]
    if not defaults:
        raise InvalidRequest(f"{shown} has no storage class, and none is the default")
    defaults.sort(key=lambda one: one.metadata.name)
    created = [one.metadata.creation_timestamp for one in defaults]
    dated = [at for at in created if at is not None]
    return defaults[created.index(max(dated))] if dated else defaults[0]


def _static(
    claim: PersistentVolumeClaim, storage_class: StorageClass, storage: Storage
) -> tuple[Requirements, ...]:
    """Return where there is a volume that the claim may take as it is."""
    name = storage_class.metadata.name
    selector = selectors.label_selector(claim.spec.selector, "spec.selector")
    found: set[Requirements] = set()
    for volume in storage.volumes.values():
        suits = selector is None or selector.matches(volume.metadata.labels)
        if volume.spec.storage_class_name == name and suits and _may_take(claim, volume):
            found.update(volume_alternatives(volume))
    return tuple(sorted(found, key=str))


def _may_take(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    wanted, offered = claim.spec, volume.spec
    is_free = volume.metadata.deletion_timestamp is None and (
        volume.status.phase in ("", "Available")
        if offered.claim_ref is None
        else (offered.claim_ref.namespace, offered.claim_ref.name)
        == (claim.metadata.namespace, claim.metadata.name)
    )
    return (
        is_free
        and wanted.volume_mode == offered.volume_mode
        and set(wanted.access_modes) <= set(offered.access_modes)
        and _size(wanted.resources.requests) <= _size(offered.capacity)
    )


def _size(quantities: Quantities) -> Fraction:
    return parse(quantities.get("storage", 0))


def _driver_of_volume(volume: PersistentVolume) -> str:
    if volume.spec.csi is not None:
        return volume.spec.csi.driver
    return next(
        (driver for field, driver in _IN_TREE if getattr(volume.spec, field) is not None), ""
    )


def _zone_labels(labels: Mapping[str, str]) -> Requirements:
    """Return what the zone and region labels of a volume demand."""
    canonical = label_keys.canonical_labels(labels)
    return Requirements(
        Requirement.of(key, Operator.IN, canonical[key].split(_SEVERAL))
        for key in (ZONE, REGION)
        if canonical.get(key)
    )
