"""The columns that tables show of built-in kinds: the table, and the cells that only one kind has.

Source: what `kubectl get` shows of a Kubernetes 1.36 cluster.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType

from services.simulator.core.api.columns import NONE, Cell, Column, Object, age, age_of, at
from services.simulator.core.api.selectors import selector_text


def _joined(read: Callable[[Object], list[str]]) -> Cell:
    return lambda obj, _now: ",".join(read(obj)) or NONE


def _pod_ready(pod: Object, _now: datetime) -> str:
    statuses = pod.get("status", {}).get("containerStatuses", ())
    ready = sum(1 for status in statuses if status.get("ready"))
    return f"{ready}/{len(pod['spec'].get('containers', ()))}"


def _pod_status(pod: Object, _now: datetime) -> str:
    status = pod.get("status", {})
    shown = status.get("reason") or status.get("phase", "Unknown")
    for condition in status.get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            shown = "SchedulingGated"
    for container in reversed(status.get("containerStatuses", ())):
        state = container.get("state", {})
        waiting, terminated = state.get("waiting") or {}, state.get("terminated") or {}
        if reason := waiting.get("reason") or terminated.get("reason"):
            shown = reason
    if "deletionTimestamp" in pod["metadata"] and shown not in ("Succeeded", "Failed", "Completed"):
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    return str(shown)


def _pod_restarts(pod: Object, _now: datetime) -> str:
    statuses = pod.get("status", {}).get("containerStatuses", ())
    return str(sum(status.get("restartCount", 0) for status in statuses))


def _readiness_gates(pod: Object, _now: datetime) -> str:
    gates = pod["spec"].get("readinessGates") or ()
    if not gates:
        return NONE
    true = {
        entry["type"] for entry in pod["status"].get("conditions", ()) if entry["status"] == "True"
    }
    return f"{sum(1 for gate in gates if gate['conditionType'] in true)}/{len(gates)}"


def _node_status(node: Object, _now: datetime) -> str:
    conditions = {
        entry["type"]: entry["status"] for entry in node.get("status", {}).get("conditions", ())
    }
    ready = conditions.get("Ready")
    shown = "Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"
    return shown + (",SchedulingDisabled" if node["spec"].get("unschedulable") else "")


def _node_roles(node: Object) -> list[str]:
    prefix = "node-role.kubernetes.io/"
    labels = node["metadata"].get("labels", {})
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
        for address in node.get("status", {}).get("addresses", ()):
            if address["type"] == kind:
                return str(address["address"])
        return NONE

    return cell


def _ready_of(ready: str, wanted: str) -> Cell:
    first, second = at(ready, 0), at(wanted, 0)
    return lambda obj, now: f"{first(obj, now)}/{second(obj, now)}"


def _budget(field: str) -> Cell:
    read = at(f"spec.{field}", "N/A")
    return lambda budget, now: str(read(budget, now))


def _service_ports(service: Object) -> list[str]:
    ports = []
    for port in service["spec"].get("ports", ()):
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        ports.append(f"{port['port']}{node}/{port.get('protocol', 'TCP')}")
    return ports


def _access_modes(obj: Object) -> list[str]:
    short = {
        "ReadWriteOnce": "RWO",
        "ReadOnlyMany": "ROX",
        "ReadWriteMany": "RWX",
        "ReadWriteOncePod": "RWOP",
    }
    modes = obj.get("status", {}).get("accessModes") or obj["spec"].get("accessModes") or ()
    return [short.get(mode, mode) for mode in modes]


_JOB_STATES = (
    *("Complete", "Failed", "Terminating", "Suspended", "FailureTarget"),
    "SuccessCriteriaMet",
)
"""What a Job's status shows, the first that holds."""


def _job_status(job: Object, _now: datetime) -> str:
    conditions = job.get("status", {}).get("conditions", ())
    true = {one["type"] for one in conditions if one["status"] == "True"}
    if "deletionTimestamp" in job["metadata"]:
        true.add("Terminating")
    return next((state for state in _JOB_STATES if state in true), "Running")


