"""Nobody grants what they do not have: who writes roles and bindings is looked at once more.

Source: Kubernetes documentation, "Using RBAC Authorization": privilege escalation prevention and
bootstrapping.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from services.simulator.core.api import errors
from services.simulator.core.api.access import policy
from services.simulator.core.api.access.attributes import Attributes
from services.simulator.core.api.access.rbac import GROUP, Rbac, role_place
from services.simulator.core.api.access.users import User
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.storage import Storage

Object = dict[str, Any]
Stored = Mapping[str, Any]

_OF_THE_COLLECTOR = ("ownerReferences", "finalizers", "managedFields", "resourceVersion")
_AGGREGATES = "must have cluster-admin privileges to use the aggregationRule"


class Escalation:
    """The guard of a store's roles and bindings."""

    def __init__(self, storage: Storage, rbac: Rbac) -> None:
        self._storage = storage
        self._rbac = rbac

    def __call__(self, resource: Resource, new: Object, old: Stored | None, user: User) -> None:
        """Raise the 403 of a write that would grant more than its writer has."""
        if resource.group != GROUP or user.is_master or _is_only_collected(new, old):
            return
        if resource.plural in ("roles", "clusterroles"):
            self._check_role(resource, new, old, user)
        else:
            self._check_binding(resource, new, user)

    def _check_role(self, resource: Resource, new: Object, old: Stored | None, user: User) -> None:
        namespace = new["metadata"].get("namespace", "")
        asked = Attributes(
            verb="escalate",
            group=GROUP,
            resource=resource.plural,
            namespace=namespace,
            name=new["metadata"].get("name", "") if old is not None else "",
        )
        if self._rbac.authorize(user, asked).allowed:
            return
        self._require(resource, new, user, new.get("rules") or ())
        aggregates = "aggregationRule" in new or "aggregationRule" in (old or {})
        if aggregates and self._missing(user, "", policy.EVERYTHING):
            raise errors.forbidden(resource, new["metadata"].get("name", ""), _AGGREGATES)

    def _check_binding(self, resource: Resource, new: Object, user: User) -> None:
        namespace, reference = new["metadata"].get("namespace", ""), new["roleRef"]
        plural = {"Role": "roles", "ClusterRole": "clusterroles"}.get(reference["kind"])
        if plural is None:
            raise errors.internal(f'unsupported role reference kind: "{reference["kind"]}"')
        asked = Attributes(
            verb="bind",
            group=reference["apiGroup"],
            resource=plural,
            namespace=namespace,
            name=reference["name"],
        )
        if self._rbac.authorize(user, asked).allowed:
            return
        bucket, key = role_place(reference, namespace)
        role = self._storage.read(bucket, key)
        if role is None:
            raise errors.not_found(resource, reference["name"])
        self._require(resource, new, user, role.object.get("rules") or ())

    def _require(
        self, resource: Resource, new: Object, user: User, rules: Sequence[policy.Rule]
    ) -> None:
        missing = self._missing(user, new["metadata"].get("namespace", ""), rules)
        if missing:
            lines = "\n".join(policy.described(missing))
            who = f'user "{user.name}" (groups={policy.quoted(user.groups)})'
            why = f"{who} is attempting to grant RBAC permissions not currently held:\n{lines}"
            raise errors.forbidden(resource, new["metadata"].get("name", ""), why)

    def _missing(
        self, user: User, namespace: str, rules: Sequence[policy.Rule]
    ) -> list[policy.Rule]:
        owned = [rule for grant in self._rbac.grants(user, namespace) for rule in grant.rules]
        return policy.uncovered(owned, rules)


def _is_only_collected(new: Stored, old: Stored | None) -> bool:
    """Tell whether a write changes nothing but what the garbage collector changes."""
    return old is not None and _kept(new) == _kept(old)


def _kept(obj: Stored) -> dict[str, Any]:
    meta = {key: value for key, value in obj["metadata"].items() if key not in _OF_THE_COLLECTOR}
    return {**obj, "metadata": meta}
