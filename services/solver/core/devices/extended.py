"""Extended resources that device classes stand for: pods ask for a resource and get devices.

Apart because such a pod has no claim: kube-scheduler makes one for it, on nodes where no device
plugin offers the resource. Here it is made before packing, and only if no node and no instance type
offers the resource at all; where some do, pods go to those, as what they ask for is then a resource
or a device from node to node.

Source: KEP-5004; kube-scheduler's DynamicResources and NodeResourcesFit of 1.36.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from libs.domain.device import (
    IMPLICIT_RESOURCE,
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    DeviceSubRequest,
)
from libs.domain.pod import PodShape
from libs.domain.resources import Resources
from libs.domain.snapshot import ClusterSnapshot


def delegated(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Return the snapshot with claims in place of resources that only devices offer."""
    classes = resource_classes(snapshot.device_classes)
    asked = {name for shape in snapshot.shapes.values() for name in shape.requests}
    wanted = {name: classes[name] for name in sorted(asked & classes.keys())}
    if not wanted:
        return snapshot
    offered = {name for resources in _offered(snapshot) for name in wanted if resources.get(name)}
    only = {name: wanted[name] for name in wanted if name not in offered}
    shapes = {number: _with_claim(shape, only) for number, shape in snapshot.shapes.items()}
    return replace(snapshot, shapes=MappingProxyType(shapes))


def resource_classes(known: Mapping[str, DeviceClass]) -> dict[str, str]:
    """Return the class behind each resource that classes stand for."""
    implicit = {f"{IMPLICIT_RESOURCE}{name}": name for name in known}
    explicit = {one.extended_resource: name for name, one in known.items() if one.extended_resource}
    return {**explicit, **implicit}


def _offered(snapshot: ClusterSnapshot) -> Iterator[Resources]:
    for node in snapshot.nodes.values():
        yield node.allocatable
    for claim in snapshot.nodeclaims.values():
        yield claim.allocatable
    for catalogue in snapshot.catalogues.values():
        for kind in catalogue.instance_types:
            yield kind.capacity
            for offering in kind.offerings:
                yield offering.capacity_override


def _with_claim(shape: PodShape, classes: Mapping[str, str]) -> PodShape:
    counts = {name: shape.requests.get(name) for name in classes}
    requests = tuple(
        DeviceRequest(
            name=f"request-{index}",
            alternatives=(DeviceSubRequest(device_class=classes[name], count=count),),
        )
        for index, (name, count) in enumerate(counts.items())
        if count > 0
    )
    if not requests:
        return shape
    left = {name: amount for name, amount in shape.requests.items() if name not in classes}
    claims = (*shape.device_claims, DeviceClaim(requests=requests))
    return replace(shape, requests=Resources(left), device_claims=claims)
