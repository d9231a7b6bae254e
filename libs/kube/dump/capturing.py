"""Takes a dump from a cluster: asks what is served, lists it page by page, keeps what is needed.

Laws: it only reads; a kind that may not be read, or cannot be, is named and costs no other; Secrets
and ConfigMaps are never asked for.
"""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from libs.domain.errors import JoinerError, NotFound, RevisionGone
from libs.kube.api import KubeApi, Resource
from libs.kube.dump.choosing import DEFINITIONS, announced, in_order, is_chosen, is_of_autoscalers
from libs.kube.dump.redaction import ONLY_NEEDED, Document, Keeping, redacted

PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is wanted of a cluster."""

    also: frozenset[str] = frozenset()
    """API groups beyond those of autoscalers whose custom resources are wanted."""
    keeping: Keeping = ONLY_NEEDED
    progress: Callable[[str], None] = lambda _resource: None
    """Told of each resource before it is listed."""


@dataclass(slots=True)
class Captured:
    """What was found."""

    objects: list[Document] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    server_version: str = ""


async def capture(api: KubeApi, wish: Wish) -> Captured:
    """Return the objects of a cluster: definitions, namespaces, then all else.

    Raises:
        JoinerError: the server cannot be asked what it serves.
    """
    found = Captured(server_version=await _version(api))
    resources = [one async for one in _served(api, found) if is_chosen(one, wish.also)]
    for resource in in_order(resources):
        wish.progress(_name(resource))
        await _take(api, resource, wish, found)
    return found


async def _version(api: KubeApi) -> str:
    return str(json.loads(await api.request("GET", "/version")).get("gitVersion", ""))


async def _served(api: KubeApi, found: Captured) -> AsyncIterator[Resource]:
    """Yield every listable resource in the version that the server prefers."""
    groups = json.loads(await api.request("GET", "/apis"))["groups"]
    versions = ["v1", *(one["preferredVersion"]["groupVersion"] for one in groups)]
    for version in versions:
        path = f"/apis/{version}" if "/" in version else f"/api/{version}"
        try:
            document = json.loads(await api.request("GET", path))
        except JoinerError as error:  # an aggregated API whose server is down
            found.missing[version] = str(error)
            continue
        for resource in announced(version, document):
            yield resource


async def _take(api: KubeApi, resource: Resource, wish: Wish, found: Captured) -> None:
    try:
        items = [item async for item in pages(api, resource)]
    except NotFound:
        return  # withdrawn since the server announced it
    except JoinerError as error:
        found.missing[_name(resource)] = str(error)
        return
    kept = [redacted(item, wish.keeping) for item in items if _is_wanted(item, resource, wish)]
    if kept:
        found.objects += kept
        found.counts[_name(resource)] = len(kept)


def _is_wanted(item: Document, resource: Resource, wish: Wish) -> bool:
    """Tell whether an object is wanted; of definitions those whose objects are."""
    if resource.group != DEFINITIONS:
        return True
    group = item["spec"]["group"]
    return group in wish.also or is_of_autoscalers(group)


async def pages(api: KubeApi, resource: Resource) -> AsyncIterator[Document]:
    """Yield the objects of a resource, read page by page.

    A list that takes so long that the server has forgotten its beginning is read anew, at once.
    """
    seen: set[str] = set()
    query = {"limit": str(PAGE)}
    while True:
        try:
            page = json.loads(await api.request("GET", resource.path(), query=query))
        except RevisionGone:
            if "limit" not in query:
                raise
            query = {}
            continue
        for item in page.get("items") or ():
            if item["metadata"]["uid"] not in seen:
                seen.add(item["metadata"]["uid"])
                yield {"apiVersion": resource.api_version, "kind": resource.kind, **item}
        token = page["metadata"].get("continue")
        if not token:
            return
        query = {"limit": str(PAGE), "continue": token}


def _name(resource: Resource) -> str:
    return f"{resource.plural}.{resource.group}" if resource.group else resource.plural
