"""What a pod asks of a node: its effective requests and the ports it takes.

Apart because the sum has more rules than all other fields together. Amounts are added exactly and
rounded up once, at the end.

Source: Kubernetes documentation, "Resource Management for Pods and Containers", "Sidecar
Containers", "Pod Overhead", "Resize CPU and Memory Resources"; KEP-2837 for resources of the pod.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

from libs.domain import quantity
from libs.domain.errors import InvalidRequest
from libs.domain.labels import qualified_name_problem
from libs.domain.pod import HostPort
from libs.domain.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources
from libs.kube.objects.metadata import Quantities
from libs.kube.objects.pod import Container, ContainerStatus, Pod, PodSpec, ResourceRequirements

_Amounts = dict[str, Fraction]

_ALWAYS = "Always"
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_PREFIXES = ("hugepages-", "attachable-volumes-")
_SMALL = quantity.MOST // 1000
"""No amount of up to this is too much, whatever its unit."""
_EVERY_ADDRESS = "0.0.0.0"


def pod_requests(pod: Pod) -> Resources:
    """Return what the pod takes on a node; `pods` is 1.

    A pod on a node takes the largest of what its containers ask for, were given and have, and so
    does the pod as a whole; where its resize is infeasible, what is asked for does not count.

    Raises:
        InvalidRequest: a bad resource name, a bad or negative quantity, one or a sum beyond
            `quantity.MOST`.
    """
    spec = pod.spec
    given = _given(pod) if spec.node_name else {}
    infeasible = bool(spec.node_name) and _resize_is_infeasible(pod)
    total = _of_containers(spec, given, infeasible=infeasible)
    total.update(_resized(_of_the_pod(spec.resources, total), pod, infeasible=infeasible))
    _add(total, _amounts(spec.overhead, "spec.overhead"))
    amounts = _rounded(total)
    for name, amount in amounts.items():
        if amount > quantity.MOST:
            why = f"asks for {amount} of {name} in all, beyond the most that is counted, 2^60-1"
            raise InvalidRequest(why, field="spec")
    return Resources({**amounts, PODS: 1})


def host_ports(spec: PodSpec) -> tuple[HostPort, ...]:
    """Return the ports that the pod takes on its node, sorted, each once.

    Sidecars count as kube-scheduler counts them. On the host's network a port without `hostPort` is
    taken too, as the API server writes it down when the pod is created.

    Raises:
        InvalidRequest: a number that is no port, a protocol or an address that there is not.
    """
    found = set()
    for path, container in _lasting(spec):
        for index, port in enumerate(container.ports):
            number = port.host_port or (port.container_port if spec.host_network else 0)
            if not 0 <= number <= 65535:
                raise InvalidRequest(
                    f"{number} is not a port", field=f"{path}.ports[{index}].hostPort"
                )
            if port.protocol not in ("", *_PROTOCOLS):
                known = ", ".join(_PROTOCOLS)
                raise InvalidRequest(
                    f"{port.protocol!r} is no protocol; there are {known}",
                    field=f"{path}.ports[{index}].protocol",
                )
            if number:
                ip = port.host_ip or _EVERY_ADDRESS
                found.add(HostPort(ip=ip, protocol=port.protocol or _PROTOCOLS[0], port=number))
    return tuple(sorted(found))


def _lasting(spec: PodSpec) -> Iterable[tuple[str, Container]]:
    for index, container in enumerate(spec.containers):
        yield f"spec.containers[{index}]", container
    for index, container in enumerate(spec.init_containers):
        if container.restart_policy == _ALWAYS:
            yield f"spec.initContainers[{index}]", container


def _of_containers(spec: PodSpec, given: Mapping[str, _Amounts], *, infeasible: bool) -> _Amounts:
    def asked(container: Container, path: str) -> _Amounts:
        wanted = _requests(container.resources, f"{path}.resources")
        has = given.get(container.name)
        if has is None:
            return wanted
        return has if infeasible else _largest(wanted, has)

    running: _Amounts = {}
    for index, container in enumerate(spec.containers):
        _add(running, asked(container, f"spec.containers[{index}]"))
    sidecars: _Amounts = {}
    starting: _Amounts = {}
    for index, container in enumerate(spec.init_containers):
        path = f"spec.initContainers[{index}]"
        if container.restart_policy == _ALWAYS:
            amounts = asked(container, path)
            _add(running, amounts)
            _add(sidecars, amounts)
            starting = _largest(starting, sidecars)
        else:
            # Runs alone but for the sidecars that were started before it.
            step = _requests(container.resources, f"{path}.resources")
            _add(step, sidecars)
            starting = _largest(starting, step)
    return _largest(running, starting)


def _of_the_pod(resources: ResourceRequirements | None, containers: _Amounts) -> _Amounts:
    """Return the amounts that replace the containers' sum: a limit stands in for no request."""
    if resources is None:
        return {}
    requests = _amounts(resources.requests, "spec.resources.requests")
    for name, amount in _amounts(resources.limits, "spec.resources.limits").items():
        if name not in containers:
            requests.setdefault(name, amount)
    return {
        name: amount
        for name, amount in requests.items()
        if name in (CPU, MEMORY) or name.startswith("hugepages-")
    }


