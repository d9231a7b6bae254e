"""Namespaces, nodes, configuration, bounds, leases, events: their defaults and rules."""

import base64

from libs.apiserver import names
from libs.apiserver.field_errors import FieldError, not_allowed, wrong
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.rules import configuration, events, leases, namespaces, nodes, podspec, quotas
from services.simulator.core.api.strategies.strategy import BOTH, WHOLE, Object, Stored, Strategy

_SET = "field is immutable when `immutable` is set"
NAME_LABEL = "kubernetes.io/metadata.name"


def default_node(node: Object) -> None:
    """Keep podCIDR and podCIDRs in step; allocatable is capacity where nothing is said."""
    spec, status = node["spec"], node["status"]
    if spec.get("podCIDR"):
        if (spec.get("podCIDRs") or [""])[0] != spec["podCIDR"]:
            spec["podCIDRs"] = [spec["podCIDR"]]
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


def default_limit_range(obj: Object) -> None:
    """Let containers' defaults follow from their bounds where none are given."""
    obj["spec"]["limits"] = obj["spec"].get("limits") or None
    for entry in obj["spec"]["limits"] or ():
        if entry.get("type") != "Container":
            continue
        default = {**entry.get("max", {}), **entry.get("default", {})}
        request = {**entry.get("min", {}), **default, **entry.get("defaultRequest", {})}
        if default:
            entry["default"] = default
        if request:
            entry["defaultRequest"] = request


def name_after_uid(obj: Object, _now: str) -> None:
    """Name an object without a name by its uid."""
    if not obj["metadata"].get("name"):
        obj["metadata"]["name"] = obj["metadata"]["uid"]


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


NAMESPACE = Strategy(
    metadata=BOTH,
    default=default_namespace,
    prepare_create=prepare_namespace,
    prepare_update=keep_namespace,
    validate=namespaces.validate,
    validate_status=namespaces.validate_status,
    check_name=names.label,
)
NODE = Strategy(
    metadata=BOTH,
    default=default_node,
    keeps_status=True,
    validate=nodes.validate,
    validate_update=nodes.validate_update,
    validate_status=nodes.validate_status,
)
CONFIG_MAP = Strategy(
    metadata=BOTH, validate=configuration.validate_config_map, validate_update=fixed_data
)
SERVICE_ACCOUNT = Strategy(metadata=BOTH)
SECRET = Strategy(
    metadata=BOTH,
    default=default_secret,
    validate=configuration.validate_secret,
    validate_update=fixed_type,
    warnings=configuration.secret_warnings,
)
REVISION = Strategy(
    metadata=BOTH,
    validate=configuration.validate_revision,
    validate_update=configuration.fixed_revision,
)
LEASE = Strategy(validate=leases.validate, plain_metadata=True)
LIMIT_RANGE = Strategy(
    metadata=WHOLE,
    default=default_limit_range,
    prepare_create=name_after_uid,
    validate=quotas.validate_limits,
)
QUOTA = Strategy(
    validate=quotas.validate_quota,
    validate_update=quotas.fixed_scopes,
    validate_status=quotas.validate_quota_status,
)
EVENT = Strategy(
    metadata=(),
    validate=events.validate_old,
    check_name=names.path_segment,
    plain_metadata=True,
)
NEW_EVENT = Strategy(
    validate=events.validate_new,
    validate_new=events.validate_created,
    validate_update=events.fixed,
)
