"""Which of the volumes that claims may still take are alike, and how many there are of each kind.

Apart because claims of different pods compete for them, while a pod is converted by itself: it
names kinds, and who gets one is decided where pods are placed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from libs.domain.volume import VolumeKind, VolumePlace
from libs.kube.convert.volume_matching import FreeVolume, Offer, free_volumes
from libs.kube.convert.volume_place import Places
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
    places: dict[str, list[VolumePlace]] = {}
    of: dict[str, str] = {}
    for volumes in (*offer.free.values(), *_kept(offer, claims)):
        # What is alike is one place as long as nothing else is between.
        for rank, ((key, terms), alike) in enumerate(groupby(volumes, key=_alike)):
            names = [one.name for one in alike]
            of |= dict.fromkeys(names, key)
            place = VolumePlace(rank=rank, count=len(names), terms=terms)
            places.setdefault(key, []).append(place)
    return VolumeKinds(
        all=tuple(
            VolumeKind(key=key, places=tuple(found)) for key, found in sorted(places.items())
        ),
        of=of,
    )


def _alike(one: FreeVolume) -> tuple[str, Places]:
    return _kind(one), one.places


def _kept(offer: Offer, claims: Claims) -> Iterator[list[FreeVolume]]:
    """Yield the volumes that are kept for each claim which waits for its pod."""
    for key, volumes in offer.kept.items():
        claim = claims.get(key)
        if claim is not None and not claim.spec.volume_name:
            yield list(free_volumes(volumes))


def _kind(one: FreeVolume) -> str:
    volume: PersistentVolume = one.volume
    spec = volume.spec
    owner = spec.claim_ref
    kept = f"kept for {owner.namespace}/{owner.name}" if owner is not None else ""
    parts = [one.storage_class, str(one.size), *sorted(spec.access_modes), spec.volume_mode]
    if spec.volume_attributes_class_name:
        parts.append(spec.volume_attributes_class_name)
    labels = (f"{key}={value}" for key, value in sorted(volume.metadata.labels.items()))
    return " ".join([*parts, *labels, *([kept] if kept else [])])