def _resized(asked: _Amounts, pod: Pod, *, infeasible: bool) -> _Amounts:
    """Return the amounts of a pod as a whole, which may be resized once it is on a node."""
    status = pod.status
    if status.resources is None or not pod.spec.node_name:
        return asked
    has = _largest(
        _amounts(status.resources.requests, "status.resources.requests"),
        _amounts(status.allocated_resources, "status.allocatedResources"),
    )
    counted = has if infeasible else _largest(asked, has)
    return {name: counted.get(name, Fraction(0)) for name in asked}


def _given(pod: Pod) -> dict[str, _Amounts]:
    found = {}
    for name in ("container_statuses", "init_container_statuses"):
        statuses: tuple[ContainerStatus, ...] = getattr(pod.status, name)
        for index, status in enumerate(statuses):
            if status.resources is not None:
                path = f"status.{name}[{index}]"
                found[status.name] = _largest(
                    _amounts(status.resources.requests, f"{path}.resources.requests"),
                    _amounts(status.allocated_resources, f"{path}.allocatedResources"),
                )
    return found


def _resize_is_infeasible(pod: Pod) -> bool:
    return any(
        condition.type == "PodResizePending" and condition.reason == "Infeasible"
        for condition in pod.status.conditions
    )


def _requests(resources: ResourceRequirements, path: str) -> _Amounts:
    asked = _amounts(resources.requests, f"{path}.requests")
    limits = {name: text for name, text in resources.limits.items() if name not in asked}
    return _amounts(limits, f"{path}.limits") | asked if limits else asked


def _amounts(quantities: Quantities, path: str) -> _Amounts:
    amounts = {}
    for name, text in quantities.items():
        if problem := _name_problem(name):
            raise InvalidRequest(f"bad resource name: {problem}", field=path)
        try:
            amount = quantity.parse(text)
        except InvalidRequest as error:
            raise error.under(f"{path}.{name}") from None
        if amount.numerator < 0:
            raise InvalidRequest(f"{text!r} is negative", field=f"{path}.{name}")
        if amount.numerator > _SMALL and _is_too_much(name, amount):
            raise quantity.beyond(text).under(f"{path}.{name}")
        amounts[name] = amount
    return amounts


def _is_too_much(name: str, amount: Fraction) -> bool:
    return _is_compared(name) and amount * (1000 if name == CPU else 1) > quantity.MOST


_name_problem = lru_cache(maxsize=256)(qualified_name_problem)


def _rounded(amounts: _Amounts) -> dict[str, int]:
    return {
        name: -(-amount.numerator * (1000 if name == CPU else 1) // amount.denominator)
        for name, amount in amounts.items()
        if amount and _is_compared(name)
    }


def _is_compared(name: str) -> bool:
    """Tell whether kube-scheduler knows the resource; unprefixed strangers it ignores."""
    return name in (CPU, MEMORY, EPHEMERAL_STORAGE) or "/" in name or name.startswith(_PREFIXES)


def _add(total: _Amounts, amounts: Mapping[str, Fraction]) -> None:
    for name, amount in amounts.items():
        # Sums of fractions are slow, and most pods have one container.
        total[name] = total[name] + amount if name in total else amount


def _largest(left: Mapping[str, Fraction], right: Mapping[str, Fraction]) -> _Amounts:
    larger = dict(left)
    for name, amount in right.items():
        there = larger.get(name)
        if there is None or (there is not amount and there < amount):
            larger[name] = amount
    return larger
