"""What the volumes of a pod demand of its node: where they can be used, what must be attached.

Apart because a claim leads to a volume or a class, and any of them may be missing: then the pod
cannot run anywhere yet, for a reason that says which object is the problem.

Source: kube-scheduler's VolumeBinding and NodeVolumeLimits; `docs/sources.md` B6, B7.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from libs.domain.errors import InvalidRequest
from libs.domain.labels import HOSTNAME, ZONE
from libs.domain.pod import ExclusiveDisk, SharedVolume, StorageRoom, VolumeAttachCount
from libs.domain.requirements import ANYTHING
from libs.domain.volume import UnboundClaim
from libs.kube.convert.absent import absent, was_refused
from libs.kube.convert.inline_disk import InlineDisk
from libs.kube.convert.migration import CSI_OF_PLUGIN, reached_places
from libs.kube.convert.storage import PodClaim, Storage
from libs.kube.convert.volume_matching import (
    NOTHING_SUITS,
    Waiting,
    candidates,
    class_name,
    common_places,
    competing,
    in_order_of_choice,
    none_suits,
    storage_room,
    waiting,
)
from libs.kube.convert.volume_place import (
    Places,
    class_places,
    labelled_places,
    on_host,
)
from libs.kube.objects.storage import (
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
_UNBOUND = "pod has unbound immediate PersistentVolumeClaims"
ONE_POD = "ReadWriteOncePod"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodVolumes:
    """What a pod's volumes demand of its node; volumes that work everywhere are left out."""

    topology: tuple[Places, ...] = ()
    attached: tuple[VolumeAttachCount, ...] = ()
    shared: tuple[SharedVolume, ...] = ()
    exclusive: tuple[ExclusiveDisk, ...] = ()
    rooms: tuple[StorageRoom, ...] = ()
    unbound: tuple[UnboundClaim, ...] = ()


NO_VOLUMES = PodVolumes()


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What a pod's volumes demand, and what is in the way of a pod that waits."""

    volumes: PodVolumes = NO_VOLUMES
    """What a problem is about is left out, but for what is attached all the same."""
    problem: InvalidRequest | None = None
    """The first claim that is missing, lost, deleting, or cannot be bound where the pod goes; with
    the path in the pod."""


