"""Validation of what controllers report about workloads, budgets and autoscalers.

Apart from the rules of the specs, which users write. Each takes the new state and the old one, as
a status is only ever updated.

Source: Kubernetes API reference, the `…Status` of each kind; order and wordings as recorded from
kube-apiserver 1.36.
"""

from collections.abc import Iterator
from typing import Any

from libs.apiserver.checks import Stored, not_negative
from libs.apiserver.field_errors import FieldError, wrong
from libs.apiserver.rules.conditions import validate_conditions

Object = dict[str, Any]
_MORE_THAN_ALL = "cannot be greater than status.replicas"


def validate_deployment(new: Object, old: Stored) -> list[FieldError]:
    """Return what is wrong with the status of a Deployment."""
    status = new["status"]
    counts = (
        *("observedGeneration", "replicas", "updatedReplicas", "readyReplicas"),
        *("availableReplicas", "unavailableReplicas", "terminatingReplicas", "collisionCount"),
    )
    found = list(not_negative(status, "status", *counts))
    found += _at_most_all(status, "updatedReplicas", "readyReplicas", "availableReplicas")
    found += _available_are_ready(status, "readyReplicas")
    return [*found, *_not_decremented(status, old["status"])]


def validate_replicas(new: Object, _old: Stored) -> list[FieldError]:
    """Return what is wrong with the status of a ReplicaSet or ReplicationController."""
    status = new["status"]
    parts = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")
    counts = ("replicas", *parts, "observedGeneration", "terminatingReplicas")
    found = list(not_negative(status, "status", *counts))
    found += _at_most_all(status, *parts)
    return [*found, *_available_are_ready(status, "readyReplicas")]


def validate_stateful_set(new: Object, old: Stored) -> list[FieldError]:
    """Return what is wrong with the status of a StatefulSet."""
    status = new["status"]
    parts = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    counts = ("replicas", *parts, "observedGeneration", "collisionCount")
    found = list(not_negative(status, "status", *counts))
    found += _at_most_all(status, *parts)
    found += _available_are_ready(status, "status.readyReplicas")
    return [*found, *_not_decremented(status, old["status"])]


def validate_daemon_set(new: Object, old: Stored) -> list[FieldError]:
    """Return what is wrong with the status of a DaemonSet."""
    status = new["status"]
    counts = (
        *("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled"),
        *("numberReady", "observedGeneration", "updatedNumberScheduled", "numberAvailable"),
        *("numberUnavailable", "collisionCount"),
    )
    found = list(not_negative(status, "status", *counts))
    return [*found, *_not_decremented(status, old["status"])]


def validate_autoscaler(new: Object, _old: Stored) -> list[FieldError]:
    """Return what is wrong with the status of a HorizontalPodAutoscaler."""
    return list(not_negative(new["status"], "status", "currentReplicas", "desiredReplicas"))


def validate_budget(new: Object, _old: Stored) -> list[FieldError]:
    """Return what is wrong with the status of a PodDisruptionBudget."""
    status = new["status"]
    counts = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
    found = list(validate_conditions(status.get("conditions") or (), "status.conditions"))
    return [*found, *not_negative(status, "status", *counts)]


def _at_most_all(status: Stored, *names: str) -> Iterator[FieldError]:
    for name in names:
        if status.get(name, 0) > status.get("replicas", 0):
            yield wrong(f"status.{name}", status.get(name, 0), _MORE_THAN_ALL)


def _available_are_ready(status: Stored, called: str) -> Iterator[FieldError]:
    available = status.get("availableReplicas", 0)
    if available > status.get("readyReplicas", 0):
        yield wrong("status.availableReplicas", available, f"cannot be greater than {called}")


def _not_decremented(status: Stored, before: Stored) -> Iterator[FieldError]:
    """Yield a count of collisions that shrinks; names of pods would come again."""
    was, now = before.get("collisionCount"), status.get("collisionCount")
    if was is not None and (now is None or now < was):
        yield wrong("status.collisionCount", now or 0, "cannot be decremented")
