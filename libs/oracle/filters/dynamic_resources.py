"""Plugin DynamicResources: what a pod claims is within reach of the node, or can be given there.

Source: kube-scheduler's DynamicResources (1.36); `libs/oracle/devices` says where it differs.
"""

from collections.abc import Sequence

from libs.domain.errors import InvalidRequest
from libs.oracle.cluster import Cluster, Node
from libs.oracle.devices.claims import (
    MOST_CONSUMERS,
    allocation_of,
    claim_names,
    held,
    is_owned_by,
    is_reserved_for,
    requests_of,
    results_of,
)
from libs.oracle.devices.extended import classes_of_resources, extended_claim
from libs.oracle.devices.inventory import INVALID, pools_for
from libs.oracle.devices.search import Search
from libs.oracle.filters.plugin import PASSES, NodeTest, PodRefused
from libs.oracle.node_selectors import NodePredicate, read_node_selector
from libs.oracle.objects import KubeObject, metadata_of, name_of, namespace_of, status_of
from libs.oracle.pods import Pod

_UNAVAILABLE = ("resourceclaim not available on the node",)
_INVALID_POOLS = ("invalid resource pools were encountered",)
_CANNOT_ALLOCATE = ("cannot allocate all claims",)


def prepare(cluster: Cluster, pod: Pod) -> NodeTest | PodRefused | None:
    """Refuse nodes that do not reach what the pod was given, or lack what it is to be given."""
    classes = classes_of_resources(cluster, pod.requests)
    if not (pod.spec.get("resourceClaims") or classes):
        return None
    found = _usable_claims(cluster, pod.obj)
    if isinstance(found, str):
        return PodRefused(found)
    if not (found or classes):
        return None
    given = [claim for claim in found if allocation_of(claim) is not None]
    failed = any(map(_failed, given))
    reachable = [reach for claim in given if (reach := _reach(claim)) is not None]

    def test(node: Node) -> tuple[str, ...]:
        made = extended_claim(pod, classes, node)
        if made is None and not found:
            return PASSES
        wanted = [*found, *([made] if made is not None else [])]
        try:
            if find_devices(cluster, wanted, node) is None:
                return _INVALID_POOLS if _sees_invalid_pools(cluster, node) else _CANNOT_ALLOCATE
        except InvalidRequest as error:
            return (str(error),)
        if failed or not all(reach(node.labels, node.name) for reach in reachable):
            return _UNAVAILABLE
        return PASSES

    return test


def claims_of(cluster: Cluster, pod: KubeObject) -> list[KubeObject] | str:
    """Return the pod's claims in order, or why they cannot be had."""
    found = []
    for _, name, made in claim_names(pod):
        if name is None:
            return f'pod "{namespace_of(pod)}/{name_of(pod)}": ResourceClaim not created yet'
        claim = cluster.resource_claims.get(f"{namespace_of(pod)}/{name}")
        if claim is None:
            return f'could not find ResourceClaim "{namespace_of(pod)}/{name}"'
        if metadata_of(claim).get("deletionTimestamp"):
            return f'resourceclaim "{name}" is being deleted'
        if made and not is_owned_by(claim, pod):
            key = f"{namespace_of(pod)}/{name_of(pod)}"
            return (
                f"ResourceClaim {namespace_of(claim)}/{name} was not created for Pod {key} "
                "(Pod is not owner)"
            )
        found.append(claim)
    return found


def find_devices(cluster: Cluster, claims: Sequence[KubeObject], node: Node) -> Search | None:
    """Return the search that found devices on the node for those claims that have none yet.

    Returns:
        None if there is no way to serve all of them.

    Raises:
        InvalidRequest: the search cannot be made.
    """
    open_claims = [claim for claim in claims if allocation_of(claim) is None]
    search = Search(
        node=node,
        claims=open_claims,
        classes=cluster.device_classes,
        pools=pools_for(cluster.resource_slices.values(), node) if open_claims else (),
        held=held(cluster.resource_claims.values()),
    )
    return search if search.run() else None


def _usable_claims(cluster: Cluster, pod: KubeObject) -> list[KubeObject] | str:
    """Return the pod's claims in order, or what is the matter with one of them."""
    found = claims_of(cluster, pod)
    if isinstance(found, str):
        return found
    problems = (_problem(cluster, claim, pod) for claim in found)
    return next(filter(None, problems), found)


def _sees_invalid_pools(cluster: Cluster, node: Node) -> bool:
    pools = pools_for(cluster.resource_slices.values(), node)
    return any(pool.problem == INVALID for pool in pools)


def _problem(cluster: Cluster, claim: KubeObject, pod: KubeObject) -> str:
    if allocation_of(claim) is not None:
        consumers = status_of(claim).get("reservedFor") or ()
        is_full = len(consumers) >= MOST_CONSUMERS and not is_reserved_for(claim, pod)
        return f'resourceclaim "{name_of(claim)}" has too many consumers' if is_full else ""
    for asks in requests_of(claim):
        if not asks:
            return f'resourceclaim "{name_of(claim)}": unknown request type'
        for ask in asks:
            if ask.device_class not in cluster.device_classes:
                return f"request {ask.name}: device class {ask.device_class} does not exist"
    return ""


def _reach(claim: KubeObject) -> NodePredicate | None:
    selector = (allocation_of(claim) or {}).get("nodeSelector")
    return read_node_selector(selector) if selector is not None else None


def _failed(claim: KubeObject) -> bool:
    """Tell whether a device of the claim has reported that it cannot be bound.

    Devices after one that is not ready yet are not looked at.
    """
    statuses = {
        (one.get("driver"), one.get("pool"), one.get("device"), one.get("shareID")): one
        for one in status_of(claim).get("devices") or ()
    }
    for result in results_of(claim):
        key = (result["driver"], result["pool"], result["device"], result.get("shareID"))
        conditions = (statuses.get(key) or {}).get("conditions") or ()
        true = {one["type"] for one in conditions if one.get("status") == "True"}
        if not (wanted := result.get("bindingConditions") or ()):
            continue
        if true.intersection(result.get("bindingFailureConditions") or ()):
            return True
        if not true.issuperset(wanted):
            return False
    return False
