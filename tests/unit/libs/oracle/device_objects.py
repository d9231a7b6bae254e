"""Devices, slices and claims as Kubernetes writes them, for the oracle's tests."""

from typing import Any

from libs.oracle.cluster import Cluster
from tests.unit.libs.oracle.kube import Obj, node, pod

DRIVER = "gpu.example.com"

GPU = {"metadata": {"name": "gpu"}, "spec": {}}


def a_device(name: str, **fields: Any) -> Obj:
    """Return a device of a slice."""
    return {"name": name, **fields}


def a_slice(*devices: Obj, name: str = "slice", pool: str = "pool", **spec: Any) -> Obj:
    """Return a slice of these devices, which all nodes reach unless it says otherwise."""
    place = (
        {}
        if spec.keys() & {"nodeName", "nodeSelector", "perDeviceNodeSelection"}
        else {"allNodes": True}
    )
    about = {
        "name": pool,
        "generation": spec.pop("generation", 1),
        "resourceSliceCount": spec.pop("slices", 1),
    }
    return {
        "metadata": {"name": name},
        "spec": {"driver": DRIVER, "pool": about, "devices": list(devices), **place, **spec},
    }


def exactly(name: str = "r", **fields: Any) -> Obj:
    """Return a request for one device of the class `gpu`."""
    return {"name": name, "exactly": {"deviceClassName": "gpu", **fields}}


def a_claim(*requests: Obj, name: str = "mine", constraints: Any = (), **more: Any) -> Obj:
    """Return a claim of devices."""
    devices = {"requests": list(requests), "constraints": list(constraints)}
    metadata = {"name": name, "namespace": "default", "uid": name}
    return {"metadata": metadata, "spec": {"devices": devices}, **more}


def a_held_claim(name: str, device: str, **result: Any) -> Obj:
    """Return a claim that holds a device."""
    results = [{"request": "r", "driver": DRIVER, "pool": "pool", "device": device, **result}]
    return a_claim(exactly(), name=name, status={"allocation": {"devices": {"results": results}}})


def asking_for(*claims: str, name: str = "asking", **more: Any) -> Obj:
    """Return a pod with these claims; by default with `mine`."""
    references = [{"name": one, "resourceClaimName": one} for one in claims or ("mine",)]
    found = pod(name, requests={}, resourceClaims=references)
    return {**found, "metadata": {**found["metadata"], "uid": name}, **more}


def a_cluster(*objects: Obj) -> Cluster:
    """Return two nodes, in zones a and b, with the class `gpu` and these slices and claims."""
    cluster = Cluster()
    for one in (node("n1", labels={"zone": "a"}), node("n2", labels={"zone": "b"})):
        cluster.put("Node", one)
    cluster.put("DeviceClass", GPU)
    for one in objects:
        spec = one.get("spec", {})
        kind = "ResourceSlice" if "driver" in spec else "ResourceClaim"
        cluster.put(kind, one)
    return cluster
