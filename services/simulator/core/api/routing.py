"""From a URL path to what it names. Paths are Kubernetes' own; nothing else is served."""

from dataclasses import dataclass
from urllib.parse import unquote

from services.simulator.core.api import errors
from services.simulator.core.api.resources import Catalogue, Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A resource, its collection or one object of it, and maybe a subresource."""

    resource: Resource
    namespace: str | None = None
    name: str = ""
    subresource: str = ""
    watch: bool = False
    """Whether the old `/watch/` prefix was used."""


def parse(path: str, catalogue: Catalogue) -> Route | None:
    """Return the route of a resource path, None for other paths; raises the 404 of an unknown resource."""
    raw = path.removesuffix("/").split("/")[1:]
    steps = [unquote(step) for step in raw]
    if len(steps) >= 3 and steps[0] == "api":
        group, version, rest = "", steps[1], steps[2:]
    elif len(steps) >= 4 and steps[0] == "apis":
        group, version, rest = steps[1], steps[2], steps[3:]
    else:
        return None
    watch = rest[0] == "watch" and len(rest) > 1
    if watch:
        rest = rest[1:]
    if "" in rest or any("/" in step for step in rest):
        raise errors.no_such_resource()
    route = _resource_route(group, version, rest, catalogue)
    return Route(
        resource=route.resource,
        namespace=route.namespace,
        name=route.name,
        subresource=route.subresource,
        watch=watch,
    )


def _resource_route(group: str, version: str, steps: list[str], catalogue: Catalogue) -> Route:
    namespace: str | None = None
    if steps[0] == "namespaces" and len(steps) >= 3 and not _is_namespace_subresource(group, steps):
        namespace, steps = steps[1], steps[2:]
    plural, name, subresource = steps[0], "".join(steps[1:2]), "/".join(steps[2:3])
    resource = catalogue.find(group, version, plural)
    if resource is None or len(steps) > 3:
        raise errors.no_such_resource()
    if namespace is not None and not resource.namespaced:
        raise errors.no_such_resource()
    if name and resource.namespaced and namespace is None:
        raise errors.no_such_resource()
    return Route(resource=resource, namespace=namespace, name=name, subresource=subresource)


def _is_namespace_subresource(group: str, steps: list[str]) -> bool:
    return not group and len(steps) == 3 and steps[2] in ("status", "finalize")
