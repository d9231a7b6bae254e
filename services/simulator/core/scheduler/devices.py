"""What the scheduler writes of ResourceClaims: the devices that a pod gets, and that it uses them.

Apart from the oracle, which says what is written (`libs/oracle/devices/binding.py`), because here
it is written. kube-scheduler notes first what it promises and writes it later; nothing comes
between the two here.

Source: kube-scheduler's DynamicResources, Reserve, PreBind and Unreserve (1.36).
"""

from datetime import datetime
from typing import Any

from libs.oracle.cluster import Cluster
from libs.oracle.devices.binding import bind_devices
from libs.oracle.devices.claims import allocation_of, is_reserved_for, results_of
from libs.oracle.filters.dynamic_resources import claims_of
from libs.oracle.objects import status_of
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.objects import Object, stamp

_CLAIMS = "resourceclaims.resource.k8s.io"


def reserve(
    api: DirectApi, cluster: Cluster, pod: Object, node: str, now: datetime
) -> list[Object]:
    """Write the pod and its devices into its claims; return them. Raises what the API refuses."""
    written = []
    for _, claim in bind_devices(cluster, pod, node):
        status = dict(claim["status"])
        if "allocation" in status and "allocationTimestamp" not in status["allocation"]:
            status["allocation"] = {**status["allocation"], "allocationTimestamp": stamp(now)}
        present = dict(claim)
        if "uid" not in claim["metadata"]:
            present = _made(api, pod, claim)
        changed = {**present, "status": status}
        written.append(api.update(_CLAIMS, changed, subresource="status"))
    return written


def unreserve(api: DirectApi, cluster: Cluster, pod: Object) -> list[Object]:
    """Take the pod out of its claims again; return them."""
    claims = claims_of(cluster, pod)
    written = []
    for claim in () if isinstance(claims, str) else claims:
        if is_reserved_for(claim, pod):
            uid = pod["metadata"]["uid"]
            left = [one for one in status_of(claim)["reservedFor"] if one.get("uid") != uid]
            status = {**status_of(claim), "reservedFor": left}
            written.append(api.update(_CLAIMS, {**claim, "status": status}, subresource="status"))
    return written


def free(api: DirectApi, claim: Object) -> Object:
    """Take the devices from a claim that nobody can use where they are."""
    meta = claim["metadata"]
    change = {"status": {"allocation": None, "reservedFor": None, "devices": None}}
    return api.patch(_CLAIMS, meta["name"], change, meta["namespace"], subresource="status")


def are_ready(cluster: Cluster, pod: Object) -> bool:
    """Tell whether all devices of the pod report what has to be so before it is bound."""
    claims = claims_of(cluster, pod)
    return isinstance(claims, str) or all(map(_is_ready, claims))


def _is_ready(claim: Any) -> bool:
    if allocation_of(claim) is None:
        return True
    true = {
        (one.get("driver"), one.get("pool"), one.get("device"), one.get("shareID")): {
            condition["type"]
            for condition in one.get("conditions") or ()
            if condition.get("status") == "True"
        }
        for one in status_of(claim).get("devices") or ()
    }
    return all(
        true.get(
            (one["driver"], one["pool"], one["device"], one.get("shareID")), frozenset()
        ).issuperset(one.get("bindingConditions") or ())
        for one in results_of(claim)
    )


def _made(api: DirectApi, pod: Object, claim: Any) -> Object:
    """Create the claim of a pod whose extended resources are devices, and name it in its status."""
    meta = {key: value for key, value in claim["metadata"].items() if key != "name"}
    named = {**meta, "generateName": f"{claim['metadata']['name']}-"}
    namespace = pod["metadata"]["namespace"]
    made = api.create(_CLAIMS, {"metadata": named, "spec": claim["spec"]}, namespace)
    mapping = [
        {
            "containerName": _container_of(pod, request["name"]),
            "requestName": request["name"],
            "resourceName": _resource_of(pod, request["name"]),
        }
        for request in claim["spec"]["devices"]["requests"]
    ]
    name = made["metadata"]["name"]
    status = {
        "extendedResourceClaimStatus": {"resourceClaimName": name, "requestMappings": mapping}
    }
    api.patch("pods", pod["metadata"]["name"], {"status": status}, namespace, subresource="status")
    return dict(made)


def _container_of(pod: Object, request: str) -> str:
    name: str = _container(pod, request)["name"]
    return name


def _resource_of(pod: Object, request: str) -> str:
    resources = _container(pod, request).get("resources") or {}
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    names: list[str] = sorted(asked)
    return names[int(request.rpartition("-")[2])]


def _container(pod: Object, request: str) -> Any:
    """Return the container of a request, which is named by their positions."""
    spec = pod["spec"]
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    return containers[int(request.split("-")[1])]
