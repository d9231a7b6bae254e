"""Which existing volumes claims that wait for their first pod may take, and so where it may run.

Apart because the claims of one pod compete: each needs a volume of its own, all on the same node.

Source: kube-scheduler's VolumeBinding: small claims choose first, each the smallest volume that
will do; a volume that is kept for a claim comes before all others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from libs.domain.quantity import parse
from libs.domain.requirements import Requirements
from libs.kube.convert import selectors
from libs.kube.convert.volume_place import Places, merged, reachable_places
from libs.kube.objects.metadata import ObjectMeta, Quantities
from libs.kube.objects.storage import PersistentVolume, PersistentVolumeClaim

_CLASS = "volume.beta.kubernetes.io/storage-class"
_MOST_CELLS = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Waiting:
    """A claim that is bound when its pod has a node."""

    claim: PersistentVolumeClaim
    made: Places
    """Where its class would make a volume for it."""
    volumes: tuple[PersistentVolume, ...]
    """Those that it may take, the best one first."""

    @property
    def places(self) -> Places:
        """Return where it could be bound if it had all volumes for itself; empty: nowhere."""
        return merged((*self.made, *_reached(self.volumes)))


def class_name(metadata: ObjectMeta, given: str | None) -> str | None:
    """Return the class of a claim or a volume; the annotation of old still comes first."""
    return metadata.annotations.get(_CLASS, given)


def candidates(
    claim: PersistentVolumeClaim, storage_class: str, volumes: Iterable[PersistentVolume]
) -> tuple[PersistentVolume, ...]:
    """Return the volumes of its class that a claim may take, the best one first.

    Raises:
        InvalidRequest: the claim has a selector that Kubernetes refuses.
    """
    fitting = [
        one
        for one in volumes
        if class_name(one.metadata, one.spec.storage_class_name) == storage_class
        and _fits(claim, one)
    ]
    kept = [one for one in fitting if one.spec.claim_ref is not None]
    if kept:
        return (min(kept, key=lambda one: one.metadata.name),)
    selector = selectors.label_selector(claim.spec.selector, "spec.selector")
    found = [
        one
        for one in fitting
        if one.status.phase in ("", "Available")
        and set(claim.spec.access_modes) <= set(one.spec.access_modes)
        and (selector is None or selector.matches(one.metadata.labels))
    ]
    return tuple(sorted(found, key=lambda one: (_size(one.spec.capacity), one.metadata.name)))


def common_places(waiting: Sequence[Waiting]) -> tuple[Places, ...]:
    """Return where all claims of a pod can be bound at once: one of each of these must hold.

    Claims that compete for no volume are independent of each other.
    """
    return tuple(
        group[0].places if len(group) == 1 else _jointly(group) for group in _competing(waiting)
    )


def _competing(waiting: Sequence[Waiting]) -> list[list[Waiting]]:
    """Return the claims in groups that have no candidate in common."""
    groups: list[tuple[set[str], list[Waiting]]] = []
    for one in waiting:
        names = {volume.metadata.name for volume in one.volumes}
        apart = [group for group in groups if not group[0] & names]
        met = [group for group in groups if group[0] & names]
        members = [member for _, members in met for member in members]
        names = names.union(*(others for others, _ in met))
        groups = [*apart, (names, [*members, one])]
    return [members for _, members in groups]


def _jointly(waiting: list[Waiting]) -> Places:
    """Return where claims that compete can be bound: every place is tried as the scheduler would.

    Places that lie in several volumes' reach at once are tried, too; of these only so many.
    """
    waiting.sort(key=lambda one: _size(one.claim.spec.resources.requests))
    reach = {
        volume.metadata.name: reachable_places(volume) for one in waiting for volume in one.volumes
    }
    regions = dict.fromkeys(
        (
            *(place for places in reach.values() for place in places),
            *(place for one in waiting for place in one.made),
        )
    )
    return merged(
        cell
        for cell in _cells(list(regions))
        if _binds(waiting, {name for name, places in reach.items() if _within(cell, places)}, cell)
    )


def _cells(regions: list[Requirements]) -> list[Requirements]:
    cells = dict.fromkeys(regions)
    for region in regions:
        if len(cells) >= _MOST_CELLS:
            break
        for cell in list(cells):
            both = cell.intersection(region)
            if both.satisfiable:
                cells[both] = None
    return list(cells)


def _binds(waiting: Sequence[Waiting], reached: set[str], cell: Requirements) -> bool:
    left = set(reached)
    for one in waiting:
        best = next((v.metadata.name for v in one.volumes if v.metadata.name in left), None)
        if best is not None:
            left.discard(best)
        elif not _within(cell, one.made):
            return False
    return True


def _within(cell: Requirements, places: Places) -> bool:
    return any(place.contains(cell) for place in places)


def _reached(volumes: Iterable[PersistentVolume]) -> Iterable[Requirements]:
    return (place for volume in volumes for place in reachable_places(volume))


def _fits(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Tell whether a volume is for the claim or for nobody, and of its kind and size."""
    wanted, offered = claim.spec, volume.spec
    kept = offered.claim_ref
    mine = kept is None or (
        (kept.namespace, kept.name) == (claim.metadata.namespace, claim.metadata.name)
        and kept.uid in ("", claim.metadata.uid)
    )
    return (
        mine
        and volume.metadata.deletion_timestamp is None
        and wanted.volume_mode == offered.volume_mode
        and wanted.volume_attributes_class_name == offered.volume_attributes_class_name
        and _size(wanted.resources.requests) <= _size(offered.capacity)
    )


def _size(quantities: Quantities) -> Fraction:
    return parse(quantities.get("storage", 0))
