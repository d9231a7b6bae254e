"""What the roles of `deploy/` grant to a service, judged by the simulator's RBAC authorizer.

So that a service that asks for more than its manifest grants fails in a test and not in a cluster.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

from services.simulator.core.api.access.attributes import attributes_of
from services.simulator.core.api.access.rbac import Rbac
from services.simulator.core.api.access.users import AUTHENTICATED, User, account_name
from services.simulator.core.api.messages import Request
from services.simulator.core.api.newborn import Sources
from services.simulator.core.api.store import Store

_PLURALS = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "Role": "roles",
    "RoleBinding": "rolebindings",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What somebody may do."""

    user: User
    rbac: Rbac

    def permit(self, method: str, path: str, query: Mapping[str, str] | None = None) -> bool:
        """Return whether some rule permits the request; discovery is permitted to all."""
        values = {name: (value,) for name, value in (query or {}).items()}
        asked = attributes_of(Request(method=method, path=path, query=values))
        return bool(asked.path) or self.rbac.authorize(self.user, asked).allowed


def rights_of(account: str, objects: Iterable[Mapping[str, Any]]) -> Rights:
    """Return what the roles among `objects` grant to a service account of their namespace."""
    numbers = count()
    now = datetime(2030, 1, 1, tzinfo=UTC)
    sources = Sources(now=lambda: now, uids=lambda: str(next(numbers)), suffixes=lambda: "00000")
    store = Store(sources)
    namespace = ""
    for one in objects:
        plural, place = _PLURALS.get(one["kind"]), one["metadata"].get("namespace", "")
        if one["kind"] == "ServiceAccount" and one["metadata"]["name"] == account:
            namespace = place
        if plural is None:
            continue
        if place and store.find("namespaces", place) is None:
            store.create("namespaces", {"metadata": {"name": place}})
        store.create(f"{plural}.rbac.authorization.k8s.io", dict(one), place)
    user = User(name=account_name(namespace, account), groups=(AUTHENTICATED,))
    return Rights(user=user, rbac=Rbac(store.storage))
