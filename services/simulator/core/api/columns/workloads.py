"""The columns of what makes pods.

Source: what `kubectl get` shows of a Kubernetes 1.36 cluster.
"""

from datetime import datetime
from functools import reduce

from services.simulator.core.api.columns.column import (
    AGE,
    NAME,
    NONE,
    Cell,
    Column,
    Object,
    age,
    age_of,
    at,
    column,
    count_of,
    label_map,
    label_selector,
)
from services.simulator.core.api.selectors import selector_text

_JOB_STATES = (
    *("Complete", "Failed", "Terminating", "Suspended", "FailureTarget"),
    "SuccessCriteriaMet",
)
"""What a Job's status shows, the first that holds."""
_MOST_METRICS = 2


def _containers(template: str, field: str) -> Cell:
    steps = f"{template}.spec".split(".") if template else ["spec"]

    def cell(obj: Object, _now: datetime) -> str:
        spec: Object = reduce(lambda value, step: value.get(step) or {}, steps, obj)
        return ",".join(str(one.get(field, "")) for one in spec.get("containers") or ())

    return cell


def _pods_of(template: str = "spec.template", priority: int = 1) -> tuple[Column, ...]:
    return (
        column("Containers", _containers(template, "name"), priority=priority),
        column("Images", _containers(template, "image"), priority=priority),
    )


def _plain_selector(obj: Object, _now: datetime) -> str:
    return selector_text(obj["spec"].get("selector") or {})


def _ready_of(ready: str, wanted: str) -> Cell:
    first, second = at(ready, 0), at(wanted, 0)
    return lambda obj, now: f"{first(obj, now)}/{second(obj, now)}"


def _job_status(job: Object, _now: datetime) -> str:
    conditions = job.get("status", {}).get("conditions") or ()
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


def _last_schedule(job: Object, now: datetime) -> str:
    last = job.get("status", {}).get("lastScheduleTime")
    return age(last, now) if last else NONE


def _revised(obj: Object, _now: datetime) -> str:
    owners = obj["metadata"].get("ownerReferences") or ()
    for owner in owners:
        if owner.get("controller"):
            group, slash, _ = owner["apiVersion"].partition("/")
            kind = f"{owner['kind']}.{group}" if slash else owner["kind"]
            return f"{kind.lower()}/{owner['name']}"
    return NONE


def _budget(field: str) -> Cell:
    read = at(f"spec.{field}", "N/A")
    return lambda budget, now: str(read(budget, now))


def _scaled(obj: Object, _now: datetime) -> str:
    target = obj["spec"].get("scaleTargetRef") or {}
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def _metrics(obj: Object, _now: datetime) -> str:
    current = obj.get("status", {}).get("currentMetrics") or ()
    specs = obj["spec"].get("metrics") or ()
    shown = [_metric(one, current[at] if at < len(current) else {}) for at, one in enumerate(specs)]
    if not shown:
        return NONE
    listed = ", ".join(shown[:_MOST_METRICS])
    more = len(shown) - _MOST_METRICS
    return f"{listed} + {more} more..." if more > 0 else listed


def _metric(spec: Object, status: Object) -> str:
    field = spec["type"][:1].lower() + spec["type"][1:]
    own, now = spec.get(field) or {}, (status.get(field) or {}).get("current") or {}
    target = own.get("target") or {}
    if field in ("resource", "containerResource"):
        return f"{own.get('name', '')}: {_share(target, now)}"
    if field == "pods":
        return f"{now.get('averageValue', '<unknown>')}/{target.get('averageValue', '')}"
    if "averageValue" in target:
        return f"{now.get('averageValue', '<unknown>')}/{target['averageValue']} (avg)"
    return f"{now.get('value', '<unknown>')}/{target.get('value', '')}"


def _share(target: Object, now: Object) -> str:
    if "averageValue" in target:
        return f"{now.get('averageValue', '<unknown>')}/{target['averageValue']}"
    wanted, found = target.get("averageUtilization"), now.get("averageUtilization")
    shown = "<unknown>" if found is None else f"{found}%"
    return f"{shown}/<auto>" if wanted is None else f"{shown}/{wanted}%"


def _least(obj: Object, _now: datetime) -> str:
    return str(obj["spec"].get("minReplicas", "<unset>"))


_SELECTOR = column("Selector", label_selector("spec.selector"), priority=1)

DEPLOYMENTS = (
    NAME,
    column("Ready", _ready_of("status.readyReplicas", "spec.replicas")),
    column("Up-to-date", at("status.updatedReplicas", 0)),
    column("Available", at("status.availableReplicas", 0)),
    AGE,
    *_pods_of(),
    column("Selector", _plain_selector, priority=1),
)
REPLICA_SETS = (
    NAME,
    column("Desired", at("spec.replicas", 0), "integer"),
    column("Current", at("status.replicas", 0), "integer"),
    column("Ready", at("status.readyReplicas", 0), "integer"),
    AGE,
    *_pods_of(),
    _SELECTOR,
)
REPLICATION_CONTROLLERS = (
    *REPLICA_SETS[:-1],
    column("Selector", label_map("spec.selector"), priority=1),
)
STATEFUL_SETS = (
    NAME,
    column("Ready", _ready_of("status.readyReplicas", "spec.replicas")),
    AGE,
    *_pods_of(),
)
DAEMON_SETS = (
    NAME,
    column("Desired", at("status.desiredNumberScheduled", 0), "integer"),
    column("Current", at("status.currentNumberScheduled", 0), "integer"),
    column("Ready", at("status.numberReady", 0), "integer"),
    column("Up-to-date", at("status.updatedNumberScheduled", 0), "integer"),
    column("Available", at("status.numberAvailable", 0), "integer"),
    column("Node Selector", label_map("spec.template.spec.nodeSelector")),
    AGE,
    *_pods_of(),
    _SELECTOR,
)
JOBS = (
    NAME,
    column("Status", _job_status),
    column("Completions", _job_completions),
    column("Duration", _job_duration),
    AGE,
    *_pods_of(),
    _SELECTOR,
)
CRON_JOBS = (
    NAME,
    column("Schedule", at("spec.schedule", "")),
    column("Timezone", at("spec.timeZone")),
    column("Suspend", lambda job, _now: str(job["spec"].get("suspend", "<unset>")), "boolean"),
    column("Active", count_of("status.active"), "integer"),
    column("Last Schedule", _last_schedule),
    AGE,
    *_pods_of("spec.jobTemplate.spec.template"),
    column("Selector", label_selector("spec.jobTemplate.spec.selector"), priority=1),
)
CONTROLLER_REVISIONS = (
    NAME,
    column("Controller", _revised),
    column("Revision", at("revision", 0)),
    AGE,
)
POD_TEMPLATES = (
    NAME,
    *_pods_of("template", priority=0),
    column("Pod Labels", label_map("template.metadata.labels")),
)
BUDGETS = (
    NAME,
    column("Min Available", _budget("minAvailable")),
    column("Max Unavailable", _budget("maxUnavailable")),
    column("Allowed Disruptions", at("status.disruptionsAllowed", 0), "integer"),
    AGE,
)
AUTOSCALERS = (
    NAME,
    column("Reference", _scaled),
    column("Targets", _metrics),
    column("MinPods", _least),
    column("MaxPods", at("spec.maxReplicas", 0)),
    column("Replicas", at("status.currentReplicas", 0)),
    AGE,
)
SCALES = (
    Column(name="Name", cell=at("metadata.name", "")),
    column("Desired", at("spec.replicas", 0), "integer"),
    column("Available", at("status.replicas", 0), "integer"),
    Column(name="Age", cell=age_of()),
)
