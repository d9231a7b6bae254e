"""Storage classes, attachments and drivers: their defaults, and what is wrong with them.

Source: Kubernetes API reference, storage.k8s.io; wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import (
    NOT_NEGATIVE,
    Stored,
    fixed_spec,
    formed,
    in_range,
    not_negative,
    one_of,
    present,
)
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    not_allowed,
    not_supported,
    required,
    too_long,
    wrong,
)
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.rules.persistent_volumes import validate_inline
from libs.apiserver.rules.selectors import validate_selector, validate_topology_terms
from libs.apiserver.rules.volumes import csi_driver_name
from libs.apiserver.types.internal import internal
from libs.domain import quantity_text

Object = dict[str, Any]
_MOST_PARAMETERS, _LARGEST_PARAMETERS = 512, 256 * 1024
_LONGEST_NODE_ID = 256
_LARGEST_METADATA, _LONGEST_MESSAGE = 256 * 1024, 1024
_SHORTEST_TOKEN, _LONGEST_TOKEN = 10 * 60, 1 << 32
_MODES = ("Persistent", "Ephemeral")
_EXACTLY_ONE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


def default_class(obj: Object) -> None:
    """Fill in the defaults of a StorageClass."""
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def validate_class(obj: Object) -> list[FieldError]:
    """Check a StorageClass."""
    found = list(_validate_provisioner(obj, "provisioner"))
    found += _validate_parameters(obj.get("parameters") or {})
    if obj.get("reclaimPolicy"):
        found += one_of(obj, "", "reclaimPolicy", ("Delete", "Retain"))
    found += one_of(obj, "", "volumeBindingMode", ("Immediate", "WaitForFirstConsumer"))
    return [
        *found,
        *validate_topology_terms(obj.get("allowedTopologies") or (), "allowedTopologies"),
    ]


def validate_attributes_class(obj: Object) -> list[FieldError]:
    """Check a VolumeAttributesClass."""
    parameters = obj.get("parameters") or {}
    found = [*_validate_provisioner(obj, "driverName"), *_validate_parameters(parameters)]
    if not parameters:
        found.append(required("parameters", "must contain at least one key/value pair"))
    return found


def fixed_attributes(new: Object, old: Stored) -> list[FieldError]:
    """Refuse changes of what a class says about volumes that exist."""
    return [
        not_allowed(name, f"updates to {name} are forbidden.")
        for name in ("driverName", "parameters")
        if new.get(name) != old.get(name)
    ]


def _validate_provisioner(obj: Object, name: str) -> Iterator[FieldError]:
    provisioner = obj.get(name, "")
    if not provisioner:
        yield required(name)
    else:
        yield from formed(provisioner.lower(), name, names.qualified_name)


def _validate_parameters(parameters: Stored) -> Iterator[FieldError]:
    if len(parameters) > _MOST_PARAMETERS:
        yield too_long("parameters", _MOST_PARAMETERS)
        return
    if "" in parameters:
        yield wrong("parameters", "", "field can not be empty.")
    if sum(len(key) + len(value) for key, value in parameters.items()) > _LARGEST_PARAMETERS:
        yield too_long("parameters", _LARGEST_PARAMETERS)


def validate_attachment(obj: Object) -> list[FieldError]:
    """Check a VolumeAttachment."""
    spec = obj["spec"]
    found = list(csi_driver_name(spec.get("attacher", ""), "spec.attacher"))
    source, at = spec.get("source") or {}, "spec.source"
    name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if name is None and inline is None:
        found.append(required(at, _EXACTLY_ONE))
    elif name is not None and inline is not None:
        found.append(not_allowed(at, _EXACTLY_ONE))
    elif name == "":
        why = "must specify non empty persistentVolumeName"
        found.append(required(f"{at}.persistentVolumeName", why))
    elif inline is not None:
        found += validate_inline(inline, f"{at}.inlineVolumeSpec")
    found += formed(spec.get("nodeName", ""), "spec.nodeName", names.subdomain)
    if name is not None:
        found += formed(name, f"{at}.persistentVolumeName", names.subdomain)
    return found


def validate_attachment_status(obj: Object, _old: Stored) -> list[FieldError]:
    """Return what is wrong with a VolumeAttachment of which an attacher reports."""
    status, found = obj["status"], validate_attachment(obj)
    metadata = status.get("attachmentMetadata") or {}
    if sum(len(key) + len(text) for key, text in metadata.items()) > _LARGEST_METADATA:
        found.append(too_long("status.attachmentMetadata", _LARGEST_METADATA))
    for name in ("attachError", "detachError"):
        error = status.get(name) or {}
        if len(error.get("message", "")) > _LONGEST_MESSAGE:
            # The bound of the metadata is shown, not that of the message.
            found.append(too_long(f"status.{name}.message", _LARGEST_METADATA))
        found += in_range(error, f"status.{name}", "errorCode", (0, (1 << 31) - 1))
    return found


fixed_attachment = fixed_spec("storage/v1.VolumeAttachmentSpec")


def fixed_driver(new: Object, old: Stored) -> list[FieldError]:
    """Refuse changes of what a driver says about volumes that are attached."""
    return [
        wrong(f"spec.{shown}", new["spec"].get(name), IMMUTABLE)
        for name, shown in (
            ("attachRequired", "attachedRequired"),
            ("volumeLifecycleModes", "volumeLifecycleModes"),
        )
        if new["spec"].get(name) != old["spec"].get(name)
    ]


def default_driver(obj: Object) -> None:
    """Fill in the defaults of a CSIDriver."""
    spec = obj["spec"]
    for name in (
        "attachRequired",
        "podInfoOnMount",
        "storageCapacity",
        "requiresRepublish",
        "seLinuxMount",
    ):
        spec.setdefault(name, name == "attachRequired")
    spec.setdefault("fsGroupPolicy", "ReadWriteOnceWithFSType")
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def validate_driver(obj: Object) -> list[FieldError]:
    """Check a CSIDriver."""
    spec = obj["spec"]
    policies = ("File", "None", "ReadWriteOnceWithFSType")
    found = list(one_of(spec, "spec", "fsGroupPolicy", policies))
    tokens = spec.get("tokenRequests") or ()
    found += _validate_tokens(spec)
    found += [
        not_supported("spec.volumeLifecycleModes", mode, _MODES)
        for mode in spec.get("volumeLifecycleModes") or ()
        if mode not in _MODES
    ]
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < 10:
        why = "must be greater than or equal to 10 seconds"
        found.append(wrong("spec.nodeAllocatableUpdatePeriodSeconds", period, why))
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    if in_secrets is not None and not tokens:
        why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        found.append(wrong("spec.serviceAccountTokenInSecrets", in_secrets, why))
    return found


def driver_warnings(obj: Object, _old: Stored | None) -> list[str]:
    """Return what is odd about a CSIDriver."""
    spec = obj["spec"]
    if not spec.get("tokenRequests") or "serviceAccountTokenInSecrets" in spec:
        return []
    return [
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true "
        "to prevent possible logging of tokens in volume attributes"
    ]


def _validate_tokens(spec: Stored) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, token in enumerate(spec.get("tokenRequests") or ()):
        at, audience = f"spec.tokenRequests[{index}]", token.get("audience", "")
        seconds = token.get("expirationSeconds")
        if audience in seen:
            yield duplicate(f"{at}.audience", audience)
            continue
        seen.add(audience)
        if seconds is not None and seconds < _SHORTEST_TOKEN:
            why = "may not specify a duration less than 10 minutes"
            yield wrong(f"{at}.expirationSeconds", seconds, why)
        if seconds is not None and seconds > _LONGEST_TOKEN:
            why = "may not specify a duration larger than 2^32 seconds"
            yield wrong(f"{at}.expirationSeconds", seconds, why)


def validate_node(obj: Object) -> list[FieldError]:
    """Check a CSINode."""
    found: list[FieldError] = []
    seen: set[str] = set()
    for index, driver in enumerate(obj["spec"].get("drivers") or ()):
        at, name = f"spec.drivers[{index}]", driver.get("name", "")
        found += csi_driver_name(name, f"{at}.name")
        found += present(driver, at, "nodeID")
        if len(driver.get("nodeID", "")) > _LONGEST_NODE_ID:
            why = f"must be {_LONGEST_NODE_ID} characters or less"
            found.append(wrong(f"{at}.nodeID", driver["nodeID"], why))
        found += not_negative(driver.get("allocatable") or {}, f"{at}.allocatable", "count")
        if name in seen:
            found.append(duplicate(f"{at}.name", name))
        seen.add(name)
        found += _validate_keys(driver.get("topologyKeys") or (), at)
    return found


def fixed_drivers(new: Object, old: Stored) -> list[FieldError]:
    """Refuse other words about a driver that a node has, but for how many volumes it takes."""

    def kept(driver: Stored) -> Object:
        return {name: driver[name] for name in driver if name != "allocatable"}

    before = old["spec"].get("drivers") or ()
    return [
        wrong("spec.drivers", internal("storage/v1.CSINodeDriver", kept(driver)), IMMUTABLE)
        for known in before
        for driver in new["spec"].get("drivers") or ()
        if driver.get("name") == known.get("name") and kept(driver) != kept(known)
    ]


def _validate_keys(keys: Any, at: str) -> Iterator[FieldError]:
    for index, key in enumerate(keys):
        if not key:
            yield required(at)
        if key in keys[:index]:
            yield duplicate(at, key)
        yield from formed(key, at, names.qualified_name)


def validate_capacity(obj: Object) -> list[FieldError]:
    """Check a CSIStorageCapacity."""
    found = list(validate_selector(obj.get("nodeTopology"), "nodeTopology"))
    found += formed(obj.get("storageClassName", ""), "storageClassName", names.subdomain)
    if "capacity" in obj and quantity_text.value(obj["capacity"]) < 0:
        found.append(wrong("capacity", obj["capacity"], NOT_NEGATIVE))
    return found


def fixed_capacity(new: Object, old: Stored) -> list[FieldError]:
    """Refuse changes of what a capacity is about."""
    return [
        wrong(name, new.get(name), IMMUTABLE)
        for name in ("nodeTopology", "storageClassName")
        if new.get(name) != old.get(name)
    ]
