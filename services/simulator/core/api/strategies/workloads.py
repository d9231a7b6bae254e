"""Workloads: Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob and their kin."""

from libs.apiserver import names
from libs.apiserver.field_errors import FieldError
from libs.apiserver.rules import batch, budgets, job_statuses, pod_warnings, podspec, statuses
from libs.apiserver.rules import workloads as rules
from services.simulator.core.api.strategies.strategy import BOTH, Object, Stored, Strategy, Warnings

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def default_deployment(obj: Object) -> None:
    """Fill in the defaults of a Deployment."""
    spec = obj["spec"]
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    strategy = spec["strategy"]
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    podspec.default_template(spec["template"])


def default_replicas(obj: Object) -> None:
    """Fill in the defaults of a ReplicaSet."""
    obj["spec"].setdefault("replicas", 1)
    if obj["spec"].get("template"):
        podspec.default_template(obj["spec"]["template"])


def default_replication_controller(obj: Object) -> None:
    """Fill in the defaults of a ReplicationController: it selects what its template labels."""
    default_replicas(obj)
    labels = (obj["spec"].get("template") or {}).get("metadata", {}).get("labels")
    if labels:
        obj["spec"].setdefault("selector", dict(labels))
        obj["metadata"].setdefault("labels", dict(labels))


def default_pod_template(obj: Object) -> None:
    """Fill in the defaults of a PodTemplate."""
    podspec.default_template(obj["template"])


def count_template(new: Object, old: Stored) -> None:
    """Count changes of the template."""
    if new["template"] != old["template"]:
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def default_stateful_set(obj: Object) -> None:
    """Fill in the defaults of a StatefulSet."""
    spec = obj["spec"]
    spec.setdefault("replicas", 1)
    spec.setdefault("podManagementPolicy", "OrderedReady")
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = spec["updateStrategy"]
    if "type" not in strategy:
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if "rollingUpdate" in strategy:
        # Of no effect, as the feature it belongs to is not on.
        strategy["rollingUpdate"].pop("maxUnavailable", None)
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    for claim in spec.get("volumeClaimTemplates", ()):
        claim.setdefault("kind", "PersistentVolumeClaim")
        claim.setdefault("apiVersion", "v1")
        claim["spec"].setdefault("volumeMode", "Filesystem")
        claim["status"].setdefault("phase", "Pending")
    podspec.default_template(spec["template"])


def default_daemon_set(obj: Object) -> None:
    """Fill in the defaults of a DaemonSet."""
    spec = obj["spec"]
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = spec["updateStrategy"]
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    podspec.default_template(spec["template"])


def default_job(obj: Object) -> None:
    """Fill in the defaults of a Job."""
    _default_job_spec(obj["spec"])


def default_cron_job(obj: Object) -> None:
    """Fill in the defaults of a CronJob."""
    spec = obj["spec"]
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    job = spec["jobTemplate"]["spec"]
    default_conditions(job)
    podspec.default_template(job["template"])


def default_conditions(spec: Object) -> None:
    """Let patterns of pod conditions look for true ones."""
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            if not pattern.get("status"):
                pattern["status"] = "True"


