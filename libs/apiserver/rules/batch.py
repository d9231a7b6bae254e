"""Validation of Jobs and CronJobs, and what may not change in them.

Source: Kubernetes API reference, JobSpec, CronJobSpec; order and wordings as recorded from
kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import (
    Stored,
    domain_prefixed_path,
    needed_one_of,
    not_negative,
)
from libs.apiserver.field_errors import (
    FieldError,
    not_supported,
    required,
    too_long,
    wrong,
)
from libs.apiserver.labels import selects_labels
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.rules import pods, schedules
from libs.apiserver.rules.job_policies import validate_failure_policy, validate_success_policy
from libs.apiserver.rules.selectors import validate_selector
from libs.apiserver.rules.workloads import is_usable
from libs.apiserver.types.internal import internal

Object = dict[str, Any]
_COUNTS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_MOST_PARALLEL, _MOST_FAILED, _MANY, _MOST_OF_MANY = 100_000, 100_000, 100_000, 10_000
_LONGEST_MANAGER, _LONGEST_CRON_JOB = 63, 52
_INDEXED = "requires indexed completion mode"
_MISMATCH = "`selector` does not match template `labels`"
_TEMPLATE, _SUCCESS = "core/v1.PodTemplateSpec", "batch/v1.SuccessPolicy"
_FIXED = (
    ("completionMode", "*string"),
    ("podFailurePolicy", "*batch/v1.PodFailurePolicy"),
    ("backoffLimitPerIndex", "*int32"),
    ("managedBy", "*string"),
    ("successPolicy", f"*{_SUCCESS}"),
)


def validate_job(obj: Object) -> list[FieldError]:
    """Return what is wrong with a Job."""
    spec, meta = obj["spec"], obj["metadata"]
    found = [*_validate_generated(spec, meta), *_validate_selected(spec)]
    if spec.get("completionMode") == "Indexed" and spec.get("completions", 0) > 0:
        name = meta.get("name", "")
        host = f"{name}-{spec['completions'] - 1}"
        if names.label(host):
            why = f"will not able to create pod with invalid DNS label: {host}"
            found.append(wrong("metadata.name", name, why))
    return found


def _validate_selected(spec: Stored) -> Iterator[FieldError]:
    """Yield what is wrong with the spec of a Job, and with how it finds its pods."""
    yield from _validate_spec(spec, "spec")
    selector, labels = spec.get("selector"), spec["template"]["metadata"].get("labels")
    if selector is None:
        yield required("spec.selector")
    yield from validate_selector(selector, "spec.selector")
    if is_usable(selector) and not selects_labels(selector)(labels or {}):
        yield wrong("spec.template.metadata.labels", labels, _MISMATCH)


def _validate_generated(spec: Stored, meta: Stored) -> Iterator[FieldError]:
    """Yield what the user set against the labels by which a Job finds its pods."""
    if spec.get("manualSelector") or spec.get("selector") is None:
        return
    labels = spec["template"]["metadata"].get("labels") or {}
    expected = own_labels(meta)
    for key, value in expected.items():
        at = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            yield required(at, f"must be '{value}'")
        elif labels[key] != value:
            yield wrong(at, labels, f"must be '{value}'")
    if is_usable(spec["selector"]) and not selects_labels(spec["selector"])(expected):
        yield wrong("spec.selector", spec["selector"], "`selector` not auto-generated")


def own_labels(meta: Stored) -> Mapping[str, str]:
    """Return the labels that a Job's pods have of it."""
    uid, name = meta.get("uid", ""), meta.get("name", "")
    return {
        "controller-uid": uid,
        "job-name": name,
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
    }


