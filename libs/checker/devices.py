"""Devices that a plan counts on and that Kubernetes does not show yet.

Apart because nobody has written these objects: the slices that drivers will publish on new nodes,
the claims that a controller makes from templates, claims that are free again once their pods go.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from libs.domain import labels as keys
from libs.domain.capacity import InstanceType
from libs.domain.device import (
    IMPLICIT_RESOURCE,
    CapacityPolicy,
    CommonValue,
    CounterUse,
    Device,
    DeviceAttribute,
    DevicePool,
    DeviceVersion,
)
from libs.domain.snapshot import ClusterSnapshot
from libs.oracle.cluster import Cluster
from libs.oracle.objects import (
    KubeObject,
    key_of,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
)


def device_resources(snapshot: ClusterSnapshot) -> frozenset[str]:
    """Return the resources that device classes stand for."""
    classes = snapshot.device_classes
    named = {one.extended_resource for one in classes.values()} - {""}
    return frozenset(named | {f"{IMPLICIT_RESOURCE}{name}" for name in classes})


def node_slices(node: str, kind: InstanceType, published: Collection[str] = ()) -> list[KubeObject]:
    """Return the ResourceSlices that the drivers of a type will publish on a node.

    Args:
        node: its name.
        kind: its type.
        published: drivers that have published theirs.
    """
    return [
        one
        for pool in kind.device_pools
        if pool.driver not in published
        for one in _slices(node, pool)
    ]


def starting_slices(cluster: Cluster, snapshot: ClusterSnapshot) -> Iterator[KubeObject]:
    """Yield the slices that are yet to come of claims in flight and of nodes that are starting."""
    for node in snapshot.nodes.values():
        if node.initialized or node.nodeclaim not in snapshot.nodeclaims:
            continue
        published = {
            spec_of(one)["driver"]
            for one in cluster.resource_slices.values()
            if spec_of(one).get("nodeName") == node.name
        }
        kind = _kind(snapshot, node.nodeclaim, dict(node.labels))
        if kind is not None:
            yield from node_slices(node.name, kind, published)
    for claim in snapshot.nodeclaims.values():
        if not claim.node_name:
            labels = claim.requirements.single_values() | dict(claim.labels)
            kind = _kind(snapshot, claim.name, labels)
            if kind is not None:
                yield from node_slices(claim.name, kind)


def released_claims(cluster: Cluster, going: Collection[str]) -> Iterator[KubeObject]:
    """Yield the ResourceClaims that are nobody's any more once the pods of these uids go."""
    for claim in cluster.resource_claims.values():
        consumers = status_of(claim).get("reservedFor") or ()
        if consumers and all(one.get("uid") in going for one in consumers):
            yield {**claim, "status": {}}


def made_claims(cluster: Cluster) -> Iterator[tuple[str, KubeObject]]:
    """Yield kind and object of claims that waiting pods get from templates, and those pods."""
    for pod in cluster.pending.values():
        statuses = list(status_of(pod).get("resourceClaimStatuses") or ())
        named = {one["name"] for one in statuses}
        made = []
        for reference in spec_of(pod).get("resourceClaims") or ():
            key = f"{namespace_of(pod)}/{reference.get('resourceClaimTemplateName')}"
            template = cluster.resource_claim_templates.get(key)
            if reference["name"] not in named and template is not None:
                claim = _claim(pod, reference["name"], template)
                made.append(("ResourceClaim", claim))
                statuses.append({"name": reference["name"], "resourceClaimName": name_of(claim)})
        if made:
            yield from made
            yield "Pod", {**pod, "status": {**status_of(pod), "resourceClaimStatuses": statuses}}


def _kind(
    snapshot: ClusterSnapshot, nodeclaim: str, labels: Mapping[str, str]
) -> InstanceType | None:
    catalogue = snapshot.catalogues.get(snapshot.nodeclaims[nodeclaim].node_class.key)
    types = catalogue.instance_types if catalogue is not None else ()
    return next((one for one in types if one.name == labels.get(keys.INSTANCE_TYPE)), None)


def _claim(pod: KubeObject, reference: str, template: KubeObject) -> dict[str, Any]:
    owner = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": name_of(pod),
        "uid": metadata_of(pod).get("uid"),
        "controller": True,
    }
    name = f"{name_of(pod)}-{reference}"
    metadata = {
        **(metadata_of(spec_of(template))),
        "name": name,
        "namespace": namespace_of(pod),
        "uid": f"{key_of(pod)}-{reference}",
        "ownerReferences": [owner],
    }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": spec_of(spec_of(template)),
    }


def _slices(node: str, pool: DevicePool) -> Iterator[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"devices": [_device(one) for one in pool.devices]}]
    if pool.counters:
        parts.append(
            {"sharedCounters": [{"name": c.counter_set, **_counters(c)} for c in pool.counters]}
        )
    # Pools are named by their drivers, and one type's pool is there once per node.
    name = f"{pool.pool}-{node}"
    about = {"name": name, "generation": 1, "resourceSliceCount": len(parts)}
    for number, part in enumerate(parts):
        yield {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{pool.driver}-{name}-{number}"},
            "spec": {"driver": pool.driver, "pool": about, "nodeName": node, **part},
        }


def _device(device: Device) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": device.name,
        "attributes": {one.name: _value(one) for one in device.attributes},
        "capacity": {one.name: {"value": f"{one.amount}m"} for one in device.capacity},
        "consumesCounters": [
            {"counterSet": one.counter_set, **_counters(one)} for one in device.counters
        ],
        "taints": [
            {"key": one.key, "value": one.value, "effect": str(one.effect)} for one in device.taints
        ],
    }
    for capacity in device.capacity:
        policy = capacity.policy
        if policy is not None:
            found["capacity"][capacity.name]["requestPolicy"] = _policy(policy)
    if device.shared:
        found["allowMultipleAllocations"] = True
    if device.has_binding_conditions:
        found["bindingConditions"] = ["ready"]
    return found


def _policy(policy: CapacityPolicy) -> dict[str, Any]:
    bounds = {"min": policy.least, "max": policy.most, "step": policy.step}
    found: dict[str, Any] = {}
    if policy.default is not None:
        found["default"] = f"{policy.default}m"
    if policy.valid_values:
        found["validValues"] = [f"{one}m" for one in policy.valid_values]
    if policy.least is not None:
        found["validRange"] = {
            name: f"{bound}m" for name, bound in bounds.items() if bound is not None
        }
    return found


def _value(attribute: DeviceAttribute) -> dict[str, Any]:
    match attribute.value:
        case DeviceVersion(text=text):
            return {"version": text}
        case CommonValue(group=group):
            # Any value that no other device has will do; which one it will be nobody knows.
            return {"string": f"value of group {group}"}
        case bool() as truth:
            return {"bool": truth}
        case int() as number:
            return {"int": number}
        case text:
            return {"string": text}


def _counters(use: CounterUse) -> dict[str, Any]:
    return {"counters": {name: {"value": f"{amount}m"} for name, amount in use.amounts.items()}}
