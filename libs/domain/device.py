"""Devices of dynamic resource allocation: claimed by pods, offered by nodes."""

from dataclasses import dataclass

from libs.domain.requirements import Requirements
from libs.domain.resources import Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCapacity:
    """A capacity dimension of a device, in base units."""

    name: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSubRequest:
    """One way to satisfy a device request; `all` asks for every matching device of the node."""

    device_class: str
    name: str = ""
    selectors: tuple[str, ...] = ()
    """CEL expressions over `device`, all of which must hold."""
    count: int = 1
    all: bool = False
    capacity: tuple[DeviceCapacity, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequest:
    """A device request: the first alternative that can be satisfied is taken."""

    name: str
    alternatives: tuple[DeviceSubRequest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceConstraint:
    """Devices of these requests (empty: all) must agree in one attribute."""

    match_attribute: str
    requests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClaim:
    """A resource claim of a pod shape."""

    claim: str = ""
    """`namespace/name` of an existing claim, empty for one made from a template."""
    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    allocated_terms: tuple[Requirements, ...] = ()
    """Nodes on which an allocated claim can be used; empty while not allocated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceVersion:
    """A semantic version as an attribute's value; distinct from a plain string."""

    text: str


AttributeValue = str | int | bool | DeviceVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceAttribute:
    """An attribute of a device by its fully qualified name."""

    name: str
    value: AttributeValue


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterUse:
    """Amounts of a named set of shared counters."""

    counter_set: str
    amounts: Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device that a node, or a future node, offers."""

    name: str
    attributes: tuple[DeviceAttribute, ...] = ()
    capacity: tuple[DeviceCapacity, ...] = ()
    shared: bool = False
    counters: tuple[CounterUse, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePool:
    """A pool of devices of one driver."""

    driver: str
    pool: str
    devices: tuple[Device, ...] = ()
    counters: tuple[CounterUse, ...] = ()
    node_name: str = ""
    """Node that has the devices; empty for a pool that several nodes reach."""
    node_terms: tuple[Requirements, ...] = ()
    allocated: tuple[str, ...] = ()
    complete: bool = True

    @property
    def key(self) -> str:
        """Return `driver/pool`."""
        return f"{self.driver}/{self.pool}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClass:
    """A class of devices: CEL expressions, all of which must hold."""

    name: str
    selectors: tuple[str, ...] = ()
