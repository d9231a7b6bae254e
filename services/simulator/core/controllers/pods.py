"""What workload controllers do with pods: make them, count them, choose which goes first.

Source: Kubernetes documentation, "ReplicaSet" (order of deletion), "Pod Lifecycle".
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.frozen import thaw
from services.simulator.core.client import Client
from services.simulator.core.events import Note
from services.simulator.core.objects import (
    Object,
    condition_of,
    has_ended,
    is_deleting,
    is_true,
    owner_reference,
    read_stamp,
    span_of,
)

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_HASH_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_HASH_LENGTH = 10


def pod_from(owner: Mapping[str, Any], template: Mapping[str, Any]) -> Object:
    """Return a pod that a controller makes from a template, named by the server."""
    meta = template.get("metadata") or {}
    name = owner["metadata"]["name"]
    metadata: Object = {
        "generateName": f"{name}-",
        "namespace": owner["metadata"]["namespace"],
        "ownerReferences": [owner_reference(owner)],
    }
    for member in ("labels", "annotations", "finalizers"):
        if meta.get(member):
            metadata[member] = thaw(meta[member])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": thaw(template["spec"])}


def component_of(owner: Mapping[str, Any]) -> str:
    """Return the name by which the controller of a kind signs its events."""
    kind = owner["kind"].lower()
    return f"{kind.removesuffix('controller').rstrip('-')}-controller"


def create(client: Client, owner: Object, pod: Object) -> None:
    """Create a pod and leave an event of it on its owner; a refusal is raised."""
    component = component_of(owner)
    try:
        made = client.api.create("pods", pod)
    except ApiError as error:
        message = f"Error creating: {error}"
        note = Note(reason="FailedCreate", message=message, component=component, is_warning=True)
        client.events.record(owner, note)
        raise
    message = f"Created pod: {made['metadata']['name']}"
    note = Note(reason="SuccessfulCreate", message=message, component=component)
    client.events.record(owner, note)


def hash_of(value: object) -> str:
    """Return a short hash of a JSON value, fit for names and labels."""
    text = msgspec.json.encode(value, order="deterministic")
    number = int.from_bytes(hashlib.sha256(text).digest()[:8], "big")
    letters = []
    for _ in range(_HASH_LENGTH):
        number, digit = divmod(number, len(_HASH_LETTERS))
        letters.append(_HASH_LETTERS[digit])
    return "".join(letters)


def active(pods: Iterable[Object]) -> list[Object]:
    """Return the pods that neither ended nor were deleted."""
    return [pod for pod in pods if not has_ended(pod) and not is_deleting(pod)]


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Tell whether the pod is ready."""
    return is_true(pod, "Ready")


def available_at(pod: Mapping[str, Any], min_ready_seconds: int) -> datetime | None:
    """Return since or from when a pod counts as available, None while it is not ready."""
    condition = condition_of(pod, "Ready")
    if condition is None or condition["status"] != "True":
        return None
    return read_stamp(condition.get("lastTransitionTime")) + span_of(min_ready_seconds)


def deletion_order(pod: Mapping[str, Any], on_same_node: int) -> tuple[Any, ...]:
    """Return the sort key by which surplus pods go: what is lost least first.

    Unbound, pending and unready pods first; then the cheaper to delete, those with more siblings on
    their node, the longer not, and the younger.
    """
    annotations = pod["metadata"].get("annotations") or {}
    phases = {"Pending": 0, "Unknown": 1, "Running": 2}
    created = read_stamp(pod["metadata"]["creationTimestamp"])
    ready = condition_of(pod, "Ready")
    since = created if ready is None else read_stamp(ready.get("lastTransitionTime"))
    return (
        bool(pod["spec"].get("nodeName")),
        phases.get(pod["status"].get("phase", ""), 0),
        is_ready(pod),
        _cost(annotations.get(DELETION_COST, "0")),
        -on_same_node,
        -since.timestamp(),
        -created.timestamp(),
    )


def _cost(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


def delete(api: DirectApi, pod: Mapping[str, Any]) -> None:
    """Delete a pod with its own grace period."""
    meta = pod["metadata"]
    api.delete("pods", meta["name"], meta["namespace"], DeleteOptions(uid=meta["uid"]))


def remove(client: Client, owner: Object, pod: Object) -> None:
    """Delete a pod of an owner, and leave an event of it."""
    delete(client.api, pod)
    component = component_of(owner)
    message = f"Deleted pod: {pod['metadata']['name']}"
    note = Note(reason="SuccessfulDelete", message=message, component=component)
    client.events.record(owner, note)


def write_status(api: DirectApi, resource: str, obj: Object, status: Object) -> None:
    """Write an object's status unless it says so already; None leaves a member out."""
    told = {key: value for key, value in status.items() if value is not None}
    if obj.get("status") != told:
        api.update(resource, {**obj, "status": told}, subresource="status")
