"""What binding a pod writes into its ResourceClaims: the devices they get, and the pod itself.

Apart from the filter, which only promises, as `claim_binding` is for volumes.

Source: the API documentation of `AllocationResult` and `ResourceClaimStatus`.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from libs.oracle.cluster import Cluster, Node
from libs.oracle.devices.claims import allocation_of, is_reserved_for
from libs.oracle.devices.extended import classes_of_resources, extended_claim
from libs.oracle.devices.search import Chosen
from libs.oracle.filters.dynamic_resources import claims_of, find_devices
from libs.oracle.objects import KubeObject, key_of, metadata_of, name_of, status_of
from libs.oracle.pods import read_pod


def bind_devices(cluster: Cluster, pod: KubeObject, node_name: str) -> list[tuple[str, KubeObject]]:
    """Return (kind, object) of the ResourceClaims that change when the pod gets this node.

    The cluster is not changed; the pod must have passed the filter.
    """
    claims, node = claims_of(cluster, pod), cluster.nodes[node_name]
    if isinstance(claims, str):
        return []
    seen = read_pod(pod)
    made = extended_claim(seen, classes_of_resources(cluster, seen.requests), node)
    if made is not None:
        claims = [*claims, made]
    if not claims:
        return []
    search = find_devices(cluster, claims, node)
    chosen = search.chosen if search is not None else []
    changed: list[tuple[str, KubeObject]] = []
    for claim in claims:
        mine = [one for one in chosen if one.ask.claim == key_of(claim)]
        status = {**status_of(claim)}
        if allocation_of(claim) is None:
            status["allocation"] = allocation(claim, mine, node)
        if not is_reserved_for(claim, pod):
            consumer = {"resource": "pods", "name": name_of(pod)}
            if uid := metadata_of(pod).get("uid"):
                consumer["uid"] = uid
            status["reservedFor"] = [*(status.get("reservedFor") or ()), consumer]
        changed.append(("ResourceClaim", {**claim, "status": status}))
    return changed


def allocation(claim: KubeObject, chosen: Iterable[Chosen], node: Node) -> dict[str, Any]:
    """Return the allocation of a claim that got these devices on a node."""
    mine = list(chosen)
    found: dict[str, Any] = {
        "devices": {"results": [_result(claim, one, number) for number, one in enumerate(mine)]}
    }
    if (selector := _node_selector(mine, node)) is not None:
        found["nodeSelector"] = selector
    return found


def _result(claim: KubeObject, chosen: Chosen, number: int) -> dict[str, Any]:
    driver, pool, device = chosen.device.id
    result: dict[str, Any] = {
        "request": chosen.ask.name,
        "driver": driver,
        "pool": pool,
        "device": device,
    }
    if chosen.ask.admin:
        result["adminAccess"] = True
    if chosen.ask.tolerations:
        result["tolerations"] = [dict(one) for one in chosen.ask.tolerations]
    if chosen.device.shared:
        result["shareID"] = f"{metadata_of(claim).get('uid') or key_of(claim)}-{number}"
        if chosen.consumed:
            result["consumedCapacity"] = _quantities(chosen.consumed)
    for name in ("bindingConditions", "bindingFailureConditions"):
        if chosen.device.obj.get(name):
            result[name] = list(chosen.device.obj[name])
    return result


def _quantities(amounts: Mapping[str, Fraction]) -> dict[str, str]:
    return {
        name: str(amount.numerator) if amount.denominator == 1 else f"{-(-amount * 10**9 // 1)}n"
        for name, amount in amounts.items()
    }


def _node_selector(chosen: Iterable[Chosen], node: Node) -> dict[str, Any] | None:
    """Return the nodes from which all of the devices can be used, None for all nodes."""
    term: dict[str, list[Any]] = {}
    for one in chosen:
        place = one.device.place
        if place.get("nodeName") or one.device.obj.get("bindsToNode"):
            only = {"key": "metadata.name", "operator": "In", "values": [node.name]}
            return {"nodeSelectorTerms": [{"matchFields": [only]}]}
        for own in (place.get("nodeSelector") or {}).get("nodeSelectorTerms") or ():
            for name in ("matchExpressions", "matchFields"):
                known = term.setdefault(name, [])
                known += [wanted for wanted in own.get(name) or () if wanted not in known]
    wanted = {name: requirements for name, requirements in term.items() if requirements}
    return {"nodeSelectorTerms": [wanted]} if wanted else None
