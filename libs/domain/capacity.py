"""What can be bought: instance types, their offerings, and the catalogue of one node class."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from libs.domain.device import DevicePool
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources


class CapacityType(StrEnum):
    """How an instance is paid for; in order of precedence."""

    RESERVED = "reserved"
    SPOT = "spot"
    ON_DEMAND = "on-demand"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offering:
    """A zone, a capacity type, a price in nano-dollars per hour."""

    zone: str
    capacity_type: str
    price_nanos_per_hour: int
    available: bool = True
    requirements: Requirements
    """All label requirements, zone and capacity type included."""
    reservation_id: str = ""
    reservation_capacity: int = 0
    capacity_override: Resources
    overhead_override: Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """A kind of instance; `overhead` is all that system, kubelet and eviction keep back."""

    name: str
    requirements: Requirements
    capacity: Resources
    overhead: Resources
    offerings: tuple[Offering, ...] = ()
    """Sorted by zone, capacity type, reservation."""
    device_pools: tuple[DevicePool, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class NodeClassRef:
    """Reference to a node class; there is no version in it."""

    group: str
    kind: str
    name: str

    @property
    def key(self) -> str:
        """Return `group/kind/name`."""
        return f"{self.group}/{self.kind}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What one provider offers for one node class at one moment."""

    node_class: NodeClassRef
    etag: str
    observed_at: datetime
    """When the provider was last heard; from a stale one nothing is bought."""
    instance_types: tuple[InstanceType, ...] = ()
    """Sorted by name, without duplicates."""
    well_known_keys: tuple[str, ...] = ()
    """Label keys that the provider defines, sorted."""

    @property
    def key(self) -> str:
        """Return the key of the class."""
        return self.node_class.key


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedAllocatable:
    """The smallest allocatable that live nodes of one class and type reported, per resource."""

    node_class: NodeClassRef
    instance_type: str
    allocatable: Resources

    @property
    def key(self) -> str:
        """Return `group/kind/name/type`."""
        return f"{self.node_class.key}/{self.instance_type}"
