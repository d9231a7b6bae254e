"""Room for volumes that are yet to be made, of drivers that publish how much there is of it.

Apart from where volumes can be used because of a node that is yet to start no driver can have said
anything: there only what is published of its zone, or of whatever else it shares with others,
speaks against it.

Source: kube-scheduler's VolumeBinding; Kubernetes documentation, "Storage Capacity".
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil

from libs.domain.errors import InvalidRequest
from libs.domain.quantity import parse
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import ANYTHING, Requirements
from libs.kube.convert import selectors
from libs.kube.convert.volume_place import Places, merged
from libs.kube.objects.metadata import LabelSelector, Quantity
from libs.kube.objects.storage import CsiDriver, CsiStorageCapacity, StorageClass

_OPERATORS = frozenset(
    {Operator.IN, Operator.NOT_IN, Operator.EXISTS, Operator.DOES_NOT_EXIST},
)
_MOST_PLACES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a driver publishes for a class."""

    largest: int
    """Bytes of the largest volume that there is room for."""
    reach: Requirements
    """The nodes that it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where there is room for one volume of a class."""

    storage_class: str
    size: int
    """Bytes."""
    published: Places
    """Where the driver says so."""
    starting: Places
    """Where it does not say that there is none."""


class Rooms:
    """Where there is room for new volumes, found once: claims are many, their sizes few."""

    def __init__(self, published: Mapping[str, tuple[Capacity, ...]]) -> None:
        self._published = published
        self._found: dict[tuple[str, int, Places], Room] = {}

    def of(self, storage_class: str, requested: Quantity | None, made: Places) -> Room | None:
        """Return where there is room for a volume; None if the driver of its class does not say.

        Args:
            storage_class: name of the class.
            requested: how large it has to be.
            made: where the class would make it.

        Raises:
            InvalidRequest: what is requested is no quantity.
        """
        known = self._published.get(storage_class)
        if known is None or requested is None:
            return None
        key = storage_class, ceil(parse(requested)), made
        if key not in self._found:
            self._found[key] = _room(*key, known)
        return self._found[key]


def published(
    classes: Iterable[StorageClass],
    drivers: Mapping[tuple[str, str], CsiDriver],
    capacities: Iterable[CsiStorageCapacity],
) -> dict[str, tuple[Capacity, ...]]:
    """Return what is published for each class; a class whose driver publishes nothing is left out.

    What is illegible, or within no node's reach, is as good as not published.
    """
    found: dict[str, list[Capacity]] = {
        one.metadata.name: [] for one in classes if _is_tracked(drivers.get(("", one.provisioner)))
    }
    for one in capacities:
        if one.storage_class_name in found and one.node_topology is not None:
            try:
                capacity = Capacity(largest=_largest(one), reach=_reach(one.node_topology))
            except InvalidRequest:
                continue
            found[one.storage_class_name].append(capacity)
    return {name: tuple(known) for name, known in found.items()}


def _room(storage_class: str, size: int, made: Places, known: Iterable[Capacity]) -> Room:
    enough: list[Requirements] = []
    small: list[Requirements] = []
    for one in known:
        (enough if one.largest >= size else small).append(one.reach)
    return Room(
        storage_class=storage_class,
        size=size,
        published=_within(made, merged(enough)),
        starting=_within(made, _outside(merged(small))),
    )


def _within(made: Places, places: Places) -> Places:
    return merged(one.intersection(place) for one in made for place in places)


def _is_tracked(driver: CsiDriver | None) -> bool:
    return driver is not None and driver.spec.storage_capacity is True


def _largest(capacity: CsiStorageCapacity) -> int:
    most = capacity.maximum_volume_size
    if most is None:
        most = capacity.capacity
    return ceil(parse(most)) if most is not None else -1


def _reach(topology: LabelSelector) -> Requirements:
    labels = selectors.node_selector(topology.match_labels, "nodeTopology.matchLabels")
    path = "nodeTopology.matchExpressions"
    return labels.intersection(
        selectors.node_requirements(topology.match_expressions, path, _OPERATORS)
    )


def _outside(places: Places) -> Places:
    """Return where none of the places is; of very many alternatives only so many."""
    found: Places = (ANYTHING,)
    for place in places:
        apart = (one.intersection(Requirements((_not(own),))) for one in found for own in place)
        found = _widest(merged(apart))[:_MOST_PLACES]
    return found


def _not(one: Requirement) -> Requirement:
    return Requirement(
        key=one.key, complement=not one.complement, values=one.values, absent=not one.absent
    )


def _widest(places: Places) -> Places:
    """Return the places without those that lie within another one."""
    return tuple(
        one for one in places if not any(other != one and other.contains(one) for other in places)
    )
