"""The LimitRanger plug-in: default requests and limits of containers, and bounds.

Bounds are of containers, of pods as a whole, and of claims.

Source: Kubernetes documentation, "Limit Ranges".
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.domain import quantity_text
from services.simulator.core.api.plugins.refusals import refused
from services.simulator.core.api.plugins.totals import pod_totals
from services.simulator.core.api.resources import Resource

Object = dict[str, Any]
Asked = tuple[Mapping[str, str], Mapping[str, str]]
"""Requests and limits."""

_ANNOTATION = "kubernetes.io/limit-ranger"


def limit_ranger(reader: Any, resource: Resource, obj: Object) -> None:
    """Fill in defaults from the namespace's limit ranges, and refuse what is out of bounds."""
    if resource.qualified not in ("pods", "persistentvolumeclaims"):
        return
    ranges = reader.list("limitranges", obj["metadata"].get("namespace"))
    if resource.qualified == "pods":
        for limit_range in ranges:
            _fill_in(obj, limit_range)
    for limit_range in ranges:
        problems = [
            problem
            for entry in limit_range["spec"].get("limits") or ()
            for asked in _bounded(resource, obj, entry.get("type", ""))
            for problem in _out_of_bounds(asked, entry, resource.qualified == "pods")
        ]
        if problems:
            different = list(dict.fromkeys(problems))
            listing = different[0] if len(different) == 1 else f"[{', '.join(different)}]"
            raise refused(resource, obj, listing)


def _fill_in(pod: Object, limit_range: Mapping[str, Any]) -> None:
    told: list[str] = []
    spec = pod["spec"]
    for entry in limit_range["spec"].get("limits") or ():
        if entry.get("type") == "Container":
            for container in spec.get("containers") or ():
                told += _fill(container, entry, "container")
            for container in spec.get("initContainers") or ():
                told += _fill(container, entry, "init container")
    if told:
        annotations = pod["metadata"].setdefault("annotations", {})
        annotations[_ANNOTATION] = f"LimitRanger plugin set: {'; '.join(told)}"


def _fill(container: Object, entry: Mapping[str, Any], kind: str) -> Iterator[str]:
    """Fill in what a container leaves open; yield what was."""
    resources = container["resources"]
    for side, defaults in (("requests", "defaultRequest"), ("limits", "default")):
        known = resources.get(side) or {}
        missing = {
            name: amount
            for name, amount in (entry.get(defaults) or {}).items()
            if name not in known
        }
        if missing:
            resources[side] = {**known, **missing}
            yield f"{', '.join(sorted(missing))} {side[:-1]} for {kind} {container['name']}"


def _bounded(resource: Resource, obj: Object, type_: str) -> Iterator[Asked]:
    """Yield what entries of a type bound in an object."""
    spec = obj["spec"]
    if resource.qualified != "pods":
        if type_ == "PersistentVolumeClaim":
            yield spec["resources"].get("requests") or {}, {}
    elif type_ == "Container":
        for container in (*spec.get("containers", ()), *spec.get("initContainers", ())):
            resources = container["resources"]
            yield resources.get("requests") or {}, resources.get("limits") or {}
    elif type_ == "Pod":
        yield pod_totals(spec, "requests"), pod_totals(spec, "limits")


def _out_of_bounds(asked: Asked, entry: Mapping[str, Any], is_pod: bool) -> Iterator[str]:
    type_ = entry["type"]
    for name, least in (entry.get("min") or {}).items():
        yield from _below(asked, name, least, f"minimum {name} usage per {type_} is {least}")
    for name, most in (entry.get("max") or {}).items():
        head = f"maximum {name} usage per {type_} is {most}"
        yield from _above(asked, name, most, head) if is_pod else _beyond(asked, name, most, head)
    for name, most in (entry.get("maxLimitRequestRatio") or {}).items():
        head = f"{name} max limit to request ratio per {type_} is {most}"
        yield from _ratio(asked, name, most, head)


def _below(asked: Asked, name: str, least: str, head: str) -> Iterator[str]:
    requests, limits = asked
    if name not in requests:
        yield f"{head}.  No request is specified"
    elif _value(requests[name]) < _value(least):
        yield f"{head}, but request is {requests[name]}"
    elif name in limits and _value(limits[name]) < _value(least):
        yield f"{head}, but limit is {limits[name]}"


def _above(asked: Asked, name: str, most: str, head: str) -> Iterator[str]:
    requests, limits = asked
    if name not in limits:
        yield f"{head}.  No limit is specified"
    elif _value(limits[name]) > _value(most):
        yield f"{head}, but limit is {limits[name]}"
    elif name in requests and _value(requests[name]) > _value(most):
        yield f"{head}, but request is {requests[name]}"


def _beyond(asked: Asked, name: str, most: str, head: str) -> Iterator[str]:
    requests, _ = asked
    if name not in requests:
        yield f"{head}.  No request is specified"
    elif _value(requests[name]) > _value(most):
        yield f"{head}, but request is {requests[name]}"


def _ratio(asked: Asked, name: str, most: str, head: str) -> Iterator[str]:
    requests, limits = asked
    request, limit = _value(requests.get(name, "0")), _value(limits.get(name, "0"))
    if not request:
        yield f"{head}, but no request is specified or request is 0"
    elif not limit:
        yield f"{head}, but no limit is specified or limit is 0"
    elif limit / request > _value(most):
        yield f"{head}, but provided ratio is {float(limit) / float(request):f}"


_value = quantity_text.value
