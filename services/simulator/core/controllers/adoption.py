"""Pods without a controller that an owner selects become its own; those it selects no more leave.

Source: Kubernetes documentation, "ReplicaSet" (non-template pod acquisitions).
"""

from collections.abc import Callable, Iterable

from libs.apiserver.labels import selects_labels
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.client import Client, Index
from services.simulator.core.objects import (
    Object,
    controller_of,
    has_ended,
    is_deleting,
    key_of,
    labels_of,
    owner_reference,
)


def orphans(client: Client) -> Index:
    """Return the pods that have no controller, and neither ended nor were deleted, by namespace."""

    def group(pod: Object) -> str | None:
        free = controller_of(pod) is None and not is_deleting(pod) and not has_ended(pod)
        return str(pod["metadata"]["namespace"]) if free else None

    return client.index("pods", group)


def who_selects(api: DirectApi, resource: str) -> Callable[[Object], Iterable[str]]:
    """Concern those objects of a resource that select a changed pod without a controller."""

    def concerns(pod: Object) -> Iterable[str]:
        if controller_of(pod) is not None:
            return []
        owners = api.list(resource, pod["metadata"]["namespace"])
        return [key_of(owner) for owner in owners if _selects(owner, pod)]

    return concerns


def adopt(api: DirectApi, owner: Object, free: Index) -> None:
    """Make the pods that an owner selects and nobody controls its own."""
    namespace = owner["metadata"]["namespace"]
    for pod in free.of(namespace):
        if _selects(owner, pod):
            references = [*(pod["metadata"].get("ownerReferences") or ()), owner_reference(owner)]
            _own(api, pod, [dict(reference) for reference in references])


def release(api: DirectApi, owner: Object, owned: Iterable[Object]) -> None:
    """Let go the pods that an owner controls but does not select."""
    uid = owner["metadata"]["uid"]
    for pod in owned:
        if not _selects(owner, pod) and not is_deleting(pod):
            references = pod["metadata"]["ownerReferences"]
            _own(api, pod, [dict(one) for one in references if one["uid"] != uid])


def _own(api: DirectApi, pod: Object, references: list[Object]) -> None:
    meta = pod["metadata"]
    change = {"metadata": {"uid": meta["uid"], "ownerReferences": references or None}}
    api.patch("pods", meta["name"], change, meta["namespace"])


def _selects(owner: Object, pod: Object) -> bool:
    return selects_labels(owner["spec"].get("selector"))(labels_of(pod))
