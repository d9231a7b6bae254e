"""Nodes, namespaces and the small kinds: what each defaults, sets and refuses."""

import base64
import zlib

from libs.apiserver import names
from libs.apiserver.field_errors import (
    FieldError,
    not_allowed,
    required,
    wrong,
)
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.rules import nodes, podspec, priorities
from services.simulator.core.api.strategies.generations import count_changes, start_at_one
from services.simulator.core.api.strategies.strategy import Object, Stored, Strategy

_SET = "field is immutable when `immutable` is set"
NAME_LABEL = "kubernetes.io/metadata.name"


def default_node(node: Object) -> None:
    """Keep podCIDR and podCIDRs in step; allocatable is capacity where nothing is said."""
    spec, status = node["spec"], node["status"]
    if "podCIDR" in spec:
        spec.setdefault("podCIDRs", [spec["podCIDR"]])
    elif spec.get("podCIDRs"):
        spec["podCIDR"] = spec["podCIDRs"][0]
    for side in ("capacity", "allocatable"):
        if side in status:
            podspec.round_up(status[side])
    if status.get("capacity") and not status.get("allocatable"):
        status["allocatable"] = dict(status["capacity"])


def default_namespace(namespace: Object) -> None:
    """Label a namespace with its name."""
    if name := namespace["metadata"].get("name"):
        namespace["metadata"].setdefault("labels", {})[NAME_LABEL] = name


def prepare_namespace(namespace: Object, _now: str) -> None:
    """Start active, held by the finalizer of the namespace controller."""
    namespace["status"] = {"phase": "Active"}
    finalizers = namespace["spec"].setdefault("finalizers", [])
    if "kubernetes" not in finalizers:
        finalizers.append("kubernetes")


def keep_namespace(new: Object, old: Stored) -> None:
    """Keep finalizers and status; only their subresources change them."""
    new["spec"] = old["spec"]
    new["status"] = old["status"]


def default_secret(secret: Object) -> None:
    """Fold stringData into data."""
    secret.setdefault("type", "Opaque")
    for key, text in secret.pop("stringData", {}).items():
        secret.setdefault("data", {})[key] = base64.b64encode(text.encode()).decode()


def validate_data(obj: Object) -> list[FieldError]:
    """Check the keys of a ConfigMap or Secret."""
    return [
        wrong(f"{part}[{key}]", key, why)
        for part in ("data", "binaryData")
        for key in obj.get(part) or ()
        for why in names.config_key(key)
    ]


def default_service(service: Object) -> None:
    """Fill in the defaults of a Service."""
    spec = service["spec"]
    spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    for port in spec.get("ports", ()):
        port.setdefault("protocol", "TCP")
        port.setdefault("targetPort", port.get("port", 0))
    if spec["type"] != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] in ("NodePort", "LoadBalancer"):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)


def default_limit_range(obj: Object) -> None:
    """Let containers' defaults follow from their bounds where none are given."""
    for entry in obj["spec"].get("limits") or ():
        if entry.get("type") != "Container":
            continue
        default = {**entry.get("max", {}), **entry.get("default", {})}
        request = {**entry.get("min", {}), **default, **entry.get("defaultRequest", {})}
        if default:
            entry["default"] = default
        if request:
            entry["defaultRequest"] = request


def assign_address(service: Object, _now: str) -> None:
    """Give a Service a virtual address, made from its uid: nothing answers there."""
    spec = service["spec"]
    if spec["type"] == "ExternalName":
        return
    digest = zlib.crc32(service["metadata"]["uid"].encode())
    spec.setdefault("clusterIP", f"10.96.{digest >> 8 & 255}.{digest & 255}")
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")


def default_priority_class(obj: Object) -> None:
    """Fill in the preemption policy."""
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def fixed_priority(new: Object, old: Stored) -> list[FieldError]:
    """Refuse a changed value or preemption policy."""
    found = []
    if new.get("value", 0) != old.get("value", 0):
        found.append(not_allowed("value", "may not be changed in an update."))
    if new.get("preemptionPolicy") != old.get("preemptionPolicy"):
        found.append(wrong("preemptionPolicy", new.get("preemptionPolicy"), IMMUTABLE))
    return found


def fixed_data(new: Object, old: Stored) -> list[FieldError]:
    """Refuse changes of a ConfigMap or Secret that calls itself immutable."""
    if not old.get("immutable"):
        return []
    found = []
    if not new.get("immutable"):
        found.append(not_allowed("immutable", _SET))
    found += [
        not_allowed(name, _SET) for name in ("data", "binaryData") if new.get(name) != old.get(name)
    ]
    return found


def fixed_type(new: Object, old: Stored) -> list[FieldError]:
    """Refuse a changed type of a Secret, and whatever its immutability forbids."""
    found = fixed_data(new, old)
    if new.get("type") != old.get("type"):
        found.append(wrong("type", new.get("type"), IMMUTABLE))
    return found


def validate_lease(lease: Object) -> list[FieldError]:
    """Check the numbers of a Lease."""
    spec, found = lease["spec"], []
    if spec.get("leaseDurationSeconds", 1) <= 0:
        why = "must be greater than 0"
        found.append(wrong("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], why))
    if spec.get("leaseTransitions", 0) < 0:
        why = "must be greater than or equal to 0"
        found.append(wrong("spec.leaseTransitions", spec["leaseTransitions"], why))
    return found


def default_role_binding(obj: Object) -> None:
    """Fill in the API group of the role and the subjects."""
    obj["roleRef"].setdefault("apiGroup", "rbac.authorization.k8s.io")
    for subject in obj.get("subjects", ()):
        if subject.get("kind") in ("User", "Group"):
            subject.setdefault("apiGroup", "rbac.authorization.k8s.io")


def validate_event(obj: Object) -> list[FieldError]:
    """Check an event of the new API, which must say when it happened."""
    return [] if obj.get("eventTime") else [required("eventTime")]


NAMESPACE = Strategy(
    default=default_namespace,
    prepare_create=prepare_namespace,
    prepare_update=keep_namespace,
    check_name=names.label,
)
NODE = Strategy(
    default=default_node,
    keeps_status=True,
    validate=nodes.validate,
    validate_update=nodes.validate_update,
    validate_status=nodes.validate_status,
)
CONFIG_MAP = Strategy(validate=validate_data, validate_update=fixed_data)
LEASE = Strategy(validate=validate_lease)
SECRET = Strategy(default=default_secret, validate=validate_data, validate_update=fixed_type)
SERVICE = Strategy(
    default=default_service, prepare_create=assign_address, check_name=names.label_1035
)
LIMIT_RANGE = Strategy(default=default_limit_range)
PRIORITY_CLASS = Strategy(
    default=default_priority_class,
    prepare_create=start_at_one,
    prepare_update=count_changes,
    validate=priorities.validate,
    validate_update=fixed_priority,
)
COUNTED = Strategy(prepare_create=start_at_one, prepare_update=count_changes)
ROLE = Strategy(check_name=names.path_segment)
ROLE_BINDING = Strategy(default=default_role_binding, check_name=names.path_segment)
NEW_EVENT = Strategy(validate=validate_event)
