"""Kubernetes' authorization by roles, as far as `deploy/` uses it: may this request be made?

So that a service that asks for more than its manifest grants fails in a test and not in a cluster.

Source: Kubernetes' documentation of RBAC; a list or watch of one name is a field selector on it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_PATH = re.compile(
    r"^/(?:api|apis/(?P<group>[^/]+))/v\w+"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/[^/]))?"
    r"/(?P<plural>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<sub>.+))?)?$"
)
_ON_COLLECTIONS = {"POST": "create", "DELETE": "deletecollection"}
_ON_OBJECTS = {
    "GET": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """Rules that hold everywhere, and rules that hold in a namespace only."""

    everywhere: tuple[Mapping[str, Any], ...]
    in_a_namespace: tuple[Mapping[str, Any], ...]

    def permit(self, method: str, path: str, query: Mapping[str, str] | None = None) -> bool:
        """Return whether some rule permits the request; discovery is permitted to all."""
        asked = _PATH.match(path)
        if asked is None:
            return True
        rules = self.everywhere + (self.in_a_namespace if asked["namespace"] else ())
        name = asked["name"] or _selected(query or {})
        wanted = _Wanted(
            group=asked["group"] or "",
            resource=f"{asked['plural']}/{asked['sub']}" if asked["sub"] else asked["plural"],
            verb=_verb(method, bool(asked["name"]), query or {}),
            name="" if method == "POST" and not asked["sub"] else name,
        )
        return any(wanted.is_granted_by(rule) for rule in rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    group: str
    resource: str
    verb: str
    name: str

    def is_granted_by(self, rule: Mapping[str, Any]) -> bool:
        names = rule.get("resourceNames")
        return (
            self.group in rule["apiGroups"]
            and self.resource in rule["resources"]
            and self.verb in rule["verbs"]
            and (names is None or self.name in names)
        )


def rights_of(account: str, objects: Iterable[Mapping[str, Any]]) -> Rights:
    """Return what the roles among `objects` grant to a service account."""
    found = {(one["kind"], one["metadata"]["name"]): one for one in objects}
    granted: dict[str, list[Mapping[str, Any]]] = {"ClusterRole": [], "Role": []}
    for (kind, _), binding in found.items():
        role = kind.removesuffix("Binding")
        if kind == role or role not in granted:
            continue
        if any(one["name"] == account for one in binding["subjects"]):
            granted[role] += found[role, binding["roleRef"]["name"]]["rules"]
    return Rights(everywhere=tuple(granted["ClusterRole"]), in_a_namespace=tuple(granted["Role"]))


def _verb(method: str, is_object: bool, query: Mapping[str, str]) -> str:
    if is_object:
        return _ON_OBJECTS[method]
    if method == "GET":
        return "watch" if query.get("watch") in ("1", "true") else "list"
    return _ON_COLLECTIONS[method]


def _selected(query: Mapping[str, str]) -> str:
    name: str = query.get("fieldSelector", "").partition("metadata.name=")[2]
    return name