def _validate_spec(spec: Stored, at: str) -> Iterator[FieldError]:
    yield from not_negative(spec, at, *_COUNTS)
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        yield required(f"{at}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if "managedBy" in spec:
        yield from domain_prefixed_path(spec["managedBy"], f"{at}.managedBy")
        if len(spec["managedBy"]) > _LONGEST_MANAGER:
            yield too_long(f"{at}.managedBy", _LONGEST_MANAGER)
    yield from _validate_mode(spec, at, spec.get("completionMode", "NonIndexed"))
    if "podFailurePolicy" in spec:
        yield from validate_failure_policy(spec, at)
    yield from _validate_replacement(spec, at)
    yield from pods.validate_template(spec["template"], f"{at}.template")
    yield from _validate_restarts(spec, f"{at}.template.spec.restartPolicy")


def _validate_mode(spec: Stored, at: str, mode: str) -> Iterator[FieldError]:
    if mode not in ("NonIndexed", "Indexed"):
        yield not_supported(f"{at}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        yield from _validate_indexed(spec, at)
    elif mode == "NonIndexed":
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if name in spec:
                yield wrong(f"{at}.{name}", spec[name], _INDEXED)
    if "successPolicy" in spec:
        if mode == "Indexed":
            yield from validate_success_policy(spec, at)
        else:
            yield wrong(f"{at}.successPolicy", internal(_SUCCESS, spec["successPolicy"]), _INDEXED)


def _validate_indexed(spec: Stored, at: str) -> Iterator[FieldError]:
    parallel, wanted = spec.get("parallelism", 0), spec.get("completions")
    failed = spec.get("maxFailedIndexes")
    if wanted is None:
        yield required(f"{at}.completions", "when completion mode is Indexed")
    if parallel > _MOST_PARALLEL:
        why = f"must be less than or equal to {_MOST_PARALLEL} when completion mode is Indexed"
        yield wrong(f"{at}.parallelism", parallel, why)
    if wanted is not None and failed is not None and failed > wanted:
        why = "must be less than or equal to completions"
        yield wrong(f"{at}.maxFailedIndexes", failed, why)
    if failed is not None and failed > _MOST_FAILED:
        yield wrong(
            f"{at}.maxFailedIndexes", failed, f"must be less than or equal to {_MOST_FAILED}"
        )
    if wanted is None or wanted <= _MANY or "backoffLimitPerIndex" not in spec:
        return
    if failed is None:
        why = f"must be specified when completions is above {_MANY}"
        yield required(f"{at}.maxFailedIndexes", why)
    for name in ("parallelism", "maxFailedIndexes"):
        if spec.get(name, 0) > _MOST_OF_MANY:
            why = (
                f"must be less than or equal to {_MOST_OF_MANY} when completions are above "
                f"{_MANY} and used with backoff limit per index"
            )
            yield wrong(f"{at}.{name}", spec[name], why)


def _validate_replacement(spec: Stored, at: str) -> Iterator[FieldError]:
    policy = spec.get("podReplacementPolicy")
    choices = ("Failed",) if "podFailurePolicy" in spec else ("Failed", "TerminatingOrFailed")
    if policy is not None and policy not in choices:
        yield not_supported(f"{at}.podReplacementPolicy", policy, choices)


def _validate_restarts(spec: Stored, at: str) -> Iterator[FieldError]:
    policy = spec["template"]["spec"].get("restartPolicy", "")
    if policy in ("", "Always"):
        yield required(at, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield not_supported(at, policy, ("OnFailure", "Never"))
    elif policy != "Never" and "podFailurePolicy" in spec:
        why = 'only "Never" is supported when podFailurePolicy is specified'
        yield wrong(at, policy, why)


def validate_job_update(new: Object, old: Stored) -> list[FieldError]:
    """Return which forbidden changes an update of a Job makes.

    Its spec is looked at a second time, as Kubernetes does.
    """
    after, before = new["spec"], old["spec"]
    found = [*_validate_selected(after), *_validate_completions(after, before)]
    if after.get("selector") != before.get("selector"):
        found.append(wrong("spec.selector", after.get("selector"), IMMUTABLE))
    found += _validate_template_change(after, old)
    return found + [
        wrong(f"spec.{name}", internal(type_, after.get(name)), IMMUTABLE)
        for name, type_ in _FIXED
        if after.get(name) != before.get(name)
    ]


def _validate_completions(after: Stored, before: Stored) -> Iterator[FieldError]:
    wanted = after.get("completions")
    if wanted == before.get("completions"):
        return
    if after.get("completionMode") != "Indexed":
        yield wrong("spec.completions", wanted, IMMUTABLE)
    elif wanted is not None and wanted != after.get("parallelism"):
        why = "can only be modified in tandem with spec.parallelism"
        yield wrong("spec.completions", wanted, why)


def _validate_template_change(after: Stored, old: Stored) -> Iterator[FieldError]:
    """Yield the refusal of another template; one that waits may change where its pods will run."""
    template, before = after["template"], old["spec"]["template"]
    waits = _waits(old)
    if waits:
        before = _with_directives(before, template)
    if not waits or not old["spec"].get("suspend"):
        if template != before:
            yield wrong("spec.template", internal(_TEMPLATE, template), IMMUTABLE)
        return
    spec = _with_resources(before["spec"], template["spec"])
    if template["spec"] != spec:
        yield wrong("spec.template.spec", internal("core/v1.PodSpec", template["spec"]), IMMUTABLE)


def _waits(job: Stored) -> bool:
    """Tell whether a Job is suspended and has no pods."""
    status = job["status"]
    is_held = any(
        one.get("type") == "Suspended" and one.get("status") == "True"
        for one in status.get("conditions") or ()
    )
    idle = not status.get("active") and (not status.get("startTime") or is_held)
    return bool(job["spec"].get("suspend")) and idle


def _with_directives(old: Stored, new: Stored) -> Object:
    """Return a template with what another one says of where its pods run, and its metadata."""
    spec, affinity = dict(old["spec"]), dict(old["spec"].get("affinity") or {})
    for name in ("nodeSelector", "tolerations", "schedulingGates"):
        _copy(spec, new["spec"], name)
    _copy(affinity, new["spec"].get("affinity") or {}, "nodeAffinity")
    spec.pop("affinity", None)
    if affinity or "affinity" in new["spec"]:
        spec["affinity"] = affinity
    metadata = dict(old["metadata"])
    for name in ("labels", "annotations"):
        _copy(metadata, new["metadata"], name)
    return {**old, "metadata": metadata, "spec": spec}


def _with_resources(old: Stored, new: Stored) -> Object:
    """Return a pod's spec in which containers have the resources that they have in another."""
    spec = dict(old)
    for name in ("containers", "initContainers"):
        before, after = old.get(name) or (), new.get(name) or ()
        if before and len(before) == len(after):
            spec[name] = [
                {**one, "resources": other.get("resources")}
                if one.get("name") == other.get("name")
                else one
                for one, other in zip(before, after, strict=True)
            ]
    return spec


def _copy(target: Object, source: Stored, name: str) -> None:
    target.pop(name, None)
    if name in source:
        target[name] = source[name]


def validate_cron_job(obj: Object) -> list[FieldError]:
    """Return what is wrong with a CronJob."""
    spec = obj["spec"]
    found = list(_validate_times(spec))
    found += needed_one_of(spec, "spec", "concurrencyPolicy", ("Allow", "Forbid", "Replace"))
    job, at = spec["jobTemplate"]["spec"], "spec.jobTemplate.spec"
    found += _validate_spec(job, at)
    if job.get("selector") is not None:
        found.append(wrong(f"{at}.selector", job["selector"], "`selector` will be auto-generated"))
    if job.get("manualSelector"):
        found.append(not_supported(f"{at}.manualSelector", True, ("nil", "false")))
    found += not_negative(spec, "spec", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    return found


def validate_new_cron_job(obj: Object) -> list[FieldError]:
    """Return what is wrong with the name of a CronJob, of which those of its Jobs are made."""
    name = obj["metadata"].get("name", "")
    if len(name) <= _LONGEST_CRON_JOB:
        return []
    why = f"must be no more than {_LONGEST_CRON_JOB} characters"
    return [wrong("metadata.name", name, why)]


def _validate_times(spec: Stored) -> Iterator[FieldError]:
    schedule, zone = spec.get("schedule", ""), spec.get("timeZone")
    if not schedule:
        yield required("spec.schedule")
    else:
        if why := schedules.fault(schedule):
            yield wrong("spec.schedule", schedule, why)
        if "TZ" in schedule:
            why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            yield wrong("spec.schedule", schedule, why)
    yield from not_negative(spec, "spec", "startingDeadlineSeconds")
    if zone is not None and (why := schedules.zone_fault(zone)):
        yield wrong("spec.timeZone", zone, why)
