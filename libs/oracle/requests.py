"""What a pod asks of a node: containers, init containers, sidecars, pod level, overhead, resizes.

Apart because the sums have more rules than the filter that compares them. A pod's containers are
added exactly and the sum is rounded up once, as kube-scheduler does.

Source: kube-scheduler's NodeResourcesFit; KEP-753 (sidecars), KEP-1287 (in-place resize), KEP-2837
(pod-level resources), KEP-688 (overhead).
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from libs.domain import quantity
from libs.domain.errors import InvalidRequest
from libs.oracle.objects import KubeObject, spec_of, status_of

Nanos = dict[str, int]
"""Resource name → exact amount in nano units, the finest that a quantity has."""

_NANO = 10**9
_SILENT = {"cpu": 100, "memory": 200 * 2**20}

_NATIVE = frozenset({"cpu", "memory", "ephemeral-storage"})


def pod_requests(pod: KubeObject, *, resized: bool) -> Mapping[str, int]:
    """Return what the pod takes: cpu in millicores, all else in whole units, zeroes left out.

    Args:
        pod: The pod as stored.
        resized: Also count what its containers were given and have now (a pod on a node).
    """
    total = _containers(pod, resized=resized)
    asked = _pod_level(spec_of(pod), total)
    total.update(_pod_level_resized(pod, asked) if resized else asked)
    _add(total, _amounts(spec_of(pod).get("overhead")))
    return _rounded(total)


def node_resources(amounts: KubeObject | None) -> dict[str, int]:
    """Return a node's allocatable or capacity in the units of `pod_requests`, with `pods`."""
    nanos = _amounts(amounts)
    return {**_rounded(nanos), "pods": _units(nanos.get("pods", 0))}


def scoring_requests(pod: KubeObject, requests: Mapping[str, int]) -> Mapping[str, int]:
    """Return cpu and memory for scoring, where a silent container counts as 100m and 200Mi.

    Source: kube-scheduler's NodeResourcesFit, so that pods without requests spread, too.
    """
    containers = [
        container.get("resources") or {} for container in spec_of(pod).get("containers") or ()
    ]
    return {
        resource: requests.get(resource, 0)
        + sum(
            amount
            for resources in containers
            if resource not in (resources.get("requests") or resources.get("limits") or {})
        )
        for resource, amount in _SILENT.items()
    }


def is_sidecar(container: KubeObject) -> bool:
    """Tell whether an init container keeps running beside the pod's containers."""
    return container.get("restartPolicy") == "Always"


def _containers(pod: KubeObject, *, resized: bool) -> Nanos:
    spec = spec_of(pod)
    statuses = _statuses(pod) if resized else {}
    infeasible = bool(statuses) and _resize_is_infeasible(pod)

    def asked(container: KubeObject) -> Nanos:
        given = statuses.get(container.get("name", ""))
        if given is None:
            return _container_requests(container)
        return _largest([given] if infeasible else [_container_requests(container), given])

    running: Nanos = {}
    for container in spec.get("containers") or ():
        _add(running, asked(container))
    sidecars: Nanos = {}
    starting: Nanos = {}
    for container in spec.get("initContainers") or ():
        if is_sidecar(container):
            _add(running, asked(container))
            _add(sidecars, asked(container))
            step = sidecars
        else:
            # An ordinary init container runs beside the sidecars that were started before it. Its
            # status is not looked at: only what runs on can be resized.
            step = _container_requests(container)
            _add(step, sidecars)
        starting = _largest([starting, step])
    return _largest([running, starting])


def _pod_level(spec: KubeObject, containers: Nanos) -> Nanos:
    """Return the amounts that replace the containers' sum; a limit stands in for no request."""
    resources = spec.get("resources") or {}
    requests = _amounts(resources.get("requests"))
    for resource, amount in _amounts(resources.get("limits")).items():
        if resource not in containers:
            requests.setdefault(resource, amount)
    return {
        resource: amount
        for resource, amount in requests.items()
        if resource in ("cpu", "memory") or resource.startswith("hugepages-")
    }


def _pod_level_resized(pod: KubeObject, asked: Nanos) -> Nanos:
    """Return the pod level's amounts once the kubelet has said what the pod was given and has."""
    status = status_of(pod)
    if status.get("resources") is None:
        return asked
    given = _largest(
        [_amounts(status["resources"].get("requests")), _amounts(status.get("allocatedResources"))]
    )
    counted = given if _resize_is_infeasible(pod) else _largest([asked, given])
    return {resource: counted.get(resource, 0) for resource in asked}


def _statuses(pod: KubeObject) -> dict[str, Nanos]:
    """Return, by container name, the larger of what was allocated and what is in force."""
    status = status_of(pod)
    listed = [
        *(status.get("containerStatuses") or ()),
        *(status.get("initContainerStatuses") or ()),
    ]
    return {
        entry.get("name", ""): _largest(
            [
                _amounts(entry["resources"].get("requests")),
                _amounts(entry.get("allocatedResources")),
            ]
        )
        for entry in listed
        if entry.get("resources") is not None
    }


def _resize_is_infeasible(pod: KubeObject) -> bool:
    return any(
        condition.get("type") == "PodResizePending" and condition.get("reason") == "Infeasible"
        for condition in status_of(pod).get("conditions") or ()
    )


def _container_requests(container: KubeObject) -> Nanos:
    resources = container.get("resources") or {}
    # The API server copies limits to missing requests; templates that it never saw have not.
    limits = resources.get("limits")
    requests = _amounts(resources.get("requests"))
    return {**_amounts(limits), **requests} if limits else requests


def _amounts(quantities: KubeObject | None) -> Nanos:
    amounts: Nanos = {}
    for resource, amount in (quantities or {}).items():
        try:
            amounts[resource] = _nanos(amount)
        except InvalidRequest as error:
            raise error.under(resource) from error
    return amounts


def _nanos(amount: object) -> int:
    if not isinstance(amount, str | int | float):
        raise InvalidRequest("not a quantity such as 500m, 2 or 1.5Gi")
    return _parse_nanos(amount)


@lru_cache(maxsize=65536)
def _parse_nanos(amount: str | int | float) -> int:
    return int(quantity.capped(amount) * _NANO)


def _millis(nanos: int) -> int:
    return -(-nanos // (_NANO // 1000))


def _units(nanos: int) -> int:
    return -(-nanos // _NANO)


def _rounded(nanos: Nanos) -> dict[str, int]:
    return {
        resource: _millis(amount) if resource == "cpu" else _units(amount)
        for resource, amount in nanos.items()
        if amount and _is_compared(resource)
    }


def _is_compared(resource: str) -> bool:
    """Tell whether the scheduler knows the resource; unprefixed strangers it ignores."""
    return (
        resource in _NATIVE
        or "/" in resource
        or resource.startswith(("hugepages-", "attachable-volumes-"))
    )


def _add(total: Nanos, amounts: Nanos) -> None:
    for resource, amount in amounts.items():
        total[resource] = total.get(resource, 0) + amount


def _largest(alternatives: Iterable[Nanos]) -> Nanos:
    largest: Nanos = {}
    for amounts in alternatives:
        for resource, amount in amounts.items():
            largest[resource] = max(largest.get(resource, amount), amount)
    return largest
