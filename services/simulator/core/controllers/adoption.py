"""Pods without a controller that an owner selects become its own; those it selects no more leave.

Source: Kubernetes documentation, "ReplicaSet" (non-template pod acquisitions).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

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


def _namespace_of_orphan(obj: Object) -> str | None:
    free = controller_of(obj) is None and not is_deleting(obj)
    return str(obj["metadata"]["namespace"]) if free else None


def _namespace(obj: Object) -> str | None:
    return str(obj["metadata"]["namespace"])


def orphans(client: Client, resource: str = "pods") -> Index:
    """Return the objects that have no controller and were not deleted, by namespace."""
    return client.index(resource, _namespace_of_orphan)


def who_selects(client: Client, resource: str) -> Callable[[Object], Iterable[str]]:
    """Concern those owners, of a resource, that select a changed object without a controller."""
    owners = client.index(resource, _namespace)

    def concerns(obj: Object) -> Iterable[str]:
        if controller_of(obj) is not None:
            return []
        namespace = obj["metadata"]["namespace"]
        return [key_of(owner) for owner in owners.of(namespace) if _selects(owner, obj)]

    return concerns


def adopt(
    api: DirectApi,
    owner: Object,
    free: Index,
    resource: str = "pods",
    *,
    only: re.Pattern[str] | None = None,
) -> None:
    """Make what an owner selects and nobody controls its own; pods that ended stay free.

    Args:
        api: where they are.
        owner: whose they become.
        free: those that nobody controls.
        resource: what they are.
        only: what their names must be, if anything.
    """
    namespace = owner["metadata"]["namespace"]
    for obj in free.of(namespace):
        ended = resource == "pods" and has_ended(obj)
        named = only is None or only.fullmatch(obj["metadata"]["name"])
        if not ended and named and _selects(owner, obj):
            references = [*(obj["metadata"].get("ownerReferences") or ()), owner_reference(owner)]
            _own(api, resource, obj, [dict(reference) for reference in references])


def release(api: DirectApi, owner: Object, owned: Iterable[Object], resource: str = "pods") -> None:
    """Let go what an owner controls but does not select."""
    uid = owner["metadata"]["uid"]
    for obj in owned:
        if not _selects(owner, obj) and not is_deleting(obj):
            references = obj["metadata"]["ownerReferences"]
            kept = [dict(one) for one in references if one["uid"] != uid]
            _own(api, resource, obj, kept)


def _own(api: DirectApi, resource: str, obj: Object, references: list[Object]) -> None:
    meta = obj["metadata"]
    change = {"metadata": {"uid": meta["uid"], "ownerReferences": references or None}}
    api.patch(resource, meta["name"], change, meta["namespace"])


def selector_of(owner: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the label selector of an owner; ReplicationControllers have a map of labels."""
    selector: Mapping[str, Any] | None = owner["spec"].get("selector")
    if owner["kind"] == "ReplicationController":
        return {"matchLabels": selector} if selector else None
    return selector


def _selects(owner: Object, obj: Object) -> bool:
    return selects_labels(selector_of(owner))(labels_of(obj))
