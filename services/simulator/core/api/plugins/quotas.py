"""The ResourceQuota plug-in: what a new object adds to its namespace's quotas, and whether it may.

Source: Kubernetes documentation, "Resource Quotas". Scopes are not looked at: a quota with scopes
counts everything.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from libs.domain import quantity_text
from services.simulator.core.api.frozen import thaw
from services.simulator.core.api.plugins.refusals import refused
from services.simulator.core.api.resources import Resource

Object = dict[str, Any]
_COMPUTE = ("cpu", "memory", "ephemeral-storage")


def charge(reader: Any, resource: Resource, obj: Object) -> list[Object]:
    """Return the quotas with their new usage; raises the 403."""
    if not resource.namespaced or resource.qualified == "resourcequotas":
        return []
    charged = []
    for quota in reader.list("resourcequotas", obj["metadata"].get("namespace")):
        hard = quota["status"].get("hard") or {}
        added = {name: amount for name, amount in _usage(resource, obj).items() if name in hard}
        _require_stated(resource, obj, quota, hard)
        if added:
            charged.append(_charged(resource, obj, quota, added))
    return charged


def _usage(resource: Resource, obj: Object) -> dict[str, Decimal]:
    """Return what one object uses of every countable thing."""
    one = Decimal(1)
    usage = {f"count/{resource.qualified}": one}
    if not resource.group:
        usage[resource.plural] = one
    if resource.qualified == "pods":
        for name, amount in _pod_totals(obj["spec"], "requests").items():
            usage[f"requests.{name}"] = amount
            if name in _COMPUTE:
                usage[name] = amount
        for name, amount in _pod_totals(obj["spec"], "limits").items():
            usage[f"limits.{name}"] = amount
    if resource.qualified == "persistentvolumeclaims":
        size = obj["spec"]["resources"].get("requests", {}).get("storage", "0")
        usage["requests.storage"] = quantity_text.value(size)
    return usage


def _pod_totals(spec: Object, side: str) -> dict[str, Decimal]:
    running: dict[str, Decimal] = {}
    for container in spec.get("containers", ()):
        for name, text in container["resources"].get(side, {}).items():
            running[name] = running.get(name, Decimal(0)) + quantity_text.value(text)
    for container in spec.get("initContainers", ()):
        for name, text in container["resources"].get(side, {}).items():
            running[name] = max(running.get(name, Decimal(0)), quantity_text.value(text))
    return running


def _require_stated(resource: Resource, obj: Object, quota: Object, hard: Object) -> None:
    """Refuse a pod with a container that does not say what a quota counts."""
    if resource.qualified != "pods":
        return
    for name in sorted(hard):
        unstated = list(_silent_containers(obj["spec"], name))
        if unstated:
            quota_name = quota["metadata"]["name"]
            why = f"failed quota: {quota_name}: must specify {name} for: {','.join(unstated)}"
            raise refused(resource, obj, why)


def _silent_containers(spec: Object, name: str) -> Iterator[str]:
    side, _, plain = name.rpartition(".")
    if plain not in _COMPUTE or side not in ("", "requests", "limits"):
        return
    for container in spec.get("containers", ()):
        if plain not in container["resources"].get(side or "requests", {}):
            yield container["name"]


def _charged(resource: Resource, obj: Object, quota: Object, added: dict[str, Decimal]) -> Object:
    changed: Object = thaw(quota)
    used, hard = changed["status"].setdefault("used", {}), changed["status"]["hard"]
    exceeded = []
    for name, amount in sorted(added.items()):
        before = used.get(name, "0")
        total = quantity_text.value(before) + amount
        if total > quantity_text.value(hard[name]):
            exceeded.append((name, _text(amount), before, hard[name]))
        used[name] = _text(total)
    if exceeded:
        requested, spent, limited = (
            ",".join(f"{entry[0]}={entry[column]}" for entry in exceeded) for column in (1, 2, 3)
        )
        quota_name = quota["metadata"]["name"]
        why = (
            f"exceeded quota: {quota_name}, requested: {requested}, "
            f"used: {spent}, limited: {limited}"
        )
        raise refused(resource, obj, why)
    return changed


def _text(amount: Decimal) -> str:
    return quantity_text.canonical(format(amount, "f"))
