"""Disks of hosts: how many a host still has of each class that makes no volumes.

Apart because claims of different pods compete for them, while a pod is converted by itself: they
are counted as volumes that the host can attach, so that no two pods are planned onto one disk.

Only where every volume of a class is on one host: of others a host does not have a number.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from libs.domain.labels import HOSTNAME
from libs.domain.pod import VolumeAttachCount
from libs.kube.convert.volume_matching import FreeVolume, Offer, free_volumes
from libs.kube.objects.storage import PersistentVolume, PersistentVolumeClaim

NO_PROVISIONER = "kubernetes.io/no-provisioner"

Claims = Mapping[tuple[str, str], PersistentVolumeClaim]


def disk_driver(storage_class: str) -> str:
    """Return the name under which the disks of a class that makes none are counted."""
    return f"{NO_PROVISIONER}/{storage_class}"


def disks_by_host(
    storage_classes: Iterable[str], offer: Offer, claims: Claims
) -> dict[str, tuple[VolumeAttachCount, ...]]:
    """Return how many disks may still be taken on each host, by its label.

    Args:
        storage_classes: those that make no volumes.
        offer: the volumes that claims may still take.
        claims: all claims, by namespace and name.
    """
    kept: dict[str, list[FreeVolume]] = defaultdict(list)
    for one in free_volumes(_kept(offer, claims)):
        kept[one.storage_class].append(one)
    found: dict[str, list[VolumeAttachCount]] = defaultdict(list)
    for name in sorted(storage_classes):
        hosts = [_host(one) for one in (*offer.free.get(name, ()), *kept[name])]
        if None in hosts:
            continue
        for host, count in Counter(hosts).items():
            found[host or ""].append(VolumeAttachCount(driver=disk_driver(name), count=count))
    return {host: tuple(counts) for host, counts in found.items()}


def _kept(offer: Offer, claims: Claims) -> Iterator[PersistentVolume]:
    """Yield the volumes that are kept for a claim which waits for its pod."""
    for key, volumes in offer.kept.items():
        claim = claims.get(key)
        if claim is not None and not claim.spec.volume_name:
            yield from volumes


def _host(one: FreeVolume) -> str | None:
    """Return the host of a volume, None if it may be used on several."""
    if len(one.places) != 1:
        return None
    own = one.places[0].get(HOSTNAME)
    if own is None or own.complement or own.absent or len(own.values) != 1:
        return None
    return next(iter(own.values))
