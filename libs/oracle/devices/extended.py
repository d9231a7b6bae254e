"""Extended resources that a device class stands for, where no device plugin offers them.

Apart because such a pod has no claim: kube-scheduler makes one, different from node to node.

Source: KEP-5004; kube-scheduler's DynamicResources and NodeResourcesFit (1.36).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from libs.domain.quantity import parse
from libs.oracle.cluster import Cluster, Node
from libs.oracle.objects import KubeObject, metadata_of, name_of, namespace_of, spec_of
from libs.oracle.pods import Pod
from libs.oracle.requests import is_sidecar

_IMPLICIT = "deviceclass.resource.kubernetes.io/"
_MARK = "resource.kubernetes.io/extended-resource-claim"


def classes_of_resources(cluster: Cluster, resources: Iterable[str]) -> dict[str, str]:
    """Return the device class behind each resource that has one."""
    if not cluster.device_classes:
        return {}
    found = {one: _class_of(cluster, one) for one in resources if "/" in one}
    return {resource: name for resource, name in found.items() if name is not None}


def is_delegated(node: Node, resource: str) -> bool:
    """Tell whether a resource with a device class is the devices' matter on this node."""
    return not node.allocatable.get(resource)


def extended_claim(pod: Pod, classes: Mapping[str, str], node: Node) -> KubeObject | None:
    """Return the claim that kube-scheduler would make for the pod on the node, None for none.

    Args:
        pod: the pod.
        classes: the device class of each of its resources that has one.
        node: the node.
    """
    requests = [
        request
        for resource in sorted(classes)
        if is_delegated(node, resource)
        for request in _requests(pod.spec, resource, classes[resource])
    ]
    if not requests:
        return None
    owner = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": name_of(pod.obj),
        "uid": metadata_of(pod.obj).get("uid"),
        "controller": True,
    }
    return {
        "metadata": {
            "name": f"{name_of(pod.obj)}-extended-resources",
            "namespace": namespace_of(pod.obj),
            "annotations": {_MARK: "true"},
            "ownerReferences": [owner],
        },
        "spec": {"devices": {"requests": sorted(requests, key=lambda one: one["name"])}},
    }


def _class_of(cluster: Cluster, resource: str) -> str | None:
    """Return the class of the resource, of several the newest, then the first by name."""
    implicit = resource.removeprefix(_IMPLICIT)
    if implicit != resource:
        return implicit if implicit in cluster.device_classes else None
    naming = [
        one
        for one in cluster.device_classes.values()
        if spec_of(one).get("extendedResourceName") == resource
    ]
    naming.sort(key=name_of)
    newest = max(
        naming, key=lambda one: metadata_of(one).get("creationTimestamp") or "", default=None
    )
    return None if newest is None else name_of(newest)


def _requests(spec: KubeObject, resource: str, device_class: str) -> Iterator[dict[str, Any]]:
    """Yield what containers ask for: each that stays for itself, the others what those leave."""
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    starting = len(spec.get("initContainers") or ())
    lasting: dict[int, int] = {}
    passing: dict[int, int] = {}
    for index, container in enumerate(containers):
        amount = _amount(container, resource)
        if amount:
            is_passing = index < starting and not is_sidecar(container)
            (passing if is_passing else lasting)[index] = amount
    # An init container uses what later containers will use, and more if it needs more.
    missing = {
        index: amount - sum(count for later, count in lasting.items() if later >= index)
        for index, amount in passing.items()
    }
    most = max(missing, key=lambda index: missing[index], default=None)
    if most is not None and missing[most] > 0:
        lasting[most] = missing[most]
    for index, count in lasting.items():
        names = sorted(_asked(containers[index]))
        exactly = {"deviceClassName": device_class, "count": count}
        yield {"name": f"container-{index}-request-{names.index(resource)}", "exactly": exactly}


def _asked(container: KubeObject) -> KubeObject:
    resources = container.get("resources") or {}
    return {**(resources.get("limits") or {}), **(resources.get("requests") or {})}


def _amount(container: KubeObject, resource: str) -> int:
    return int(parse(_asked(container).get(resource, 0)))
