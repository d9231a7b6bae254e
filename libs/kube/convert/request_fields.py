"""Which fields the requests of a pod come from, and what it would ask for without each.

Apart because only explanations ask: whoever is told to ask for less has to know which field counts.
Fields are found by emptying each and summing anew, so that no rule of the sum is stated twice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from msgspec.structs import replace

from libs.domain import quantity
from libs.domain.pod import RequestField
from libs.domain.resources import CPU, Resources
from libs.kube.convert.requests import pod_requests
from libs.kube.objects.metadata import Quantities
from libs.kube.objects.pod import Container, ContainerStatus, Pod, ResourceRequirements

_Item = TypeVar("_Item")

_CONTAINERS = {"containers": "containers", "init_containers": "initContainers"}
_STATUSES = {
    "container_statuses": "containerStatuses",
    "init_container_statuses": "initContainerStatuses",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A field with amounts by resource, and the pod as it would be if there were none."""

    field: str
    amounts: Mapping[str, int]
    without: Pod


def request_fields(pod: Pod, requests: Resources) -> tuple[RequestField, ...]:
    """Return the fields that each resource comes from, sorted; empty if containers ask for all.

    Listed is what counts: less there, and the pod asks for less; where steps ask for equally much,
    so that no field counts alone, all are. Plain containers alone are not told apart: pods that ask
    for the same by one or by two share a shape.

    Args:
        pod: the pod; `pod_requests` accepts it.
        requests: what it asks for.
    """
    if _is_plain(pod):
        return ()
    there = []
    for part in _parts(_asking(pod, requests)):
        rest = pod_requests(part.without)
        there += [
            RequestField(resource=name, field=part.field, amount=amount, without=rest.get(name))
            for name, amount in part.amounts.items()
            if amount and requests.get(name)
        ]
    found: list[RequestField] = []
    for name in requests:
        mine = [one for one in there if one.resource == name]
        alone = [one for one in mine if one.without < requests.get(name)]
        if any(not one.field.startswith("spec.containers[") for one in alone or mine):
            found += alone or mine
    return tuple(sorted(found))


def _is_plain(pod: Pod) -> bool:
    """Tell whether a pod surely asks for what its containers ask for."""
    spec = pod.spec
    if spec.init_containers or spec.resources or spec.overhead:
        return False
    return not (spec.node_name and pod.status.container_statuses)


def _asking(pod: Pod, requests: Resources) -> Pod:
    """Return the pod without what it was given, if that is no more than it asks for."""
    asking = replace(pod, spec=replace(pod.spec, node_name=""))
    return asking if pod_requests(asking) == requests else pod


def _parts(pod: Pod) -> Iterator[_Part]:
    spec = pod.spec
    for name, path in _CONTAINERS.items():
        containers: tuple[Container, ...] = getattr(spec, name)
        for index, one in enumerate(containers):
            amounts = _amounts(one.resources.limits) | _amounts(one.resources.requests)
            # Kept by name: a limit of the pod stands in for what no container names.
            nothing = ResourceRequirements(requests=dict.fromkeys(amounts, "0"))
            rest = _with(containers, index, replace(one, resources=nothing))
            yield _Part(
                field=f"spec.{path}[{index}].resources.requests",
                amounts=amounts,
                without=replace(pod, spec=replace(spec, **{name: rest})),
            )
    if spec.resources is not None:
        asked = _amounts(spec.resources.limits) | _amounts(spec.resources.requests)
        given = _pod_was_given(pod)
        yield _Part(
            field="spec.resources.requests",
            amounts={name: one for name, one in asked.items() if one >= given.get(name, 0)},
            without=replace(pod, spec=replace(spec, resources=None)),
        )
    if spec.overhead:
        runtime = spec.runtime_class_name
        yield _Part(
            field=f"RuntimeClass/{runtime}.overhead.podFixed" if runtime else "spec.overhead",
            amounts=_amounts(spec.overhead),
            without=replace(pod, spec=replace(spec, overhead={})),
        )
    if spec.node_name:
        yield from _given(pod)


def _given(pod: Pod) -> Iterator[_Part]:
    """Yield what a pod on a node was given and has, which a resize is yet to change."""
    status = pod.status
    for name, path in _STATUSES.items():
        statuses: tuple[ContainerStatus, ...] = getattr(status, name)
        for index, one in enumerate(statuses):
            if one.resources is None:
                continue
            nothing = replace(one, resources=ResourceRequirements(), allocated_resources={})
            rest = _with(statuses, index, nothing)
            yield _Part(
                field=f"status.{path}[{index}].resources.requests",
                amounts=_largest(one.resources.requests, one.allocated_resources),
                without=replace(pod, status=replace(status, **{name: rest})),
            )
    if status.resources is not None:
        none = replace(status, resources=ResourceRequirements(), allocated_resources={})
        yield _Part(
            field="status.resources.requests",
            amounts=_pod_was_given(pod),
            without=replace(pod, status=none),
        )


def _pod_was_given(pod: Pod) -> dict[str, int]:
    status = pod.status
    if status.resources is None or not pod.spec.node_name:
        return {}
    return _largest(status.resources.requests, status.allocated_resources)


def _with(many: tuple[_Item, ...], index: int, one: _Item) -> tuple[_Item, ...]:
    return *many[:index], one, *many[index + 1 :]


def _largest(has: Quantities, allocated: Quantities) -> dict[str, int]:
    left, right = _amounts(has), _amounts(allocated)
    return {
        name: max(left.get(name, 0), right.get(name, 0)) for name in dict.fromkeys((*left, *right))
    }


def _amounts(quantities: Quantities) -> dict[str, int]:
    return {
        name: quantity.millicores(text) if name == CPU else quantity.units(text)
        for name, text in quantities.items()
    }