def _default_job_spec(spec: Object) -> None:
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = spec["parallelism"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 2147483647 if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault(
        "podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed"
    )
    spec.setdefault("manualSelector", False)
    default_conditions(spec)
    podspec.default_template(spec["template"])


def _start_at_one(obj: Object, _now: str) -> None:
    obj["metadata"]["generation"] = 1


def _count_changes(new: Object, old: Stored) -> None:
    if new["spec"] != old["spec"]:
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _count_with_annotations(new: Object, old: Stored) -> None:
    """Count changes of the spec, and those of annotations, which a Deployment hands on."""
    before = old["metadata"].get("annotations") or {}
    if new["spec"] != old["spec"] or (new["metadata"].get("annotations") or {}) != before:
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def prepare_daemon_set(obj: Object, _now: str) -> None:
    """Note the generation of the template, as the old API did and the server still does."""
    obj["metadata"]["generation"] = 1
    obj["metadata"].setdefault("annotations", {})[TEMPLATE_GENERATION] = "1"


def update_daemon_set(new: Object, old: Stored) -> None:
    """Count changes of the spec and, in an annotation, of the template."""
    _count_changes(new, old)
    generation = int(old["metadata"].get("annotations", {}).get(TEMPLATE_GENERATION, "0"))
    if new["spec"]["template"] != old["spec"]["template"]:
        generation += 1
    new["metadata"]["annotations"] = {
        **new["metadata"].get("annotations", {}),
        TEMPLATE_GENERATION: str(generation),
    }


def changed_daemon_set(new: Object, old: Stored) -> list[FieldError]:
    """Refuse another selector before whatever else is wrong with a DaemonSet."""
    return [*rules.fixed_selector(new, old), *rules.validate_daemon_set(new)]


def prepare_job(obj: Object, _now: str) -> None:
    """Give a Job the selector and labels of its pods, unless it brings its own."""
    obj["metadata"]["generation"] = 1
    spec = obj["spec"]
    template = spec["template"]["metadata"]
    if not spec["manualSelector"]:
        uid, name = obj["metadata"]["uid"], obj["metadata"].get("name", "")
        own = {"batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name}
        labels = {**own, "controller-uid": uid, "job-name": name, **template.get("labels", {})}
        template["labels"] = dict(sorted(labels.items()))
        selector = spec.get("selector") or {}
        wanted = {"batch.kubernetes.io/controller-uid": uid, **(selector.get("matchLabels") or {})}
        spec["selector"] = {**selector, "matchLabels": dict(sorted(wanted.items()))}
    inherit_labels(obj)


def inherit_labels(obj: Object) -> None:
    """Let an object without labels take those of its template."""
    labels = obj["spec"]["template"]["metadata"].get("labels")
    if labels and not obj["metadata"].get("labels"):
        obj["metadata"]["labels"] = dict(labels)


def template_warnings(*path: str, names_hosts: bool = False) -> Warnings:
    """Return what warns of a pod template, where it is new or was changed.

    Args:
        path: where it is.
        names_hosts: whether hosts are named after the object.
    """

    def find(new: Object, old: Stored | None) -> list[str]:
        if old is not None and new["metadata"].get("generation") == old["metadata"].get(
            "generation"
        ):
            return []
        holder: Stored = new
        for name in path:
            holder = holder.get(name) or {}
        found = list(pod_warnings.warnings(holder.get("spec") or {}, ".".join((*path, "spec"))))
        if names_hosts and old is None:
            found += pod_warnings.of_name(new["metadata"], "Pod names and hostnames")
        return found

    return find


_OF_TEMPLATE = template_warnings("spec", "template")
_OF_TEMPLATE_AND_NAME = template_warnings("spec", "template", names_hosts=True)

DEPLOYMENT = Strategy(
    default=default_deployment,
    prepare_create=_start_at_one,
    prepare_update=_count_with_annotations,
    status_keeps_labels=True,
    validate=rules.validate_deployment,
    validate_update=rules.fixed_selector,
    validate_status=statuses.validate_deployment,
    warnings=_OF_TEMPLATE_AND_NAME,
)
REPLICA_SET = Strategy(
    default=default_replicas,
    prepare_create=_start_at_one,
    prepare_update=_count_changes,
    validate=rules.validate_replica_set,
    validate_update=rules.fixed_selector,
    validate_status=statuses.validate_replicas,
    warnings=_OF_TEMPLATE_AND_NAME,
)
REPLICATION_CONTROLLER = Strategy(
    default=default_replication_controller,
    prepare_create=_start_at_one,
    prepare_update=_count_changes,
    validate=rules.validate_replication_controller,
    validate_status=statuses.validate_replicas,
    warnings=_OF_TEMPLATE_AND_NAME,
)
POD_TEMPLATE = Strategy(
    default=default_pod_template,
    prepare_create=_start_at_one,
    prepare_update=count_template,
    validate=rules.validate_pod_template,
    warnings=template_warnings("template"),
)
STATEFUL_SET = Strategy(
    default=default_stateful_set,
    prepare_create=_start_at_one,
    prepare_update=_count_changes,
    validate=rules.validate_stateful_set,
    validate_update=rules.fixed_set,
    validate_status=statuses.validate_stateful_set,
    warnings=_OF_TEMPLATE,
    check_name=names.label,
)
DAEMON_SET = Strategy(
    default=default_daemon_set,
    prepare_create=prepare_daemon_set,
    prepare_update=update_daemon_set,
    validate_new=rules.validate_daemon_set,
    validate_update=changed_daemon_set,
    validate_status=statuses.validate_daemon_set,
    warnings=_OF_TEMPLATE,
)
JOB = Strategy(
    metadata=BOTH,
    default=default_job,
    prepare_create=prepare_job,
    prepare_update=_count_changes,
    validate=batch.validate_job,
    validate_update=batch.validate_job_update,
    validate_status=job_statuses.validate,
    warnings=_OF_TEMPLATE_AND_NAME,
)
CRON_JOB = Strategy(
    status_metadata=(),
    default=default_cron_job,
    prepare_create=_start_at_one,
    prepare_update=_count_changes,
    validate=batch.validate_cron_job,
    validate_new=batch.validate_new_cron_job,
    warnings=template_warnings("spec", "jobTemplate", "spec", "template", names_hosts=True),
)
BUDGET = Strategy(
    metadata=(),
    status_metadata=(),
    prepare_create=_start_at_one,
    prepare_update=_count_changes,
    validate=budgets.validate,
    validate_status=statuses.validate_budget,
    plain_metadata=True,
    check_name=names.path_segment,
)
