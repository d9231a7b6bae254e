"""HorizontalPodAutoscalers have two APIs: autoscaling/v2 is stored, autoscaling/v1 is a view.

Source: Kubernetes API reference, HorizontalPodAutoscaler v1 and v2. What the old one cannot say
(other metrics, behaviour, conditions) is left out of the view.
"""

from typing import Any

from libs.apiserver.rules import autoscaling

Object = dict[str, Any]


def from_v2(obj: Object) -> Object:
    """Return a stored autoscaler as autoscaling/v1 shows it."""
    spec = {
        name: obj["spec"][name]
        for name in ("scaleTargetRef", "minReplicas", "maxReplicas")
        if name in obj["spec"]
    }
    share = next(filter(None, map(_cpu_share, obj["spec"].get("metrics") or ())), None)
    if share is not None:
        spec["targetCPUUtilizationPercentage"] = share
    shown = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")
    found = obj.get("status") or {}
    status = {"currentReplicas": 0, "desiredReplicas": 0}
    status |= {name: found[name] for name in shown if name in found}
    return {**obj, "apiVersion": "autoscaling/v1", "spec": spec, "status": status}


def _cpu_share(metric: Object) -> int | None:
    resource = metric.get("resource") or {}
    if resource.get("name") != "cpu":
        return None
    share: int | None = (resource.get("target") or {}).get("averageUtilization")
    return share


def to_v2(obj: Object) -> Object:
    """Return an autoscaler of autoscaling/v1 as it is stored."""
    spec = autoscaling.widened(obj["spec"])
    stored = {**obj, "apiVersion": "autoscaling/v2", "spec": spec}
    autoscaling.default(stored)
    status = {"currentMetrics": None, "desiredReplicas": 0, **(obj.get("status") or {})}
    return {**stored, "status": status}
