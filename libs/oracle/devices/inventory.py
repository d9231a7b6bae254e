"""The pools of devices that a node reaches, from ResourceSlices.

A driver publishes a pool in several slices; while it replaces them, two generations are there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from libs.domain.quantity import parse
from libs.oracle.cluster import Node
from libs.oracle.node_selectors import read_node_selector
from libs.oracle.objects import KubeObject, name_of, spec_of


class DeviceId(NamedTuple):
    """A device's name in the cluster."""

    driver: str
    pool: str
    device: str


class Counter(NamedTuple):
    """A counter of a pool that its devices share."""

    counter_set: str
    name: str


Amounts = Mapping[Counter, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device and the slice that it stands in."""

    id: DeviceId
    obj: KubeObject
    slice_spec: KubeObject
    counters: Amounts
    """What it takes of the pool's counters while it is allocated."""

    @property
    def shared(self) -> bool:
        """Whether several claims may have parts of it."""
        return bool(self.obj.get("allowMultipleAllocations"))

    @property
    def place(self) -> KubeObject:
        """Where its nodeName, nodeSelector or allNodes stands: itself, or its slice."""
        own = bool(self.slice_spec.get("perDeviceNodeSelection"))
        return self.obj if own else self.slice_spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A pool as one node sees it."""

    name: tuple[str, str]
    """Driver and pool."""
    problem: str
    """Why nothing is allocated from it, empty if it is complete and sound."""
    devices: tuple[Device, ...] = ()
    """In the order in which they are tried."""
    elsewhere: tuple[Device, ...] = ()
    """Devices in slices that the node does not reach, but that share its counters."""
    counters: Amounts


INCOMPLETE = "is currently being updated"
INVALID = "is currently invalid"
_NO_AMOUNTS: Amounts = {}


def pools_for(slices: Iterable[KubeObject], node: Node) -> list[Pool]:
    """Return the pools of which the node reaches a slice, in the order in which they are tried.

    Pools with devices that have binding conditions come last, otherwise they are ordered by name.
    """
    everything = sorted(slices, key=name_of)
    reached: dict[tuple[str, str], list[KubeObject]] = {}
    for one in everything:
        if _is_relevant(spec_of(one), node):
            reached.setdefault(_pool_name(one), []).append(one)
    found = []
    for name, relevant in reached.items():
        newest = max(map(_generation, relevant))
        current = [one for one in relevant if _generation(one) == newest]
        if len(current) == _declared(current[0]):
            found.append(_pool(name, current, []))
            continue
        # The rest of the pool may be out of this node's reach.
        whole = [one for one in everything if _pool_name(one) == name]
        if any(_generation(one) > newest for one in whole):
            continue
        whole = [one for one in whole if _generation(one) == newest]
        if len(whole) != _declared(current[0]):
            found.append(Pool(name=name, problem=INCOMPLETE, counters=_NO_AMOUNTS))
            continue
        found.append(_pool(name, current, [one for one in whole if one not in current]))
    return sorted(found, key=lambda pool: (_has_binding_conditions(pool), pool.name))


def reaches(place: KubeObject, node: Node) -> bool:
    """Tell whether a node is where a slice or a device says that it can be used."""
    if place.get("nodeName"):
        return bool(place["nodeName"] == node.name)
    if place.get("allNodes"):
        return True
    selector = place.get("nodeSelector")
    return selector is not None and read_node_selector(selector)(node.labels, node.name)


def _is_relevant(spec: KubeObject, node: Node) -> bool:
    if spec.get("sharedCounters"):
        return True
    if spec.get("perDeviceNodeSelection"):
        return any(reaches(device, node) for device in spec.get("devices") or ())
    return reaches(spec, node)


def _pool(name: tuple[str, str], slices: Sequence[KubeObject], rest: Sequence[KubeObject]) -> Pool:
    devices = tuple(_devices(slices))
    elsewhere = tuple(_devices(rest))
    sets = [one for each in slices for one in spec_of(each).get("sharedCounters") or ()]
    counters = {
        Counter(one["name"], counter): parse(amount["value"])
        for one in sets
        for counter, amount in (one.get("counters") or {}).items()
    }
    names = [one["name"] for one in sets]
    sound = (
        len({device.id for device in devices}) == len(devices)
        and len(set(names)) == len(names)
        and all(
            counter in counters for device in devices + elsewhere for counter in device.counters
        )
    )
    return Pool(
        name=name,
        problem="" if sound else INVALID,
        devices=devices,
        elsewhere=elsewhere,
        counters=counters,
    )


def _devices(slices: Iterable[KubeObject]) -> Iterator[Device]:
    for one in slices:
        spec = spec_of(one)
        for device in spec.get("devices") or ():
            yield Device(
                id=DeviceId(*_pool_name(one), device["name"]),
                obj=device,
                slice_spec=spec,
                counters={
                    Counter(used["counterSet"], counter): parse(amount["value"])
                    for used in device.get("consumesCounters") or ()
                    for counter, amount in (used.get("counters") or {}).items()
                },
            )


def _has_binding_conditions(pool: Pool) -> bool:
    return any(device.obj.get("bindingConditions") for device in pool.devices)


def _pool_name(one: KubeObject) -> tuple[str, str]:
    spec = spec_of(one)
    return spec["driver"], spec["pool"]["name"]


def _generation(one: KubeObject) -> int:
    return int(spec_of(one)["pool"].get("generation") or 0)


def _declared(one: KubeObject) -> int:
    return int(spec_of(one)["pool"].get("resourceSliceCount") or 0)
