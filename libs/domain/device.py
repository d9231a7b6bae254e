"""Devices of dynamic resource allocation: claimed by pods, offered by nodes.

Apart because claims, pools and classes are one contract between who decodes them and who allocates.

Laws:
    - Amounts of capacity and of counters are integers in thousandths of the base unit, since
      drivers share out fractions (half a core, `1500m`); what is asked for is rounded up, what is
      offered down.
    - Nodes are named by requirements on their labels; the key `metadata.name` (`NODE_NAME_FIELD`)
      in them stands for the node's name.
    - The order of pools (by driver and name) and of the devices within a pool is the order in which
      devices are tried.

Source: Kubernetes documentation, "Dynamic Resource Allocation"; API `resource.k8s.io/v1` of 1.36.
"""

from dataclasses import dataclass

from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.selector import NODE_NAME_FIELD
from libs.domain.taint import Taint, Toleration

REQUESTED_DRIVERS = "karpenter.sh/requested-dra-drivers"
"""Annotation of a NodeClaim: drivers, joined by commas, whose devices its node has to publish."""
IMPLICIT_RESOURCE = "deviceclass.resource.kubernetes.io/"
"""What the resource begins with that every class stands for; its name follows."""
MOST_DEVICES_OF_CLAIM = 32
"""Most devices that one claim is given."""
MOST_CONSUMERS_OF_CLAIM = 256
"""Most pods that one claim is reserved for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityPolicy:
    """Which shares of a capacity may be asked for: one of `valid_values`, or a range."""

    default: int | None = None
    """What a request takes that names no amount; `None`: all."""
    valid_values: tuple[int, ...] = ()
    """Ascending."""
    least: int | None = None
    """`None`: there is no range."""
    most: int | None = None
    step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCapacity:
    """A capacity dimension of a device, or how much of it is asked for or taken."""

    name: str
    amount: int
    policy: CapacityPolicy | None = None
    """Only on a device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSubRequest:
    """One way to satisfy a device request; `all` asks for every matching device of the node."""

    device_class: str
    name: str = ""
    """Name within a request of several ways; empty where there is only one."""
    selectors: tuple[str, ...] = ()
    """CEL expressions over `device`, all of which must hold."""
    count: int = 1
    all: bool = False
    capacity: tuple[DeviceCapacity, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    admin_access: bool = False
    """The devices are looked at, not taken: others may hold them as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequest:
    """A device request: the first alternative that can be satisfied is taken."""

    name: str
    alternatives: tuple[DeviceSubRequest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceConstraint:
    """Devices of these requests must agree in one attribute, or all differ in one.

    Exactly one of the attributes is named.
    """

    match_attribute: str = ""
    distinct_attribute: str = ""
    requests: tuple[str, ...] = ()
    """Names of requests, or of alternatives as `request/alternative`; empty: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClaim:
    """A resource claim of a pod shape.

    A claim that was made from a template for one pod counts as its template until it is allocated.
    """

    claim: str = ""
    """`namespace/name` of an existing claim, empty for one made from a template."""
    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    allocated_terms: tuple[Requirements, ...] = ()
    """Nodes on which an allocated claim can be used, any one suffices; empty while not allocated.
    """
    reserved_for: tuple[str, ...] = ()
    """Uids of those for whom an allocated claim is reserved, pods or others, sorted. It is
    allocated anew when they all move; reserved for nobody, it stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceVersion:
    """A semantic version as an attribute's value; distinct from a plain string."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonValue:
    """A value that only the node will tell, equal for all its devices that name the same group.

    It is equal to no value that is known, and nobody can say that two groups differ. Selectors do
    not see it.

    Source: Karpenter's `InstanceType.DynamicResources.AttributeBindings`.
    """

    group: str


AttributeValue = str | int | bool | DeviceVersion | CommonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceAttribute:
    """An attribute of a device; a name without a domain is within that of the driver."""

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
    """Whether several claims may have a part of it at a time."""
    counters: tuple[CounterUse, ...] = ()
    """What it takes of the pool's shared counters once somebody has it."""
    taints: tuple[Taint, ...] = ()
    node_terms: tuple[Requirements, ...] = ()
    """Nodes that can use it, any one suffices; empty: the nodes of its pool."""
    binds_to_node: bool = False
    """Once given to a pod it can be used on that pod's node only."""
    has_binding_conditions: bool = False
    """It needs preparing before the pod is bound, so that pools of such devices are tried last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceHold:
    """A device, or a part of a shared one, that an allocated claim holds."""

    device: str
    claim: str
    """`namespace/name`."""
    shared: bool = False
    """Only a part is held: `consumed`."""
    consumed: tuple[DeviceCapacity, ...] = ()
    reserved_for: tuple[str, ...] = ()
    """As of the claim: the hold ends when they all go; empty: it does not end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePool:
    """A pool of devices of one driver."""

    driver: str
    pool: str
    devices: tuple[Device, ...] = ()
    """Of those that one node can see, each has a name of its own; else it takes none of them."""
    counters: tuple[CounterUse, ...] = ()
    """Budgets that its devices share."""
    node_name: str = ""
    """Node that has the devices; empty for a pool that several nodes reach."""
    node_terms: tuple[Requirements, ...] = ()
    """Nodes that the pool is about, any one suffices; empty with an empty `node_name`: all."""
    allocated: tuple[str, ...] = ()
    """Devices that are held whoever goes."""
    complete: bool = True
    """False where slices of the newest generation are missing: nothing is taken from it, and who
    asks for all devices has to wait."""
    holds: tuple[DeviceHold, ...] = ()
    """Sorted by device, then claim."""
    problem: str = ""
    """Why nothing can be taken from it; empty: it is sound."""

    @property
    def key(self) -> str:
        """Return `driver/pool`."""
        return f"{self.driver}/{self.pool}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClass:
    """A class of devices: CEL expressions, all of which must hold."""

    name: str
    selectors: tuple[str, ...] = ()
    extended_resource: str = ""
    """Resource that a device of the class is, for pods that ask for it like for any other; of
    classes with the same resource only the one that counts has it."""


def named_node(name: str) -> Requirements:
    """Return the term that the node of this name alone meets."""
    only = Requirement(
        key=NODE_NAME_FIELD, complement=False, values=frozenset((name,)), absent=False
    )
    return Requirements((only,))