def _job_completions(job: Object, _now: datetime) -> str:
    spec, succeeded = job["spec"], job.get("status", {}).get("succeeded", 0)
    if "completions" in spec:
        return f"{succeeded}/{spec['completions']}"
    parallelism = spec.get("parallelism", 0)
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_duration(job: Object, now: datetime) -> str:
    status = job.get("status", {})
    if "startTime" not in status:
        return ""
    ended = status.get("completionTime")
    return age(status["startTime"], datetime.fromisoformat(ended) if ended else now)


def _event_object(event: Object, _now: datetime) -> str:
    involved = event.get("involvedObject") or event.get("regarding") or {}
    return f"{involved.get('kind', '').lower()}/{involved.get('name', '')}"


def _containers(field: str) -> Cell:
    def cell(obj: Object, _now: datetime) -> str:
        containers = obj["spec"]["template"]["spec"].get("containers") or ()
        return ",".join(str(container.get(field, "")) for container in containers)

    return cell


def _selector(obj: Object, _now: datetime) -> str:
    return selector_text(obj["spec"].get("selector") or {}) or NONE


def _map(path: str) -> Cell:
    read = at(path, {})

    def cell(obj: Object, now: datetime) -> str:
        return ",".join(f"{key}={value}" for key, value in sorted(read(obj, now).items())) or NONE

    return cell


def _event_source(event: Object, _now: datetime) -> str:
    source = event.get("source") or {}
    named = source.get("component") or event.get("reportingComponent") or ""
    return ", ".join(part for part in (named, source.get("host")) if part)


def _expandable(obj: Object, _now: datetime) -> bool:
    return bool(obj.get("allowVolumeExpansion"))


def _count(field: str) -> Cell:
    return lambda obj, _now: len(obj.get(field) or ())


NAME = Column(name="Name", cell=at("metadata.name", ""), format="name")
AGE = Column(name="Age", cell=age_of())


def _column(name: str, cell: Cell, type_: str = "string", priority: int = 0) -> Column:
    return Column(name=name, cell=cell, type=type_, priority=priority)


_PODS_OF = (
    _column("Containers", _containers("name"), priority=1),
    _column("Images", _containers("image"), priority=1),
    _column("Selector", _selector, priority=1),
)

