"""Discovery: which groups, versions and resources are served.

In the plain documents and in the aggregated one.

Source: Kubernetes documentation, "The Kubernetes API": discovery API, aggregated discovery.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from services.simulator.core.api import errors, health
from services.simulator.core.api.access.review_kinds import REVIEWS
from services.simulator.core.api.messages import JSON, Request, Response, to_json
from services.simulator.core.api.negotiation import wants_aggregated_discovery
from services.simulator.core.api.resources import Catalogue, Resource
from services.simulator.core.api.routing import BUILTIN_GROUPS

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
VERSION = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.2+joiner.simulator",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "none",
    "compiler": "python",
    "platform": "linux/amd64",
}
_STATUS_VERBS = ["get", "patch", "update"]
_CONNECT = ["create", "get"]
_PROXY = ["create", "delete", "get", "patch", "update"]

_SUBRESOURCES: dict[str, dict[str, Any]] = {
    "pods/attach": {"kind": "PodAttachOptions", "verbs": _CONNECT},
    "pods/binding": {"kind": "Binding", "verbs": ["create"]},
    "pods/eviction": {"group": "policy", "version": "v1", "kind": "Eviction", "verbs": ["create"]},
    "pods/exec": {"kind": "PodExecOptions", "verbs": _CONNECT},
    "pods/log": {"kind": "Pod", "verbs": ["get"]},
    "pods/portforward": {"kind": "PodPortForwardOptions", "verbs": _CONNECT},
    "pods/proxy": {"kind": "PodProxyOptions", "verbs": _PROXY},
    "nodes/proxy": {"kind": "NodeProxyOptions", "verbs": _PROXY},
    "services/proxy": {"kind": "ServiceProxyOptions", "verbs": _PROXY},
    "namespaces/finalize": {"kind": "Namespace", "verbs": ["update"]},
    "serviceaccounts/token": {
        "group": "authentication.k8s.io",
        "version": "v1",
        "kind": "TokenRequest",
        "verbs": ["create"],
    },
}
_SCALE = {"group": "autoscaling", "version": "v1", "kind": "Scale", "verbs": _STATUS_VERBS}

_VIRTUAL: Mapping[str, list[dict[str, Any]]] = {
    "v1": [
        {
            "name": "bindings",
            "singularName": "binding",
            "namespaced": True,
            "kind": "Binding",
            "verbs": ["create"],
        },
        {
            "name": "componentstatuses",
            "singularName": "componentstatus",
            "namespaced": False,
            "kind": "ComponentStatus",
            "verbs": ["get", "list"],
            "shortNames": ["cs"],
        },
    ],
}
"""Resources that answer without storing anything."""


def answer(catalogue: Catalogue, request: Request) -> Response | None:
    """Return a discovery document, None if the path is none; raises 404, 405."""
    path = request.path.rstrip("/")
    if path in ("", "/index.html"):
        return Response(body=to_json({"paths": list(_all_paths(catalogue))}))
    check = health.answer(request, path)
    if check is not None:
        return check
    document, media_type = _document(catalogue, request, path)
    if document is None:
        _refuse_unknown_version(path)
        return None
    if request.method != "GET" and document.get("kind") != "APIGroup":
        raise errors.method_not_allowed()
    return Response(body=to_json(document), content_type=media_type)


def _document(
    catalogue: Catalogue, request: Request, path: str
) -> tuple[dict[str, Any] | None, str]:
    accept = request.headers.get("accept", "")
    if path in ("/api", "/apis") and wants_aggregated_discovery(accept):
        return _aggregated(catalogue, core=path == "/api"), AGGREGATED
    if path == "/version":
        return VERSION, JSON
    if path == "/api":
        return _core_versions(), JSON
    if path == "/apis":
        groups = [_group(name, versions) for name, versions in _groups(catalogue).items() if name]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}, JSON
    return _group_or_version(catalogue, path), JSON


def _refuse_unknown_version(path: str) -> None:
    """Raise the 404 of a version that a built-in group does not have."""
    match path.split("/")[1:]:
        case ["api", *_]:
            raise errors.no_such_resource()
        case ["apis", group, _] if group in BUILTIN_GROUPS:
            raise errors.no_such_resource()


def _all_paths(catalogue: Catalogue) -> Iterator[str]:
    yield from ("/api", "/api/v1", "/apis", "/apis/")
    for group, versions in sorted(_groups(catalogue).items()):
        if group:
            yield f"/apis/{group}"
            yield from (f"/apis/{group}/{version}" for version in versions)
    yield from health.PATHS
    yield from ("/openapi/v2", "/openapi/v3", "/openapi/v3/", "/version")


def _core_versions() -> dict[str, Any]:
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:36443"}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def _groups(catalogue: Catalogue) -> dict[str, list[str]]:
    groups = catalogue.group_versions()
    for group_version in dict.fromkeys((*_VIRTUAL, *(one.group_version for one in REVIEWS))):
        group, _, version = group_version.rpartition("/")
        if version not in groups.setdefault(group, []):
            groups[group].append(version)
    return groups


def _group(name: str, versions: list[str]) -> dict[str, Any]:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _group_or_version(catalogue: Catalogue, path: str) -> dict[str, Any] | None:
    groups = _groups(catalogue)
    match path.split("/")[1:]:
        case ["api", version] if version in groups[""]:
            return _version(catalogue, "", version)
        case ["apis", group] if group in groups:
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, groups[group])}
        case ["apis", group, version] if version in groups.get(group, ()):
            return {"apiVersion": "v1", **_version(catalogue, group, version)}
    return None


def _version(catalogue: Catalogue, group: str, version: str) -> dict[str, Any]:
    group_version = f"{group}/{version}" if group else version
    resources = list(_VIRTUAL.get(group_version, ()))
    for resource in (*REVIEWS, *catalogue):
        if resource.group == group and resource.version == version:
            resources += _entries(resource)
    resources.sort(key=lambda entry: entry["name"])
    return {"kind": "APIResourceList", "groupVersion": group_version, "resources": resources}


def _entries(resource: Resource) -> Iterator[dict[str, Any]]:
    entry: dict[str, Any] = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    yield entry
    for subresource in sorted(resource.subresources):
        name = f"{resource.plural}/{subresource}"
        head = {"name": name, "singularName": "", "namespaced": resource.namespaced}
        yield {**head, **_subresource(resource, subresource)}


def _subresource(resource: Resource, subresource: str) -> dict[str, Any]:
    if subresource == "scale":
        return _SCALE
    found = _SUBRESOURCES.get(f"{resource.plural}/{subresource}")
    return found or {"kind": resource.kind, "verbs": _STATUS_VERBS}


def _aggregated(catalogue: Catalogue, *, core: bool) -> dict[str, Any]:
    items = []
    for group, versions in _groups(catalogue).items():
        if (group == "") is core:
            listed = [_aggregated_version(catalogue, group, version) for version in versions]
            items.append({"metadata": {"name": group} if group else {}, "versions": listed})
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    }


def _aggregated_version(catalogue: Catalogue, group: str, version: str) -> dict[str, Any]:
    resources: list[dict[str, Any]] = []
    for entry in _version(catalogue, group, version)["resources"]:
        name, _, subresource = entry["name"].partition("/")
        kind = {
            "group": entry.get("group", ""),
            "version": entry.get("version", ""),
            "kind": entry["kind"],
        }
        if subresource:
            described = {"subresource": subresource, "responseKind": kind, "verbs": entry["verbs"]}
            resources[-1].setdefault("subresources", []).append(described)
            continue
        described = {
            "resource": name,
            "responseKind": kind,
            "scope": "Namespaced" if entry["namespaced"] else "Cluster",
            "singularResource": entry["singularName"],
            "verbs": entry["verbs"],
        }
        described.update({key: entry[key] for key in ("shortNames", "categories") if key in entry})
        resources.append(described)
    return {"version": version, "resources": resources, "freshness": "Current"}
