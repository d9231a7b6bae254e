"""Cluster roles that are the sum of others, chosen by labels.

Source: Kubernetes documentation, "Using RBAC Authorization": aggregated ClusterRoles.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from libs.apiserver.labels import selects_labels
from services.simulator.core.api.access.rbac import CLUSTER_ROLES
from services.simulator.core.client import Client
from services.simulator.core.controllers.controller import Controller
from services.simulator.core.objects import Object

_ALL = "all"


def role_aggregation_controller(client: Client) -> Controller:
    """Return the controller that keeps the rules of aggregating cluster roles."""
    api = client.api

    def whoever_aggregates(_role: Object) -> Iterable[str]:
        return (_ALL,)

    def reconcile(_key: str, _now: datetime) -> None:
        roles = api.list(CLUSTER_ROLES)
        for role in roles:
            if "aggregationRule" not in role:
                continue
            rules = _sum(role, roles)
            if rules != list(role.get("rules") or ()):
                api.patch(CLUSTER_ROLES, role["metadata"]["name"], {"rules": rules})

    return Controller("roleaggregation", client, {CLUSTER_ROLES: whoever_aggregates}, reconcile)


def _sum(role: Object, roles: Iterable[Object]) -> list[Any]:
    """Return the different rules of the chosen roles, selector by selector, by name."""
    found: list[Any] = []
    for selector in role["aggregationRule"].get("clusterRoleSelectors") or ():
        selects = selects_labels(selector)
        for other in roles:
            if other is role or not selects(other["metadata"].get("labels", {})):
                continue
            found += [rule for rule in other.get("rules") or () if rule not in found]
    return found
