"""Validation of what a controller reports about a Job.

Since `managedBy` lets others than Kubernetes report, the API server holds them to what clients of
Jobs rely on: a Job that has ended stays ended, counters grow, lists of indexes can be read. What a
report leaves as it was is not held against it: a user may just have changed the spec beneath it.

Source: Kubernetes API reference, JobStatus; order and wordings as recorded from kube-apiserver
1.36.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.apiserver.checks import Stored, not_negative
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    required,
    wrong,
    wrong_as_whole,
)
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.rules.job_policies import count_indexes, overlap
from libs.apiserver.types.internal import internal

Object = dict[str, Any]
_CONDITIONS = "status.conditions"
_TERMINAL = ("Failed", "Complete", "FailureTarget")
_ENDS = frozenset(("Complete", "Failed"))
_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")


def validate(new: Object, old: Stored) -> list[FieldError]:
    """Return what is wrong with the status of a Job, and with what became of the old one."""
    status, before = new["status"], old["status"]
    is_true, was_true = _true_conditions(status), _true_conditions(before)
    changed = _changed(status, before, is_true, was_true)
    found = list(not_negative(status, "status", *_COUNTS))
    found += _validate_uncounted(status)
    found += _validate_completion(status, is_true, changed)
    found += _validate_end(new["spec"], status, is_true, changed)
    found += _validate_indexes(new["spec"], status, changed)
    found += _validate_pods(status, is_true, changed)
    found += _validate_success(new["spec"], is_true)
    return [*found, *_validate_changes(new, old, is_true, was_true)]


def _changed(
    status: Stored, before: Stored, is_true: frozenset[str], was_true: frozenset[str]
) -> frozenset[str]:
    """Return the members and true conditions that are other than before; `finished` is any end."""
    found = {name for name in {*status, *before} if status.get(name) != before.get(name)}
    found |= is_true ^ was_true
    if bool(is_true & _ENDS) != bool(was_true & _ENDS):
        found.add("finished")
    return frozenset(found)


def _true_conditions(status: Stored) -> frozenset[str]:
    return frozenset(
        one.get("type", "") for one in status.get("conditions") or () if one.get("status") == "True"
    )


def _validate_uncounted(status: Stored) -> Iterator[FieldError]:
    seen: set[str] = set()
    for side in ("succeeded", "failed"):
        uids = (status.get("uncountedTerminatedPods") or {}).get(side) or ()
        for index, uid in enumerate(uids):
            at = f"status.uncountedTerminatedPods.{side}[{index}]"
            if not uid:
                yield wrong(at, uid, "must not be empty")
            elif uid in seen:
                yield duplicate(at, uid)
            seen.add(uid)


def _validate_completion(
    status: Stored, is_true: frozenset[str], changed: frozenset[str]
) -> Iterator[FieldError]:
    complete = "Complete" in is_true
    for other, shown in (("Failed", "Failed"), ("FailureTarget", "FailureTarget")):
        if complete and other in is_true and changed & {"Complete", other}:
            why = f"cannot set Complete=True and {shown}=true conditions"
            yield wrong_as_whole(_CONDITIONS, why)
    at, done, began = "status.completionTime", status.get("completionTime"), status.get("startTime")
    if changed & {"Complete", "completionTime"}:
        if done is not None and not complete:
            why = "cannot set completionTime when there is no Complete=True condition"
            yield wrong(at, done, why)
        if done is None and complete:
            yield required(at, "completionTime is required for Complete jobs")
    if changed & {"startTime", "completionTime"} and done and began and done < began:
        yield wrong(at, done, "must be equal to or after `startTime`")


def _validate_end(
    spec: Stored, status: Stored, is_true: frozenset[str], changed: frozenset[str]
) -> Iterator[FieldError]:
    for end, first, member in (
        ("Failed", "FailureTarget", "failedIndexes"),
        ("Complete", "SuccessCriteriaMet", "SuccessCriteriaMet"),
    ):
        if end in is_true and first not in is_true and changed & {end, member}:
            why = f"cannot set {end}=True condition without the {first}=true condition"
            yield wrong_as_whole(_CONDITIONS, why)
    if not is_true & _ENDS:
        return
    active = status.get("active", 0)
    if active > 0 and changed & {"finished", "active"}:
        yield wrong("status.active", active, "active>0 is invalid for finished job")
    asks_nothing = spec.get("suspend") and spec.get("completions") == 0
    if not status.get("startTime") and changed & {"finished", "startTime"} and not asks_nothing:
        yield required("status.startTime", "startTime is required for finished job")
    uncounted = status.get("uncountedTerminatedPods") or {}
    if changed & {"finished", "uncountedTerminatedPods"} and any(uncounted.values()):
        shown = internal("batch/v1.UncountedTerminatedPods", uncounted)
        yield wrong("status.uncountedTerminatedPods", shown, "must be empty for finished job")


def _validate_indexes(
    spec: Stored, status: Stored, changed: frozenset[str]
) -> Iterator[FieldError]:
    completions, per_index = spec.get("completions"), spec.get("backoffLimitPerIndex") is not None
    done, failed = status.get("completedIndexes", ""), status.get("failedIndexes")
    both = ("completedIndexes" in changed, "failedIndexes" in changed)
    if completions is not None:
        if both[0]:
            yield from _readable("completedIndexes", done, completions)
        if both[1] and per_index and failed is not None:
            yield from _readable("failedIndexes", failed, completions)
    if both[0] and done and spec.get("completionMode") != "Indexed":
        why = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield wrong("status.completedIndexes", done, why)
    if both[1] and failed is not None and not per_index:
        why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        yield wrong("status.failedIndexes", failed, why)
    if any(both) and completions is not None and failed is not None:
        shared = overlap(done, failed, completions)
        if shared is not None:
            why = f"failedIndexes and completedIndexes overlap at index: {shared}"
            yield wrong("status.failedIndexes", failed, why)


def _readable(name: str, text: str, completions: int) -> Iterator[FieldError]:
    try:
        count_indexes(text, completions)
    except ValueError as error:
        yield wrong(f"status.{name}", text, f"error parsing {name}: {error}")


def _validate_pods(
    status: Stored, is_true: frozenset[str], changed: frozenset[str]
) -> Iterator[FieldError]:
    terminating, ready = status.get("terminating", 0), status.get("ready")
    if terminating > 0 and is_true & _ENDS and changed & {"finished", "terminating"}:
        yield wrong("status.terminating", terminating, "terminating>0 is invalid for finished job")
    if ready is not None and ready > status.get("active", 0) and changed & {"ready", "active"}:
        yield wrong("status.ready", ready, "cannot set more ready pods than active")


def _validate_success(spec: Stored, is_true: frozenset[str]) -> Iterator[FieldError]:
    if "SuccessCriteriaMet" in is_true:
        for other in ("Failed", "FailureTarget"):
            if other in is_true:
                why = f"cannot set SuccessCriteriaMet=True and {other}=true conditions"
                yield wrong_as_whole(_CONDITIONS, why)
    elif "Complete" in is_true and "successPolicy" in spec:
        why = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        yield wrong_as_whole(_CONDITIONS, why)


def _validate_changes(
    new: Object, old: Stored, is_true: frozenset[str], was_true: frozenset[str]
) -> Iterator[FieldError]:
    status, before, spec = new["status"], old["status"], new["spec"]
    for kind in _TERMINAL:
        if kind in was_true - is_true:
            why = f"cannot disable the terminal {kind}=True condition"
            yield wrong_as_whole(_CONDITIONS, why)
    may_shrink = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get(
        "parallelism"
    )
    for name in ("failed",) if may_shrink else ("failed", "succeeded"):
        if status.get(name, 0) < before.get(name, 0):
            yield wrong(
                f"status.{name}", status.get(name, 0), f"cannot decrease the {name} counter"
            )
    yield from _validate_times(spec, status, before)
    if "SuccessCriteriaMet" in was_true - is_true:
        yield wrong_as_whole(_CONDITIONS, "cannot disable the SuccessCriteriaMet=True condition")
    if "Complete" in was_true and "SuccessCriteriaMet" in is_true - was_true:
        why = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        yield wrong_as_whole(_CONDITIONS, why)


def _validate_times(spec: Stored, status: Stored, before: Stored) -> Iterator[FieldError]:
    done, was_done = status.get("completionTime"), before.get("completionTime")
    if done and was_done and done != was_done:
        yield wrong("status.completionTime", done, IMMUTABLE)
    began, had_begun = status.get("startTime"), before.get("startTime")
    if not had_begun or began == had_begun or spec.get("suspend"):
        return
    if not (_is(before, "Suspended", "True") and _is(status, "Suspended", "False")):
        why = "field is immutable for unsuspended job once set"
        yield wrong("status.startTime", began, why)


def _is(status: Mapping[str, Any], kind: str, value: str) -> bool:
    return any(
        one.get("type") == kind and one.get("status") == value
        for one in status.get("conditions") or ()
    )
