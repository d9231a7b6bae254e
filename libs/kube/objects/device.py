"""Dynamic resource allocation: claims, templates, classes, slices, in the shape of its version v1.

Version v1beta1 keeps a request's class and selectors on the request itself; it is read as well.
"""

import msgspec

from libs.kube.objects.metadata import (
    Condition,
    Int64,
    KubeStruct,
    NodeSelector,
    ObjectMeta,
    Quantities,
    Quantity,
    Taint,
)


class CelSelector(KubeStruct, frozen=True):
    """A CEL expression over a device."""

    expression: str = ""


class DeviceSelector(KubeStruct, frozen=True):
    """A selector of devices; CEL is the only kind."""

    cel: CelSelector | None = None


class CapacityRequirements(KubeStruct, frozen=True):
    """A share of a device's capacity."""

    requests: Quantities = msgspec.field(default_factory=dict)


class DeviceToleration(KubeStruct, frozen=True):
    """A toleration of a device's taints."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class DeviceSubRequest(KubeStruct, frozen=True):
    """One way to satisfy a request; admin access is asked for only where there is no other."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = "ExactCount"
    count: Int64 | None = None
    capacity: CapacityRequirements = CapacityRequirements()
    tolerations: tuple[DeviceToleration, ...] = ()
    admin_access: bool = False


class DeviceRequest(KubeStruct, frozen=True):
    """A request: exactly one thing, or the first of several."""

    name: str = ""
    exactly: DeviceSubRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = "ExactCount"
    count: Int64 | None = None
    capacity: CapacityRequirements = CapacityRequirements()
    tolerations: tuple[DeviceToleration, ...] = ()
    admin_access: bool = False


class DeviceConstraint(KubeStruct, frozen=True):
    """What must hold between devices."""

    requests: tuple[str, ...] = ()
    match_attribute: str = ""
    distinct_attribute: str = ""


class DeviceClaim(KubeStruct, frozen=True):
    """Requests and constraints."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()


class ResourceClaimSpec(KubeStruct, frozen=True):
    """What a claim asks for."""

    devices: DeviceClaim = DeviceClaim()


class DeviceAllocation(KubeStruct, frozen=True):
    """A device that was given."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool = False
    share_id: str = msgspec.field(default="", name="shareID")
    """Set where only a part was given."""
    consumed_capacity: Quantities = msgspec.field(default_factory=dict)
    binding_conditions: tuple[str, ...] = ()
    """Types of conditions without which the device is not ready."""
    binding_failure_conditions: tuple[str, ...] = ()
    """Types of conditions that say that the device cannot be bound."""


class DeviceAllocations(KubeStruct, frozen=True):
    """All devices that were given."""

    results: tuple[DeviceAllocation, ...] = ()


class AllocationResult(KubeStruct, frozen=True):
    """What was given, and where it can be used; no selector: everywhere."""

    devices: DeviceAllocations = DeviceAllocations()
    node_selector: NodeSelector | None = None


class ConsumerReference(KubeStruct, frozen=True):
    """Who may use a claim: a pod, or something that stands for pods."""

    uid: str = ""


class AllocatedDeviceStatus(KubeStruct, frozen=True):
    """What the driver says of a device that was given."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str = msgspec.field(default="", name="shareID")
    conditions: tuple[Condition, ...] = ()


class ResourceClaimObjectStatus(KubeStruct, frozen=True):
    """State of a claim."""

    allocation: AllocationResult | None = None
    reserved_for: tuple[ConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(KubeStruct, frozen=True):
    """A ResourceClaim."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimObjectStatus = ResourceClaimObjectStatus()


class ResourceClaimTemplateSpec(KubeStruct, frozen=True):
    """Metadata and spec of claims."""

    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(KubeStruct, frozen=True):
    """A ResourceClaimTemplate."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


class DeviceClassSpec(KubeStruct, frozen=True):
    """What devices of a class have in common."""

    selectors: tuple[DeviceSelector, ...] = ()
    extended_resource_name: str = ""


class DeviceClass(KubeStruct, frozen=True):
    """A DeviceClass."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceAttribute(KubeStruct, frozen=True):
    """A value of an attribute; exactly one field is set."""

    int_value: Int64 | None = msgspec.field(default=None, name="int")
    bool_value: bool | None = msgspec.field(default=None, name="bool")
    string_value: str | None = msgspec.field(default=None, name="string")
    version_value: str | None = msgspec.field(default=None, name="version")


class ValueHolder(KubeStruct, frozen=True):
    """A quantity."""

    value: Quantity = 0


class CapacityRange(KubeStruct, frozen=True):
    """Shares of a capacity from one amount to another, in steps."""

    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityPolicy(KubeStruct, frozen=True):
    """Which shares of a capacity may be asked for."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: CapacityRange | None = None


class DeviceCapacity(KubeStruct, frozen=True):
    """A capacity dimension of a device."""

    value: Quantity = 0
    request_policy: CapacityPolicy | None = None


class CounterSet(KubeStruct, frozen=True):
    """Counters that devices share."""

    name: str = ""
    counter_set: str = ""
    counters: dict[str, ValueHolder] = msgspec.field(default_factory=dict)


class BasicDevice(KubeStruct, frozen=True):
    """A device's properties, where version v1beta1 nests them."""

    attributes: dict[str, DeviceAttribute] = msgspec.field(default_factory=dict)
    capacity: dict[str, DeviceCapacity] = msgspec.field(default_factory=dict)
    consumes_counters: tuple[CounterSet, ...] = ()
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    taints: tuple[Taint, ...] = ()
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool = False


class Device(KubeStruct, frozen=True):
    """A device."""

    name: str = ""
    attributes: dict[str, DeviceAttribute] = msgspec.field(default_factory=dict)
    capacity: dict[str, DeviceCapacity] = msgspec.field(default_factory=dict)
    consumes_counters: tuple[CounterSet, ...] = ()
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    taints: tuple[Taint, ...] = ()
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool = False
    basic: BasicDevice | None = None


class ResourcePool(KubeStruct, frozen=True):
    """The pool that a slice is a part of."""

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(KubeStruct, frozen=True):
    """A part of a pool of devices, and the nodes that reach it."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str = ""
    all_nodes: bool = False
    node_selector: NodeSelector | None = None
    per_device_node_selection: bool = False
    devices: tuple[Device, ...] = ()
    shared_counters: tuple[CounterSet, ...] = ()


class ResourceSlice(KubeStruct, frozen=True):
    """A ResourceSlice."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceSliceSpec = ResourceSliceSpec()
