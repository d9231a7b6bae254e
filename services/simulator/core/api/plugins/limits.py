"""The LimitRanger plug-in: default requests and limits of containers, and their bounds.

Source: Kubernetes documentation, "Limit Ranges".
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.apiserver.rules.podspec import all_containers
from libs.domain import quantity_text
from services.simulator.core.api.plugins.refusals import refused
from services.simulator.core.api.resources import Resource

Object = dict[str, Any]


def limit_ranger(reader: Any, resource: Resource, pod: Object) -> None:
    """Fill in default requests and limits from the namespace's limit ranges.

    Refuse what is out of bounds.
    """
    if resource.qualified != "pods":
        return
    for limit_range in reader.list("limitranges", pod["metadata"].get("namespace")):
        for entry in limit_range["spec"].get("limits") or ():
            if entry.get("type") == "Container":
                for container in all_containers(pod["spec"]):
                    _fill(container["resources"], entry)
                problems = [
                    problem
                    for container in all_containers(pod["spec"])
                    for problem in _out_of_bounds(container["resources"], entry)
                ]
                if problems:
                    listing = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
                    raise refused(resource, pod, listing)


def _fill(resources: Object, entry: Mapping[str, Any]) -> None:
    for side, defaults in (("limits", "default"), ("requests", "defaultRequest")):
        for name, amount in (entry.get(defaults) or {}).items():
            resources.setdefault(side, {}).setdefault(name, amount)


def _out_of_bounds(resources: Mapping[str, Any], entry: Mapping[str, Any]) -> Iterator[str]:
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for name, least in (entry.get("min") or {}).items():
        if name not in requests:
            yield f"minimum {name} usage per Container is {least}. No request is specified"
        elif quantity_text.value(requests[name]) < quantity_text.value(least):
            yield f"minimum {name} usage per Container is {least}, but request is {requests[name]}"
    for name, most in (entry.get("max") or {}).items():
        if name not in limits:
            yield f"maximum {name} usage per Container is {most}. No limit is specified"
        elif quantity_text.value(limits[name]) > quantity_text.value(most):
            yield f"maximum {name} usage per Container is {most}, but limit is {limits[name]}"
