"""What a new object needs and gets before it is judged: its namespace, a name, an identity.

Beside it the objects that every cluster begins with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.simulator.core.api import errors
from services.simulator.core.api.builtin import BUILTIN
from services.simulator.core.api.placement import key_of
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.storage import Storage

Object = dict[str, Any]
_NAMESPACES = next(one for one in BUILTIN if one.qualified == "namespaces")
_SET_BY_SERVER = ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation")
_NAME_TRIES = 8
FIRST_NAMESPACES = ("kube-system", "kube-public", "default", "kube-node-lease")

FIRST_PRIORITIES = (
    (
        "system-node-critical",
        2000001000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2000000000,
        "Used for system critical pods that must run in the cluster, but can be moved to another "
        "node "
        "if necessary.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What the store needs from outside: time and identifiers."""

    now: Callable[[], datetime]
    uids: Callable[[], str]
    suffixes: Callable[[], str]
    """Makes the five characters after a generateName."""


def require_namespace(storage: Storage, resource: Resource, meta: Object) -> None:
    """Raise the 404 of a namespace that is not there, the 403 of one that ends."""
    if not resource.namespaced:
        return
    name = meta["namespace"]
    found = storage.read("namespaces", name)
    if found is None:
        raise errors.not_found(_NAMESPACES, name)
    if "deletionTimestamp" in found.object["metadata"]:
        why = f"unable to create new content in namespace {name} because it is being terminated"
        error = errors.forbidden(resource, meta.get("name", ""), why)
        assert error.details is not None
        error.details["causes"] = [
            {
                "reason": "NamespaceTerminating",
                "message": f"namespace {name} is being terminated",
                "field": "metadata.namespace",
            }
        ]
        raise error


def stamp(
    storage: Storage, sources: Sources, resource: Resource, meta: Object, timestamp: str
) -> None:
    """Set what the server alone says of a new object, and a name where only its begin is given."""
    for name in _SET_BY_SERVER:
        meta.pop(name, None)
    meta["uid"] = sources.uids()
    meta["creationTimestamp"] = timestamp
    if not meta.get("name") and meta.get("generateName"):
        meta["name"] = _generate_name(storage, sources, resource, meta)


def _generate_name(storage: Storage, sources: Sources, resource: Resource, meta: Object) -> str:
    """Return a name with the wanted prefix, a free one if a few tries find one."""
    name = ""
    for _try in range(_NAME_TRIES):
        name = meta["generateName"][:58] + sources.suffixes()
        key = key_of(resource, name, meta.get("namespace", ""))
        if storage.read(resource.bucket, key) is None:
            break
    return name
