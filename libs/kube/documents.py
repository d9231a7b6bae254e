"""Reads and writes of single objects as JSON documents, for the few places that write.

Apart from the port because that one speaks bytes and paths. Nothing is hidden here: each function
is one request, its errors are the port's, and what an object must look like is the caller's matter.
A write that must not hit another object or another state carries its precondition: a
`metadata.resourceVersion` or `metadata.uid` in the document or patch, or `uid` of a deletion.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

from libs.kube.api import MERGE_PATCH, PODS, KubeApi, Resource

Document: TypeAlias = dict[str, Any]
"""An object as parsed from JSON."""

STATUS = "status"


@dataclass(frozen=True, slots=True)
class Target:
    """One object of one kind; no namespace for kinds that have none."""

    resource: Resource
    name: str
    namespace: str = ""

    def path(self, subresource: str = "") -> str:
        """Return its path at the API server."""
        return self.resource.path(self.namespace, self.name, subresource)


async def get(api: KubeApi, target: Target) -> Document:
    """Return an object as it is stored now; raises NotFound."""
    return _document(await api.request("GET", target.path()))


async def create(api: KubeApi, resource: Resource, document: Mapping[str, Any]) -> Document:
    """Create an object and return it as stored; raises AlreadyExists."""
    namespace = document["metadata"].get("namespace", "")
    body = _body({"apiVersion": resource.api_version, "kind": resource.kind, **document})
    return _document(await api.request("POST", resource.path(namespace), body=body))


async def update(
    api: KubeApi, target: Target, document: Mapping[str, Any], *, subresource: str = ""
) -> Document:
    """Replace an object; raises StaleRevision if its resourceVersion is not the document's."""
    return _document(await api.request("PUT", target.path(subresource), body=_body(document)))


async def merge_patch(
    api: KubeApi, target: Target, patch: Mapping[str, Any], *, subresource: str = ""
) -> Document:
    """Merge a patch (RFC 7386) into an object; raises StaleRevision if its precondition fails.

    Args:
        api: the server.
        target: what to change.
        patch: with `metadata.resourceVersion` or `metadata.uid` where it must not hit another.
        subresource: `status`, for what only that may change.
    """
    return _document(
        await api.request(
            "PATCH", target.path(subresource), body=_body(patch), content_type=MERGE_PATCH
        )
    )


async def delete(api: KubeApi, target: Target, *, uid: str, grace: timedelta | None = None) -> None:
    """Delete the object with that uid; finalizers may keep it for a while.

    Args:
        api: the server.
        target: what to delete.
        uid: raises StaleRevision if another object has the name now.
        grace: for pods; None leaves it to the pod.

    Raises:
        NotFound: it is gone, which is success for most.
    """
    options = _options(uid, grace)
    await api.request("DELETE", target.path(), body=_body(options))


async def evict(api: KubeApi, pod: Target, *, uid: str, grace: timedelta | None = None) -> None:
    """Evict a pod through the eviction API.

    Raises:
        Unavailable: a budget refuses for now.
        StaleRevision: another pod has the name now.
        NotFound: it is gone, which is success.
    """
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "deleteOptions": _options(uid, grace),
    }
    await api.request("POST", pod.path("eviction"), body=_body(eviction))


def pod_target(namespace: str, name: str) -> Target:
    """Return the target that a pod is."""
    return Target(PODS, name, namespace)


def _options(uid: str, grace: timedelta | None) -> Document:
    options: Document = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": uid},
    }
    if grace is not None:
        options["gracePeriodSeconds"] = max(0, int(grace.total_seconds()))
    return options


def _body(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document).encode()


def _document(data: bytes) -> Document:
    document: Document = json.loads(data)
    return document
