"""Which of the volumes that claims may still take are alike, and how many there are of each kind.

Apart because claims of different pods compete for them, while a pod is converted by itself: it
names kinds, and who gets one is decided where pods are placed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from libs.domain.volume import VolumeKind, VolumePlace
from libs.kube.convert.volume_matching import FreeVolume, Offer, free_volumes
from libs.kube.objects.storage import PersistentVolume, PersistentVolumeClaim

Claims = Mapping[tuple[str, str], PersistentVolumeClaim]


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeKinds:
    """The volumes that claims may still take."""

    all: tuple[VolumeKind, ...]
    """Sorted by key."""
    of: Mapping[str, str]
    """The kind of each, by the volume's name."""


def volume_kinds(offer: Offer, claims: Claims) -> VolumeKinds:
    """Return the kinds of the volumes that claims may still take.

    Args:
        offer: those volumes.
        claims: all claims, by namespace and name.
    """
    by_kind: dict[str, list[FreeVolume]] = {}
    for volumes in offer.free.values():
        for one in volumes:
            by_kind.setdefault(_kind(one), []).append(one)
    for owner, one in _kept(offer, claims):
        by_kind.setdefault(f"{_kind(one)} kept for {owner}", []).append(one)
    return VolumeKinds(
        all=tuple(
            VolumeKind(key=key, places=tuple(_places(found)))
            for key, found in sorted(by_kind.items())
        ),
        of={one.name: key for key, found in by_kind.items() for one in found},
    )


def _kept(offer: Offer, claims: Claims) -> Iterator[tuple[str, FreeVolume]]:
    """Yield the volumes that are kept for a claim which waits for its pod, with its name."""
    for (namespace, name), volumes in offer.kept.items():
        claim = claims.get((namespace, name))
        if claim is not None and not claim.spec.volume_name:
            for one in free_volumes(volumes):
                yield f"{namespace}/{name}", one


def _kind(one: FreeVolume) -> str:
    volume: PersistentVolume = one.volume
    spec = volume.spec
    parts = [one.storage_class, str(one.size), *sorted(spec.access_modes), spec.volume_mode]
    if spec.volume_attributes_class_name:
        parts.append(spec.volume_attributes_class_name)
    return " ".join([*parts, *(f"{key}={value}" for key, value in _labels(volume))])


def _labels(volume: PersistentVolume) -> list[tuple[str, str]]:
    return sorted(volume.metadata.labels.items())


def _places(volumes: Iterable[FreeVolume]) -> Iterator[VolumePlace]:
    """Yield where volumes can be used, as long as those next to each other are alike as one."""
    for terms, alike in groupby(volumes, key=lambda one: one.places):
        yield VolumePlace(count=len(list(alike)), terms=terms)