def resolve(
    namespace: str,
    claims: Iterable[PodClaim],
    inline: Iterable[InlineDisk],
    storage: Storage,
    shared: frozenset[str] = frozenset(),
) -> Resolved:
    """Return what a pod's volumes demand.

    Args:
        namespace: of the pod.
        claims: those of the pod.
        inline: disks without a claim.
        storage: everything that claims may refer to.
        shared: what may be used otherwise, too: claims as `namespace/name`, disks as `disk_names`
            and `Storage.disks_of` have them.
    """
    disks = tuple(inline)
    found: dict[str, _Claim] = {}
    wrong = (InvalidRequest(one.problem, field="spec.volumes") for one in disks if one.problem)
    problem: InvalidRequest | None = next(wrong, None)
    for one in claims:
        claim = storage.claims.get((namespace, one.name))
        if one.name in found:
            continue
        try:
            if claim is None:
                why = absent(storage.refused, "PersistentVolumeClaim", namespace, one.name)
                raise InvalidRequest(f"{_shown(namespace, one.name)} {why}")
            found[one.name] = _attached(claim, f"{namespace}/{one.name}", storage)
            found[one.name] = _placed(found[one.name], one, claim, storage)
        except InvalidRequest as error:
            problem = problem or error.under(one.path)
    unbound = [one.waiting for one in found.values() if one.waiting is not None]
    groups = competing(unbound)
    together = [common_places(group) for group in groups]
    if not all(together):
        problem = problem or _nowhere_together(unbound)
    places = (*(one.bound for one in found.values()), *together)
    attached = {one.attached: one.driver for one in found.values()}
    attached |= {one.attached: one.driver for one in disks}
    return Resolved(
        volumes=PodVolumes(
            topology=tuple(one for one in places if one and ANYTHING not in one),
            attached=tuple(
                VolumeAttachCount(driver=driver, count=count)
                for driver, count in sorted(Counter(attached.values()).items())
                if driver
            ),
            shared=tuple(
                one
                for one in sorted(
                    set(_volumes(namespace, found, disks, shared)), key=lambda one: one.claim
                )
                if one.claim in shared
            ),
            rooms=tuple(one for one in map(storage_room, groups, together) if one is not None),
            unbound=tuple(_unbound(groups, storage, shared)),
            exclusive=tuple(
                sorted(
                    one.exclusive
                    for one in disks
                    if one.exclusive is not None and one.exclusive.disk in shared
                )
            ),
        ),
        problem=problem,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """What one claim demands: it is bound or waits for its pod, if it is in order."""

    driver: str
    """CSI driver that attaches its volume, even one that is yet to be made."""
    attached: str
    """Name of its disk; that of the claim itself where no disk is known."""
    exclusive: bool
    bound: Places = ()
    waiting: Waiting | None = None

    @property
    def topology_key(self) -> str:
        """Return the key as of `SharedVolume`."""
        if self.waiting is None or self.waiting.is_everywhere:
            return ""
        return HOSTNAME if any(HOSTNAME in one for one in self.waiting.places) else ZONE


def _volumes(
    namespace: str,
    claims: Mapping[str, _Claim],
    disks: Iterable[InlineDisk],
    shared: frozenset[str],
) -> Iterator[SharedVolume]:
    for name, claim in claims.items():
        own = f"{namespace}/{name}"
        driver = claim.driver
        if claim.attached != own and claim.attached in shared:
            # A disk that is known by other names as well is attached under its own.
            yield SharedVolume(claim=claim.attached, driver=driver)
            driver = ""
        yield SharedVolume(
            claim=own,
            driver=driver,
            exclusive=claim.exclusive,
            topology_key=claim.topology_key,
        )
    for volume, driver in {(one.attached, one.driver) for one in disks if one.attached}:
        yield SharedVolume(claim=volume, driver=driver)


def _attached(claim: PersistentVolumeClaim, own: str, storage: Storage) -> _Claim:
    exclusive = ONE_POD in claim.spec.access_modes
    volume = claim.spec.volume_name
    if ("", volume) in storage.volumes:
        disk = storage.attached_disks.get(volume)
        if disk is None:
            return _Claim(driver="", attached=own, exclusive=exclusive)
        return _Claim(driver=disk.driver, attached=disk.name or own, exclusive=exclusive)
    name = class_name(claim.metadata, claim.spec.storage_class_name)
    found = _default_class(storage) if name is None else storage.classes.get(("", name))
    driver = "" if found is None else _driver_of_class(found)
    return _Claim(driver=driver, attached=own, exclusive=exclusive)


def _placed(
    known: _Claim, used: PodClaim, claim: PersistentVolumeClaim, storage: Storage
) -> _Claim:
    """Return the claim with the places where it can be used.

    Raises:
        InvalidRequest: it is not in order.
    """
    shown = _shown(claim.metadata.namespace, claim.metadata.name)
    owner = claim.metadata.controller
    if claim.metadata.deletion_timestamp is not None:
        raise InvalidRequest(f"{shown} is being deleted")
    if claim.status.phase == "Lost":
        name = claim.spec.volume_name
        raise InvalidRequest(f'{shown} is lost: bound to non-existent persistentvolume "{name}"')
    if used.owner is not None and (owner is None or owner.uid != used.owner):
        raise InvalidRequest(f"{shown} was not created for this pod, which is not its owner")
    if claim.spec.volume_name:
        volume = _bound(claim, shown, storage)
        places = reached_places(volume, storage.migrated)
        # Of ephemeral claims' volumes kube-scheduler does not look at the zone labels.
        if used.owner is None:
            places = labelled_places(volume, places)
        return replace(known, bound=places)
    return replace(known, waiting=_waiting(claim, shown, storage))


def _bound(claim: PersistentVolumeClaim, shown: str, storage: Storage) -> PersistentVolume:
    name = claim.spec.volume_name
    if BIND_COMPLETED not in claim.metadata.annotations:
        raise InvalidRequest(f'{_UNBOUND}: {shown} is not yet bound to persistentvolume "{name}"')
    volume = storage.volumes.get(("", name))
    if volume is None:
        error = storage.refused.get(("PersistentVolume", "", name))
        if error is None:
            raise InvalidRequest(f'{shown} is bound to non-existent persistentvolume "{name}"')
        why = was_refused(error)
        raise InvalidRequest(f'persistentvolume "{name}", to which {shown} is bound, {why}')
    return volume


def _waiting(claim: PersistentVolumeClaim, shown: str, storage: Storage) -> Waiting:
    storage_class = _class_of(claim, shown, storage)
    name, provisioner = storage_class.metadata.name, storage_class.provisioner
    if storage_class.volume_binding_mode == "Immediate":
        raise InvalidRequest(
            f'{_UNBOUND}: {shown} waits for a volume of storageclass "{name}", '
            "which binds before pods are placed"
        )
    if storage_class.volume_binding_mode not in ("", "WaitForFirstConsumer"):
        raise InvalidRequest(
            f'storageclass "{name}" has volumeBindingMode {storage_class.volume_binding_mode!r}; '
            "write Immediate or WaitForFirstConsumer"
        )
    made = class_places(storage_class) if provisioner not in ("", NO_PROVISIONER) else ()
    node = claim.metadata.annotations.get(SELECTED_NODE)
    if node is not None:
        # Its volume is being made there already.
        made = tuple(place.intersection(on_host(node)) for place in made)
    there = candidates(claim, name, storage.offer) if node is None else NOTHING_SUITS
    room = storage.rooms.of(name, claim.spec.resources.requests.get("storage"), made)
    found = waiting(claim, made, there, room)
    if not found.places:
        makes = "none" if provisioner in ("", NO_PROVISIONER) else "them on no node"
        raise InvalidRequest(
            f"{shown} finds no available persistent volume to bind: "
            f'storageclass "{name}" makes {makes}, and {none_suits(claim, name, storage.offer)}'
        )
    return found


def _unbound(
    groups: Iterable[Sequence[Waiting]], storage: Storage, shared: frozenset[str]
) -> Iterator[UnboundClaim]:
    """Yield the claims that compete for volumes, be it with claims of other pods."""
    choosing = [one for group in groups if any(each.volumes for each in group) for one in group]
    for one in in_order_of_choice(choosing):
        own = f"{one.claim.metadata.namespace}/{one.claim.metadata.name}"
        yield UnboundClaim(
            claim=own if own in shared else "",
            kinds=tuple(sorted({storage.kinds.of[volume.name] for volume in one.volumes})),
            made=one.made if one.room is None else one.room.published,
            made_at_start=one.made if one.room is None else one.room.starting,
        )


def _nowhere_together(claims: Iterable[Waiting]) -> InvalidRequest:
    names = ", ".join(f'"{one.claim.metadata.name}"' for one in claims)
    return InvalidRequest(
        f"persistentvolumeclaims {names} compete for volumes; no place has one for each",
        field="spec.volumes",
    )


def _class_of(claim: PersistentVolumeClaim, shown: str, storage: Storage) -> StorageClass:
    name = class_name(claim.metadata, claim.spec.storage_class_name)
    found = _default_class(storage) if name is None else storage.classes.get(("", name))
    if found is not None:
        return found
    if name is None:
        raise InvalidRequest(f"{shown} has no storage class, and none is the default")
    if not name:
        raise InvalidRequest(f"{_UNBOUND}: {shown} has no storage class that would bind it")
    why = absent(storage.refused, "StorageClass", "", name)
    raise InvalidRequest(f'storageclass "{name}" of {shown} {why}')


def _default_class(storage: Storage) -> StorageClass | None:
    """Return the newest default class, as admission would choose it; None if there is none."""
    defaults = [
        one
        for one in storage.classes.values()
        if one.metadata.annotations.get(DEFAULT_CLASS) == "true"
    ]
    defaults.sort(key=lambda one: one.metadata.name)
    created = [one.metadata.creation_timestamp for one in defaults]
    dated = [at for at in created if at is not None]
    if dated:
        return defaults[created.index(max(dated))]
    return defaults[0] if defaults else None


def _shown(namespace: str, name: str) -> str:
    return f'persistentvolumeclaim "{namespace}/{name}"'


def _driver_of_class(storage_class: StorageClass) -> str:
    provisioner = storage_class.provisioner
    return "" if provisioner == NO_PROVISIONER else CSI_OF_PLUGIN.get(provisioner, provisioner)
