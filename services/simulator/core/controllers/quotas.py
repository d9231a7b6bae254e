"""What is used of each ResourceQuota: counted anew when something that it counts goes or changes.

What is added is charged at creation, by the plug-in; here it is only found when a quota is new.

Source: Kubernetes documentation, "Resource Quotas".
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.plugins.totals import Amounts, add
from services.simulator.core.api.plugins.usage import is_counted, usage_of
from services.simulator.core.api.resources import Catalogue, Resource
from services.simulator.core.client import Client, Subscription
from services.simulator.core.feed import Change
from services.simulator.core.objects import Object, key_of
from services.simulator.core.part import Outcome, Refusal

_QUOTAS = "resourcequotas"
_PODS = ("pods", "cpu", "memory", "ephemeral-storage", "requests.", "limits.", "hugepages-")
_LATER = timedelta(seconds=30)
"""When pods are looked at again whose grace period may be over."""


class QuotaController:
    """Counts for every quota of a cluster."""

    name = "quota"

    def __init__(self, client: Client, catalogue: Catalogue) -> None:
        self._client = client
        self._api: DirectApi = client.api
        self._catalogue = catalogue
        self._quotas = client.subscribe(_QUOTAS)
        self._followed: dict[str, Subscription] = {}
        self._dirty: set[str] = set()

    def step(self, now: datetime) -> Outcome:
        """Count what changed."""
        for change in self._quotas.changes():
            if change.new is not None:
                self._take(change)
        namespaces = {quota["metadata"]["namespace"] for quota in self._quotas.objects.values()}
        for subscription in self._followed.values():
            touched = set(_touched(subscription.changes()))
            for key, quota in self._quotas.objects.items():
                if quota["metadata"]["namespace"] in touched:
                    self._dirty.add(key)
        refusals = list(self._count_all(now))
        return Outcome(again=now + _LATER if namespaces else None, refusals=tuple(refusals))

    def _take(self, change: Change) -> None:
        """Follow what a quota counts, and count where its bounds or scopes are new."""
        quota = change.new
        assert quota is not None
        for resource in self._counted(quota):
            if resource.qualified not in self._followed:
                self._followed[resource.qualified] = self._client.subscribe(resource.qualified)
        if change.old is None or change.old["spec"] != quota["spec"] or not _is_filled(quota):
            self._dirty.add(key_of(quota))

    def _count_all(self, now: datetime) -> Iterator[Refusal]:
        waiting, self._dirty = sorted(self._dirty), set()
        for key in waiting:
            quota = self._quotas.objects.get(key)
            if quota is None:
                continue
            try:
                self._count(quota, now)
            except ApiError as error:
                self._dirty.add(key)
                yield Refusal(key, error)

    def _count(self, quota: Object, now: datetime) -> None:
        meta, hard = quota["metadata"], dict(quota["spec"].get("hard") or {})
        used: Amounts = dict.fromkeys(hard, "0")
        for resource in self._counted(quota):
            for obj in self._api.list(resource.qualified, meta["namespace"]):
                if is_counted(quota, resource, obj):
                    amounts = usage_of(resource, obj, now)
                    add(used, {name: amounts[name] for name in amounts if name in hard})
        status = {"hard": hard, "used": used}
        if quota.get("status") != status:
            self._api.update(_QUOTAS, {**quota, "status": status}, subresource="status")

    def _counted(self, quota: Object) -> Iterable[Resource]:
        """Return the resources that a quota's bounds are about."""
        names = dict.fromkeys(_resource_of(name) for name in quota["spec"].get("hard") or ())
        found = (self._catalogue.named(name) for name in names)
        return [resource for resource in found if resource is not None and resource.namespaced]


def _resource_of(bound: str) -> str:
    """Return the resource that uses up a bound (`requests.cpu` → `pods`)."""
    if bound.startswith("count/"):
        return bound.removeprefix("count/")
    if bound.endswith((".storageclass.storage.k8s.io/requests.storage", "/persistentvolumeclaims")):
        return "persistentvolumeclaims"
    if bound == "requests.storage":
        return "persistentvolumeclaims"
    if bound.endswith(".deviceclass.resource.k8s.io/devices"):
        return "resourceclaims.resource.k8s.io"
    if bound.startswith("services."):
        return "services"
    return "pods" if bound.startswith(_PODS) else bound


def _touched(changes: Iterable[Change]) -> Iterator[str]:
    """Yield the namespaces in which something went or uses something else now."""
    for change in changes:
        if change.old is None:
            continue
        old, new = change.old, change.new
        if new is None or _weight(old) != _weight(new):
            yield old["metadata"]["namespace"]


def _weight(obj: Object) -> tuple[Any, ...]:
    meta, status = obj["metadata"], obj.get("status") or {}
    return obj.get("spec"), status.get("phase"), meta.get("deletionTimestamp")


def _is_filled(quota: Object) -> bool:
    status = quota.get("status") or {}
    return bool(status.get("hard") == (quota["spec"].get("hard") or {}))
