"""The ResourceQuota plug-in: what a new object adds to its namespace's quotas, and whether it may.

What is used is counted by the quota controller; a quota that nobody counted yet refuses nothing.

Source: Kubernetes documentation, "Resource Quotas".
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.domain import quantity_text
from services.simulator.core.api.frozen import thaw
from services.simulator.core.api.plugins.refusals import refused
from services.simulator.core.api.plugins.totals import Amounts
from services.simulator.core.api.plugins.usage import is_counted, usage_of
from services.simulator.core.api.resources import Resource

Object = dict[str, Any]
_STATED = ("cpu", "memory")


def charge(reader: Any, resource: Resource, obj: Object) -> list[Object]:
    """Return the quotas with their new usage; raises the 403."""
    if not resource.namespaced:
        return []
    quotas = reader.list("resourcequotas", obj["metadata"].get("namespace"))
    if not quotas:
        return []
    usage = usage_of(resource, obj, reader.sources.now())
    charged = []
    for quota in quotas:
        hard = (quota.get("status") or {}).get("hard") or {}
        if not hard or not is_counted(quota, resource, obj):
            continue
        _require_stated(resource, obj, quota, hard)
        added = {name: amount for name, amount in usage.items() if name in hard and amount != "0"}
        if added:
            charged.append(_charged(resource, obj, quota, added))
    return charged


def _require_stated(
    resource: Resource, obj: Object, quota: Object, hard: Mapping[str, str]
) -> None:
    """Refuse a pod with a container that does not say what a quota counts."""
    if resource.qualified != "pods" or (obj["spec"].get("resources") or {}):
        return
    unstated = {name: ",".join(_silent_containers(obj["spec"], name)) for name in sorted(hard)}
    told = "; ".join(f"{name} for: {who}" for name, who in unstated.items() if who)
    if told:
        why = f"failed quota: {quota['metadata']['name']}: must specify {told}"
        raise refused(resource, obj, why)


def _silent_containers(spec: Object, name: str) -> list[str]:
    side, _, plain = name.rpartition(".")
    if plain not in _STATED or side not in ("", "requests", "limits"):
        return []
    return sorted(
        container["name"]
        for container in (*spec.get("containers", ()), *spec.get("initContainers", ()))
        if plain not in (container["resources"].get(side or "requests") or {})
    )


def _charged(resource: Resource, obj: Object, quota: Object, added: Amounts) -> Object:
    changed: Object = thaw(quota)
    used, hard = changed["status"].setdefault("used", {}), changed["status"]["hard"]
    exceeded = list(_exceeded(used, hard, added))
    if exceeded:
        sides = {"requested": added, "used": used, "limited": hard}
        told = ", ".join(f"{title}: {_listed(side, exceeded)}" for title, side in sides.items())
        why = f"exceeded quota: {quota['metadata']['name']}, {told}"
        raise refused(resource, obj, why)
    for name, amount in added.items():
        used[name] = quantity_text.total(used.get(name, "0"), amount)
    return changed


def _listed(amounts: Amounts, names: list[str]) -> str:
    return ",".join(f"{name}={amounts.get(name, '0')}" for name in names)


def _exceeded(used: Amounts, hard: Amounts, added: Amounts) -> Iterator[str]:
    for name, amount in sorted(added.items()):
        total = quantity_text.total(used.get(name, "0"), amount)
        if quantity_text.value(total) > quantity_text.value(hard[name]):
            yield name
