"""Taint eviction: pods leave a node whose NoExecute taint they do not tolerate, or no longer.

Source: Kubernetes documentation, "Taint based Evictions".
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.controllers import pods
from services.simulator.core.controllers.controller import Controller, itself
from services.simulator.core.feed import Index
from services.simulator.core.objects import Object, has_ended, is_deleting, with_condition
from services.simulator.core.part import earliest

Taint = Mapping[str, Any]


def taint_eviction_controller(api: DirectApi) -> Controller:
    """Return the controller that deletes pods because of NoExecute taints."""
    on_node = Index(api, "pods", lambda pod: pod["spec"].get("nodeName"))
    since: dict[str, dict[tuple[str, str], datetime]] = {}

    def reconcile(name: str, now: datetime) -> datetime | None:
        node = api.find("nodes", name)
        taints = _evicting(node) if node is not None else []
        if not taints:
            since.pop(name, None)
            return None
        seen = since.get(name, {})
        since[name] = {_key(taint): seen.get(_key(taint), now) for taint in taints}
        ends: list[datetime] = []
        for pod in on_node.of(name):
            end = None if is_deleting(pod) or has_ended(pod) else _end(pod, taints, since[name])
            if end is not None and end <= now:
                _evict(api, pod, now)
            elif end is not None:
                ends.append(end)
        return earliest(*ends)

    return Controller("tainteviction", api, {"nodes": itself, "pods": _its_node}, reconcile)


def _its_node(pod: Object) -> Iterable[str]:
    name = pod["spec"].get("nodeName")
    return (name,) if name else ()


def _evicting(node: Object) -> list[Taint]:
    return [t for t in node["spec"].get("taints") or () if t.get("effect") == "NoExecute"]


def _key(taint: Taint) -> tuple[str, str]:
    return taint.get("key", ""), taint.get("value") or ""


def _end(
    pod: Object, taints: Iterable[Taint], since: Mapping[tuple[str, str], datetime]
) -> datetime | None:
    """Return when the pod has to go, None if it may stay for ever."""
    ends = []
    for taint in taints:
        tolerating = [t for t in pod["spec"].get("tolerations") or () if tolerates(t, taint)]
        spans = [
            t["tolerationSeconds"] for t in tolerating if t.get("tolerationSeconds") is not None
        ]
        if not tolerating:
            ends.append(since[_key(taint)])
        elif spans:
            ends.append(since[_key(taint)] + timedelta(seconds=max(0, min(spans))))
    return earliest(*ends)


def tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    """Tell whether a toleration covers a NoExecute taint."""
    if toleration.get("effect") not in (None, "", "NoExecute"):
        return False
    key = toleration.get("key") or ""
    if toleration.get("operator") == "Exists":
        return key in ("", taint.get("key"))
    return bool(
        key == taint.get("key") and (toleration.get("value") or "") == (taint.get("value") or "")
    )


def _evict(api: DirectApi, pod: Object, now: datetime) -> None:
    """Say why and delete, with the pod's own grace period."""
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint",
    }
    before = list(pod["status"].get("conditions") or ())
    conditions = with_condition(before, condition, now, extra={"lastProbeTime": None})
    status = {**pod["status"], "conditions": conditions}
    api.update("pods", {**pod, "status": status}, subresource="status")
    pods.delete(api, pod)