COLUMNS: Mapping[str, tuple[Column, ...]] = MappingProxyType(
    {
        "pods": (
            NAME,
            _column("Ready", _pod_ready),
            _column("Status", _pod_status),
            _column("Restarts", _pod_restarts),
            AGE,
            _column("IP", at("status.podIP"), priority=1),
            _column("Node", at("spec.nodeName"), priority=1),
            _column("Nominated Node", at("status.nominatedNodeName"), priority=1),
            _column("Readiness Gates", _readiness_gates, priority=1),
        ),
        "nodes": (
            NAME,
            _column("Status", _node_status),
            _column("Roles", _joined(_node_roles)),
            AGE,
            _column("Version", at("status.nodeInfo.kubeletVersion", "")),
            _column("Internal-IP", _node_address("InternalIP"), priority=1),
            _column("External-IP", _node_address("ExternalIP"), priority=1),
            _column("OS-Image", at("status.nodeInfo.osImage", "<unknown>"), priority=1),
            _column("Kernel-Version", at("status.nodeInfo.kernelVersion", "<unknown>"), priority=1),
            _column(
                "Container-Runtime",
                at("status.nodeInfo.containerRuntimeVersion", "<unknown>"),
                priority=1,
            ),
        ),
        "namespaces": (NAME, _column("Status", at("status.phase", "")), AGE),
        "configmaps": (NAME, _column("Data", _count("data"), "string"), AGE),
        "secrets": (
            NAME,
            _column("Type", at("type", "")),
            _column("Data", _count("data"), "string"),
            AGE,
        ),
        "services": (
            NAME,
            _column("Type", at("spec.type", "")),
            _column("Cluster-IP", at("spec.clusterIP")),
            _column("External-IP", lambda _obj, _now: NONE),
            _column("Port(s)", _joined(_service_ports)),
            AGE,
        ),
        "deployments.apps": (
            NAME,
            _column("Ready", _ready_of("status.readyReplicas", "spec.replicas")),
            _column("Up-to-date", at("status.updatedReplicas", 0)),
            _column("Available", at("status.availableReplicas", 0)),
            AGE,
            *_PODS_OF,
        ),
        "replicasets.apps": (
            NAME,
            _column("Desired", at("spec.replicas", 0), "integer"),
            _column("Current", at("status.replicas", 0), "integer"),
            _column("Ready", at("status.readyReplicas", 0), "integer"),
            AGE,
            *_PODS_OF,
        ),
        "statefulsets.apps": (
            NAME,
            _column("Ready", _ready_of("status.readyReplicas", "spec.replicas")),
            AGE,
            *_PODS_OF[:2],
        ),
        "daemonsets.apps": (
            NAME,
            _column("Desired", at("status.desiredNumberScheduled", 0), "integer"),
            _column("Current", at("status.currentNumberScheduled", 0), "integer"),
            _column("Ready", at("status.numberReady", 0), "integer"),
            _column("Up-to-date", at("status.updatedNumberScheduled", 0), "integer"),
            _column("Available", at("status.numberAvailable", 0), "integer"),
            _column("Node Selector", _map("spec.template.spec.nodeSelector")),
            AGE,
            *_PODS_OF,
        ),
        "jobs.batch": (
            NAME,
            _column("Status", _job_status),
            _column("Completions", _job_completions),
            _column("Duration", _job_duration),
            AGE,
            *_PODS_OF,
        ),
        "cronjobs.batch": (
            NAME,
            _column("Schedule", at("spec.schedule", "")),
            _column("Suspend", at("spec.suspend", False), "boolean"),
            AGE,
        ),
        "poddisruptionbudgets.policy": (
            NAME,
            _column("Min Available", _budget("minAvailable")),
            _column("Max Unavailable", _budget("maxUnavailable")),
            _column("Allowed Disruptions", at("status.disruptionsAllowed", 0), "integer"),
            AGE,
        ),
        "persistentvolumeclaims": (
            NAME,
            _column("Status", at("status.phase", "")),
            _column("Volume", at("spec.volumeName", "")),
            _column("Capacity", at("status.capacity.storage", "")),
            _column("Access Modes", _joined(_access_modes)),
            _column("StorageClass", at("spec.storageClassName", "")),
            _column("VolumeAttributesClass", at("spec.volumeAttributesClassName", "<unset>")),
            AGE,
            _column("VolumeMode", at("spec.volumeMode", "<unset>"), priority=1),
        ),
        "persistentvolumes": (
            NAME,
            _column("Capacity", at("spec.capacity.storage", "")),
            _column("Access Modes", _joined(_access_modes)),
            _column("Reclaim Policy", at("spec.persistentVolumeReclaimPolicy", "")),
            _column("Status", at("status.phase", "")),
            _column("StorageClass", at("spec.storageClassName", "")),
            AGE,
        ),
        "storageclasses.storage.k8s.io": (
            NAME,
            _column("Provisioner", at("provisioner", "")),
            _column("ReclaimPolicy", at("reclaimPolicy", "")),
            _column("VolumeBindingMode", at("volumeBindingMode", "")),
            _column("AllowVolumeExpansion", _expandable),
            AGE,
        ),
        "leases.coordination.k8s.io": (NAME, _column("Holder", at("spec.holderIdentity", "")), AGE),
        "priorityclasses.scheduling.k8s.io": (
            NAME,
            _column("Value", at("value", 0), "integer"),
            _column("Global-Default", at("globalDefault", False), "boolean"),
            AGE,
            _column("PreemptionPolicy", at("preemptionPolicy", "")),
        ),
        "events": (
            _column("Last Seen", age_of("lastTimestamp")),
            _column("Type", at("type", "")),
            _column("Reason", at("reason", "")),
            _column("Object", _event_object),
            _column("Subobject", at("involvedObject.fieldPath", ""), priority=1),
            _column("Source", _event_source, priority=1),
            _column("Message", at("message", "")),
            _column("First Seen", age_of("firstTimestamp"), priority=1),
            _column("Count", at("count", 1), "integer", priority=1),
            Column(name="Name", cell=at("metadata.name", ""), format="name", priority=1),
        ),
        "customresourcedefinitions.apiextensions.k8s.io": (
            NAME,
            Column(name="Created At", cell=at("metadata.creationTimestamp", ""), type="date"),
        ),
    }
)
"""Columns per resource; every other kind shows name and age."""

PLAIN = (NAME, Column(name="Age", cell=age_of(), type="string"))
