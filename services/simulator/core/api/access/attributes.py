"""What a request is about, read from its method and path alone: what authorization judges.

Apart from routing because it comes first and knows no resource: a path that nothing serves has
attributes like any other.

Source: Kubernetes documentation, "Authorization Overview": request attributes.
"""

from dataclasses import dataclass
from urllib.parse import unquote

from services.simulator.core.api.messages import Request

_VERBS = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_OF_COLLECTIONS = {"get": "list", "delete": "deletecollection"}
_PREFIXED_VERBS = ("watch", "proxy")
_NAMESPACE_PARTS = ("status", "finalize")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """What somebody wants to do: a verb on a resource, or on a path."""

    verb: str
    path: str = ""
    """Of what is no resource; empty for resources."""

    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def combined(self) -> str:
        """Return `pods/log`, as rules and messages spell it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def attributes_of(request: Request) -> Attributes:
    """Return what a request is about."""
    path = unquote(request.path) if "%" in request.path else request.path
    parts = path.strip("/").split("/")
    if len(parts) >= 3 and parts[0] == "api":
        return _of_resource(request, "", parts[1], parts[2:])
    if len(parts) >= 4 and parts[0] == "apis":
        return _of_resource(request, parts[1], parts[2], parts[3:])
    return Attributes(verb=request.method.lower(), path=path)


def _of_resource(request: Request, group: str, version: str, parts: list[str]) -> Attributes:
    verb = _VERBS.get(request.method, "")
    if parts[0] in _PREFIXED_VERBS and len(parts) > 1:
        verb, parts = parts[0], parts[1:]
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 1:
        namespace = parts[1]
        if len(parts) > 2 and parts[2] not in _NAMESPACE_PARTS:
            parts = parts[2:]
    name = parts[1] if len(parts) > 1 else ""
    if not name:
        verb = _OF_COLLECTIONS.get(verb, verb)
        if verb == "list" and request.flag("watch"):
            verb = "watch"
        if verb in ("list", "watch"):
            name = _selected_name(request)
    return Attributes(
        verb=verb,
        group=group,
        version=version,
        resource=parts[0],
        subresource=parts[2] if len(parts) > 2 and verb not in _PREFIXED_VERBS else "",
        namespace=namespace,
        name=name,
    )


def _selected_name(request: Request) -> str:
    """Return the one name that a field selector leaves."""
    if "fieldSelector" not in request.query:
        return ""
    for term in request.parameter("fieldSelector").split(","):
        field, _, value = term.partition("=")
        if field == "metadata.name":
            return value.removeprefix("=")
    return ""
