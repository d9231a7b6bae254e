"""The storage objects that the claims of pods lead to.

Apart from what they demand because it is made anew when one of them changes, and what is found by
looking through all of them is then found once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from libs.kube.convert.absent import RefusedObjects
from libs.kube.convert.attached_disk import AttachedDisk, disk_of_volume
from libs.kube.convert.storage_room import Rooms, published
from libs.kube.convert.volume_kind import VolumeKinds, volume_kinds
from libs.kube.convert.volume_matching import Offer, offered
from libs.kube.objects.storage import (
    CsiDriver,
    CsiStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)


class PodClaim(NamedTuple):
    """A volume claim that a pod uses."""

    path: str
    """Where the pod names it."""
    name: str
    owner: str | None = None
    """Uid of the pod if the claim has to be its own (an ephemeral volume)."""


@dataclass(frozen=True, kw_only=True)
class Storage:
    """The storage objects of a cluster: claims by namespace and name, the rest by name.

    Made anew when any of them changes; it has no slots, so that what follows is found once.
    """

    claims: Mapping[tuple[str, str], PersistentVolumeClaim]
    volumes: Mapping[tuple[str, str], PersistentVolume]
    classes: Mapping[tuple[str, str], StorageClass]
    drivers: Mapping[tuple[str, str], CsiDriver] = field(default_factory=dict)
    capacities: Mapping[tuple[str, str], CsiStorageCapacity] = field(default_factory=dict)
    """By namespace and name."""
    migrated: frozenset[str] = frozenset()
    """Labels of nodes, as of `migration.migrated_labels`."""
    refused: RefusedObjects = field(default_factory=dict)
    """What is there and does not count."""

    @cached_property
    def offer(self) -> Offer:
        """Return the volumes that claims may still take."""
        return offered(self.volumes.values())

    @cached_property
    def kinds(self) -> VolumeKinds:
        """Return the kinds of those volumes."""
        return volume_kinds(self.offer, self.claims)

    @cached_property
    def attached_disks(self) -> Mapping[str, AttachedDisk]:
        """Return the disks that CSI drivers attach, by the name of the volume."""
        disks = ((name, disk_of_volume(one)) for (_, name), one in self.volumes.items())
        return {name: disk for name, disk in disks if disk is not None}

    @cached_property
    def volumes_of_disk(self) -> Mapping[str, int]:
        """Return how many volumes each of those disks is, by the disk's name."""
        return Counter(one.name for one in self.attached_disks.values() if one.name)

    @cached_property
    def claims_of_disk(self) -> Mapping[str, tuple[str, ...]]:
        """Return the claims that have each of those disks, as `namespace/name`, by its name."""
        found: dict[str, list[str]] = {}
        for (namespace, name), claim in self.claims.items():
            disk = self.attached_disks.get(claim.spec.volume_name)
            if disk is not None and disk.name:
                found.setdefault(disk.name, []).append(f"{namespace}/{name}")
        return {disk: tuple(claims) for disk, claims in found.items()}

    def disks_of(self, namespace: str, claims: Iterable[PodClaim]) -> Iterator[str]:
        """Yield the names of the disks behind those of some claims that have a volume."""
        for one in claims:
            claim = self.claims.get((namespace, one.name))
            disk = None if claim is None else self.attached_disks.get(claim.spec.volume_name)
            if disk is not None and disk.name:
                yield disk.name

    @cached_property
    def rooms(self) -> Rooms:
        """Return where there is room for volumes that are yet to be made."""
        return Rooms(published(self.classes.values(), self.drivers, self.capacities.values()))
