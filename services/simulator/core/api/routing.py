"""From a URL path to what it names. Paths are Kubernetes' own; nothing else is served."""

from dataclasses import dataclass, replace
from urllib.parse import unquote

from services.simulator.core.api import errors
from services.simulator.core.api.builtin import BUILTIN
from services.simulator.core.api.resources import Catalogue, Resource

BUILTIN_GROUPS = frozenset(resource.group for resource in BUILTIN) | {"authorization.k8s.io"}


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
    """Return the route of a resource path; raises the 404 of a built-in group.

    None means a path that nothing serves: other documents, and unknown resources of groups that are
    not built in, whose 404 is plain text.
    """
    steps = [unquote(step) for step in path.rstrip("/").split("/")[1:]]
    if len(steps) >= 3 and steps[0] == "api":
        group, version, rest = "", steps[1], steps[2:]
    elif len(steps) >= 4 and steps[0] == "apis":
        group, version, rest = steps[1], steps[2], steps[3:]
    else:
        return None
    watch = rest[0] == "watch" and len(rest) > 1
    route = None
    if not any("/" in step for step in rest):
        route = _resource_route(group, version, rest[1:] if watch else rest, catalogue)
    if route is None:
        if group in BUILTIN_GROUPS:
            raise errors.no_such_resource()
        return None
    return replace(route, watch=watch)


def _resource_route(
    group: str, version: str, steps: list[str], catalogue: Catalogue
) -> Route | None:
    namespace: str | None = None
    if steps[0] == "namespaces" and len(steps) >= 3 and not _is_namespace_subresource(group, steps):
        namespace, steps = steps[1], steps[2:]
    plural, name, subresource = steps[0], "".join(steps[1:2]), "/".join(steps[2:3])
    resource = catalogue.find(group, version, plural)
    if resource is None or (len(steps) > 3 and subresource != "proxy"):
        return None
    if subresource and not name:
        raise errors.bad_request("name must be provided")
    if len(steps) > 1 and not name:
        return None
    misplaced = namespace is not None and not resource.namespaced
    homeless = bool(name) and resource.namespaced and namespace is None
    if misplaced or homeless:
        return None
    return Route(resource=resource, namespace=namespace, name=name, subresource=subresource)


def check_name(name: str) -> None:
    """Raise the 400 of a name that no path may contain."""
    why = f"may not be '{name}'" if name in (".", "..") else ""
    if "%" in name:
        why = "may not contain '%'"
    if why:
        raise errors.bad_request(f'Name parameter invalid: "{name}": {why}')


def _is_namespace_subresource(group: str, steps: list[str]) -> bool:
    return not group and len(steps) == 3 and steps[2] in ("status", "finalize")
