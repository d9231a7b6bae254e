"""The columns of nodes, and of what rules a cluster.

Source: what `kubectl get` shows of a Kubernetes 1.36 cluster.
"""

from datetime import datetime

from services.simulator.core.api.columns.column import (
    AGE,
    NAME,
    NONE,
    Cell,
    Column,
    Object,
    age,
    at,
    column,
    joined,
)

_UNKNOWN = "<unknown>"


def _node_status(node: Object, _now: datetime) -> str:
    conditions = {
        one["type"]: one["status"] for one in node.get("status", {}).get("conditions") or ()
    }
    ready = conditions.get("Ready")
    shown = "Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"
    return shown + (",SchedulingDisabled" if node["spec"].get("unschedulable") else "")


def _node_roles(node: Object) -> list[str]:
    prefix = "node-role.kubernetes.io/"
    labels = node["metadata"].get("labels") or {}
    roles = {
        label.removeprefix(prefix)
        for label in labels
        if label.startswith(prefix) and label != prefix
    }
    if old := labels.get("kubernetes.io/role"):
        roles.add(old)
    return sorted(roles)


def _node_address(kind: str) -> Cell:
    def cell(node: Object, _now: datetime) -> str:
        for address in node.get("status", {}).get("addresses") or ():
            if address["type"] == kind:
                return str(address["address"])
        return NONE

    return cell


def _kernel(node: Object, _now: datetime) -> str:
    info = node.get("status", {}).get("nodeInfo") or {}
    arch = info.get("architecture")
    return (info.get("kernelVersion") or _UNKNOWN) + (f" ({arch})" if arch else "")


def _data(obj: Object, _now: datetime) -> int:
    return len(obj.get("data") or ()) + len(obj.get("binaryData") or ())


def _quota(*, limits: bool) -> Cell:
    def cell(quota: Object, _now: datetime) -> str:
        status = quota.get("status") or {}
        hard, used = status.get("hard") or {}, status.get("used") or {}
        return ", ".join(
            f"{name}: {used.get(name, '0')}/{hard[name]}"
            for name in sorted(hard)
            if name.startswith("limits.") == limits
        )

    return cell


def _role(binding: Object, _now: datetime) -> str:
    role = binding.get("roleRef") or {}
    return f"{role.get('kind', '')}/{role.get('name', '')}"


def _subjects(kind: str) -> Cell:
    def cell(binding: Object, _now: datetime) -> str:
        return ", ".join(
            f"{one.get('namespace', '')}/{one['name']}" if kind == "ServiceAccount" else one["name"]
            for one in binding.get("subjects") or ()
            if one.get("kind") == kind
        )

    return cell


def _event_times(event: Object) -> tuple[str | None, str | None]:
    first = event.get("firstTimestamp") or event.get("eventTime")
    series = event.get("series")
    return first, series["lastObservedTime"] if series else event.get("lastTimestamp") or first


def _event_count(event: Object, _now: datetime) -> int:
    series = event.get("series")
    return int(series["count"] if series else event.get("count") or 1)


def _event_object(event: Object, _now: datetime) -> str:
    involved = event.get("involvedObject") or event.get("regarding") or {}
    kind, name = involved.get("kind", "").lower(), involved.get("name")
    return f"{kind}/{name}" if name else kind


def _event_source(event: Object, _now: datetime) -> str:
    source = event.get("source") or event.get("deprecatedSource") or {}
    reporting = event.get("reportingComponent") or event.get("reportingController") or ""
    named = source.get("component") or reporting
    where = source.get("host") or event.get("reportingInstance")
    return ", ".join((named, where)) if where else named


def _event_message(event: Object, _now: datetime) -> str:
    return str(event.get("message") or event.get("note") or "").strip()


NODES = (
    NAME,
    column("Status", _node_status),
    column("Roles", joined(_node_roles)),
    AGE,
    column("Version", at("status.nodeInfo.kubeletVersion", "")),
    column("Internal-IP", _node_address("InternalIP"), priority=1),
    column("External-IP", _node_address("ExternalIP"), priority=1),
    column("OS-Image", at("status.nodeInfo.osImage", _UNKNOWN), priority=1),
    column("Kernel-Version", _kernel, priority=1),
    column(
        "Container-Runtime", at("status.nodeInfo.containerRuntimeVersion", _UNKNOWN), priority=1
    ),
)
NAMESPACES = (NAME, column("Status", at("status.phase", "")), AGE)
CONFIG_MAPS = (NAME, column("Data", _data), AGE)
SECRETS = (NAME, column("Type", at("type", "")), column("Data", _data), AGE)
LEASES = (NAME, column("Holder", at("spec.holderIdentity", "")), AGE)
PRIORITY_CLASSES = (
    NAME,
    column("Value", at("value", 0), "integer"),
    column("Global-Default", at("globalDefault", False), "boolean"),
    AGE,
    column("PreemptionPolicy", at("preemptionPolicy", "")),
)
RUNTIME_CLASSES = (NAME, column("Handler", at("handler", "")), AGE)
QUOTAS = (
    NAME,
    column("Request", _quota(limits=False)),
    column("Limit", _quota(limits=True)),
    AGE,
)
BINDINGS = (
    NAME,
    column("Role", _role),
    AGE,
    column("Users", _subjects("User"), priority=1),
    column("Groups", _subjects("Group"), priority=1),
    column("ServiceAccounts", _subjects("ServiceAccount"), priority=1),
)
EVENTS = (
    column("Last Seen", lambda event, now: age(_event_times(event)[1], now)),
    column("Type", at("type", "")),
    column("Reason", at("reason", "")),
    column("Object", _event_object),
    column("Subobject", at("involvedObject.fieldPath", ""), priority=1),
    column("Source", _event_source, priority=1),
    column("Message", _event_message),
    column("First Seen", lambda event, now: age(_event_times(event)[0], now), priority=1),
    column("Count", _event_count, priority=1),
    Column(name="Name", cell=at("metadata.name", ""), format="name", priority=1),
)
