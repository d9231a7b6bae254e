"""What every namespace is given: an account to ask by, and whom to trust.

Source: Kubernetes documentation, "Managing Service Accounts": ServiceAccount controller; "Service
accounts": the `kube-root-ca.crt` ConfigMap.
"""

from collections.abc import Iterable
from datetime import datetime

from services.simulator.core.client import Client
from services.simulator.core.controllers.controller import Concerns, Controller, itself
from services.simulator.core.objects import Object, is_deleting

ACCOUNT = "default"
AUTHORITY = "kube-root-ca.crt"
NO_AUTHORITY = "# The API is served without TLS: there is nobody to trust.\n"

_ACCOUNTS, _MAPS = "serviceaccounts", "configmaps"


def account_controller(client: Client, authority: str = "") -> Controller:
    """Return the controller that keeps both in every namespace.

    Args:
        client: of the cluster.
        authority: certificate (PEM) that vouches for the API; empty for none.
    """
    api = client.api
    certificate = authority or NO_AUTHORITY

    def reconcile(name: str, _now: datetime) -> None:
        namespace = api.find("namespaces", name)
        if namespace is None or is_deleting(namespace):
            return
        if api.find(_ACCOUNTS, ACCOUNT, name) is None:
            api.create(_ACCOUNTS, {"metadata": {"name": ACCOUNT, "namespace": name}})
        found = api.find(_MAPS, AUTHORITY, name)
        wanted = {"ca.crt": certificate}
        if found is None:
            meta = {"name": AUTHORITY, "namespace": name}
            api.create(_MAPS, {"metadata": meta, "data": wanted})
        elif found.get("data") != wanted:
            api.update(_MAPS, {**found, "data": wanted})

    sources = {
        "namespaces": itself,
        _ACCOUNTS: _namespace_of(ACCOUNT),
        _MAPS: _namespace_of(AUTHORITY),
    }
    return Controller("accounts", client, sources, reconcile)


def _namespace_of(name: str) -> Concerns:
    def concerns(obj: Object) -> Iterable[str]:
        meta = obj["metadata"]
        return (meta["namespace"],) if meta["name"] == name else ()

    return concerns
