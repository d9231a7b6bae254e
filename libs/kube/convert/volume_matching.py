"""Which existing volumes claims that wait for their first pod may take, and so where it may run.

Apart because the claims of one pod compete: each needs a volume of its own, all on the same node.

Source: kube-scheduler's VolumeBinding: small claims choose first, each the smallest volume that
will do; a volume that is kept for a claim comes before all others.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

from libs.domain.errors import InvalidRequest
from libs.domain.pod import StorageRoom
from libs.domain.quantity import parse
from libs.domain.requirements import ANYTHING, Requirements
from libs.kube.convert import selectors
from libs.kube.convert.storage_room import Room
from libs.kube.convert.volume_place import Places, merged, reachable_places
from libs.kube.objects.metadata import ObjectMeta, Quantities
from libs.kube.objects.storage import PersistentVolume, PersistentVolumeClaim

_CLASS = "volume.beta.kubernetes.io/storage-class"
_MOST_REGIONS = 32
_MOST_CELLS = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FreeVolume:
    """A volume that a claim may still take."""

    volume: PersistentVolume
    size: Fraction
    places: Places
    """Where it can be used."""

    @property
    def name(self) -> str:
        """Return its name."""
        return self.volume.metadata.name

    @property
    def storage_class(self) -> str:
        """Return the name of its class, empty for none."""
        return class_name(self.volume.metadata, self.volume.spec.storage_class_name) or ""


class Suiting(NamedTuple):
    """The volumes that a claim may take."""

    volumes: tuple[FreeVolume, ...] = ()
    """The best one first."""
    reach: Places = ()
    """Where any of them can be used."""

    @classmethod
    def of(cls, volumes: Iterable[FreeVolume]) -> "Suiting":
        """Return these volumes, and where they can be used."""
        listed = tuple(volumes)
        return cls(listed, merged(place for volume in listed for place in volume.places))


NOTHING_SUITS = Suiting()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The volumes that claims may still take, arranged so that nobody looks at all of them."""

    free: Mapping[str, tuple[FreeVolume, ...]]
    """By class, the smallest one first."""
    kept: Mapping[tuple[str, str], tuple[PersistentVolume, ...]]
    """By namespace and name of the claim that has them, or that they are kept for."""
    found: dict[object, Suiting] = field(default_factory=dict, compare=False)
    """What suits claims that ask for the same: claims are many, what they ask for is little."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Waiting:
    """A claim that is bound when its pod has a node."""

    claim: PersistentVolumeClaim
    made: Places
    """Where its class would make a volume for it."""
    suiting: Suiting
    """Those that it may take."""
    places: Places
    """Where it could be bound if it had all volumes for itself; empty: nowhere."""
    room: Room | None = None
    """Where there is room to make one; None where its driver does not say."""

    @property
    def volumes(self) -> tuple[FreeVolume, ...]:
        """Return the volumes that it may take, the best one first."""
        return self.suiting.volumes

    @property
    def is_everywhere(self) -> bool:
        """Return whether it can be used on every node, whichever volume it takes."""
        return not self.made and all(one.places == (ANYTHING,) for one in self.volumes)


def class_name(metadata: ObjectMeta, given: str | None) -> str | None:
    """Return the class of a claim or a volume; the annotation of old still comes first."""
    return metadata.annotations.get(_CLASS, given)


def offered(volumes: Iterable[PersistentVolume]) -> Offer:
    """Return what claims may still take of these volumes; illegible ones are left out."""
    free: dict[str, list[FreeVolume]] = defaultdict(list)
    kept: dict[tuple[str, str], list[PersistentVolume]] = defaultdict(list)
    for volume in sorted(volumes, key=lambda one: one.metadata.name):
        owner = volume.spec.claim_ref
        if volume.metadata.deletion_timestamp is not None:
            continue
        if owner is not None:
            kept[owner.namespace, owner.name].append(volume)
        elif volume.status.phase in ("", "Available"):
            for one in free_volumes((volume,)):
                free[one.storage_class].append(one)
    return Offer(
        free={
            key: tuple(sorted(found, key=lambda one: (one.size, one.name)))
            for key, found in free.items()
        },
        kept={key: tuple(found) for key, found in kept.items()},
    )


def free_volumes(volumes: Iterable[PersistentVolume]) -> Iterator[FreeVolume]:
    """Yield the volumes with where they can be used; illegible ones are left out."""
    for one in volumes:
        try:
            size, places = _size(one.spec.capacity), reachable_places(one)
        except InvalidRequest:
            continue
        yield FreeVolume(volume=one, size=size, places=places)


def waiting(
    claim: PersistentVolumeClaim,
    made: Places,
    suiting: Suiting = NOTHING_SUITS,
    room: Room | None = None,
) -> Waiting:
    """Return a claim that is bound when its pod has a node."""
    places = merged((*made, *suiting.reach))
    return Waiting(claim=claim, made=made, suiting=suiting, places=places, room=room)


def candidates(claim: PersistentVolumeClaim, storage_class: str, offer: Offer) -> Suiting:
    """Return the volumes of its class that a claim may take, the best one first.

    One that is kept for it is the only one.

    Raises:
        InvalidRequest: the claim has a selector or a size that Kubernetes refuses.
    """
    size = _size(claim.spec.resources.requests)
    kept = offer.kept.get((claim.metadata.namespace, claim.metadata.name), ())
    for one in free_volumes(kept):
        uid = one.volume.spec.claim_ref.uid if one.volume.spec.claim_ref is not None else ""
        mine = uid in ("", claim.metadata.uid) and one.storage_class == storage_class
        if mine and size <= one.size and _suits(claim, one.volume):
            return Suiting.of((one,))
    suiting = _suiting(claim, storage_class, size, offer)
    selector = selectors.label_selector(claim.spec.selector, "spec.selector")
    if selector is None:
        return suiting
    labelled = (one for one in suiting.volumes if selector.matches(one.volume.metadata.labels))
    return Suiting.of(labelled)


def _suiting(
    claim: PersistentVolumeClaim, storage_class: str, size: Fraction, offer: Offer
) -> Suiting:
    """Return what suits a claim but for its selector."""
    wanted = claim.spec
    modes = frozenset(wanted.access_modes)
    key = storage_class, size, wanted.volume_mode, wanted.volume_attributes_class_name, modes
    if key not in offer.found:
        offer.found[key] = Suiting.of(
            one
            for one in offer.free.get(storage_class, ())
            if size <= one.size
            and _suits(claim, one.volume)
            and modes <= set(one.volume.spec.access_modes)
        )
    return offer.found[key]


def none_suits(claim: PersistentVolumeClaim, storage_class: str, offer: Offer) -> str:
    """Return why a claim may take none of the free volumes of its class, in numbers."""
    kept = offer.kept.get((claim.metadata.namespace, claim.metadata.name), ())
    told = "".join(
        f'; persistentvolume "{one.metadata.name}" is kept for it, and {why}'
        for one in kept
        if (why := _against_kept(claim, storage_class, one))
    )
    return f"{_none_of_free(claim, offer.free.get(storage_class, ()))}{told}"


def _against_kept(
    claim: PersistentVolumeClaim, storage_class: str, volume: PersistentVolume
) -> str:
    """Return why a claim may not take a volume that is kept for one of its name."""
    owner = volume.spec.claim_ref
    if owner is not None and owner.uid not in ("", claim.metadata.uid):
        return "was an earlier claim's of that name"
    for one in free_volumes((volume,)):
        if one.storage_class != storage_class:
            return (
                f'is of storageclass "{one.storage_class}"'
                if one.storage_class
                else "is of no class"
            )
        if _size(claim.spec.resources.requests) > one.size:
            return f"is too small: {volume.spec.capacity.get('storage', 0)}"
        return "" if _suits(claim, volume) else "is of another mode"
    return "is not legible"


def _none_of_free(claim: PersistentVolumeClaim, free: Sequence[FreeVolume]) -> str:
    if not free:
        return "there is no free one of it"
    wanted = claim.spec.resources.requests.get("storage", 0)
    reasons = Counter(_against(claim, one) for one in free)
    told = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return f"none of its {len(free)} free ones suits {wanted} {_modes(claim)}: {told}"


def _against(claim: PersistentVolumeClaim, one: FreeVolume) -> str:
    if _size(claim.spec.resources.requests) > one.size:
        return "too small"
    if not _suits(claim, one.volume):
        return "of another mode"
    if set(claim.spec.access_modes) <= set(one.volume.spec.access_modes):
        return "not selected"
    return "without its access modes"


def _modes(claim: PersistentVolumeClaim) -> str:
    return f"{claim.spec.volume_mode} {', '.join(claim.spec.access_modes)}".rstrip()


def competing(claims: Sequence[Waiting]) -> list[list[Waiting]]:
    """Return the claims of a pod in groups that have no candidate in common."""
    groups: list[tuple[set[str], list[Waiting]]] = []
    for one in claims:
        names = {volume.name for volume in one.volumes}
        apart = [group for group in groups if not group[0] & names]
        met = [group for group in groups if group[0] & names]
        members = [member for _, members in met for member in members]
        names = names.union(*(others for others, _ in met))
        groups = [*apart, (names, [*members, one])]
    return [members for _, members in groups]


def in_order_of_choice(claims: Iterable[Waiting]) -> list[Waiting]:
    """Return the claims of a pod in the order in which they choose: the smallest one first."""
    return sorted(claims, key=lambda one: _size(one.claim.spec.resources.requests))


def common_places(claims: Sequence[Waiting]) -> Places:
    """Return where all claims of a group can be bound at once."""
    return claims[0].places if len(claims) == 1 else _jointly(claims)


def storage_room(group: Sequence[Waiting], places: Places) -> StorageRoom | None:
    """Return where there is room for the claims of a group; None if that is in all its places.

    Args:
        group: claims that compete.
        places: where they can be bound at once.
    """
    tracked = [one.room for one in group if one.room is not None]
    if not tracked:
        return None
    published = [one if one.room is None else _made_in(one, one.room.published) for one in group]
    there = common_places(published)
    if there == places:
        return None
    starting = [one if one.room is None else _made_in(one, one.room.starting) for one in group]
    largest = max(tracked, key=lambda one: (one.size, one.storage_class))
    return StorageRoom(
        storage_class=largest.storage_class,
        size=largest.size,
        published=there,
        starting=common_places(starting),
    )


def _made_in(one: Waiting, places: Places) -> Waiting:
    """Return the claim as if its class made volumes in these places only."""
    if not one.volumes:
        return replace(one, made=places, places=places)
    return waiting(one.claim, places, one.suiting, one.room)


def _jointly(claims: Sequence[Waiting]) -> Places:
    """Return where claims that compete can be bound: every place is tried as the scheduler would.

    Where volumes have few places in all, those that several of them reach at once are tried, too;
    where they have many, as disks of hosts do, each is taken to reach no other's.
    """
    choices = [_Choice.of(one) for one in in_order_of_choice(claims)]
    there: dict[Requirements, set[str]] = {place: set() for one in claims for place in one.made}
    for volume in (volume for one in claims for volume in one.volumes):
        for place in volume.places:
            there.setdefault(place, set()).add(volume.name)
    if len(there) > _MOST_REGIONS:
        everywhere = there.get(ANYTHING, set())
        return merged(
            place for place, names in there.items() if _binds(choices, names | everywhere, place)
        )
    return merged(
        cell
        for cell in _cells(list(there))
        if _binds(
            choices,
            {name for place, names in there.items() if place.contains(cell) for name in names},
            cell,
        )
    )


def _cells(regions: list[Requirements]) -> list[Requirements]:
    """Return the regions and what they have in common, so many of those."""
    cells = dict.fromkeys(regions)
    for region in regions:
        for cell in list(cells):
            both = cell.intersection(region)
            if both.satisfiable and len(cells) < _MOST_CELLS:
                cells[both] = None
    return list(cells)


def _binds(choices: Sequence["_Choice"], reached: set[str], cell: Requirements) -> bool:
    left = set(reached)
    for one in choices:
        best = min(left & one.rank.keys(), key=one.rank.__getitem__, default=None)
        if best is not None:
            left.discard(best)
        elif not any(place.contains(cell) for place in one.made):
            return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Choice:
    """What a claim may take: volumes by how much it likes them, or a new one."""

    rank: Mapping[str, int]
    made: Places

    @classmethod
    def of(cls, one: Waiting) -> "_Choice":
        rank = {volume.name: number for number, volume in enumerate(one.volumes)}
        return cls(rank=rank, made=one.made)


def _suits(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Tell whether a volume is of the kind that the claim asks for."""
    wanted, there = claim.spec, volume.spec
    return (
        wanted.volume_mode == there.volume_mode
        and wanted.volume_attributes_class_name == there.volume_attributes_class_name
    )


def _size(quantities: Quantities) -> Fraction:
    return parse(quantities.get("storage", 0))
