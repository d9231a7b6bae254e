"""From the short form of a scenario to Kubernetes objects.

Apart so that a scenario says what it is about and nothing else: a pod is a line, and what every
object of its kind needs is filled in here. Nothing is hidden: `metadata`, `spec` and `status` of a
short form are merged into the object that it becomes, and `cluster` holds objects as they are.

Law: an unknown field is an error, so that a slip of the pen does not test nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from tests.scenarios.device_form import (
    device_claim,
    device_class,
    device_template,
    resource_slices,
)
from tests.scenarios.pod_form import daemon_set, pods
from tests.scenarios.words import canonical, checked, merged, requirement, taint

Object = dict[str, Any]
Short = Mapping[str, Any]

NODE_CLASS = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}

_OBJECT = {"name", "metadata", "spec", "status"}
_POOL = _OBJECT | {
    *("requirements", "labels", "annotations", "taints", "startupTaints"),
    *("weight", "limits", "replicas", "nodeClass"),
}
_NODE = _OBJECT | {
    *("zone", "type", "cpu", "memory", "maxPods", "resources", "labels", "taints", "pods"),
    *("pool", "capacityType", "initialized", "startupTaints", "leaving", "attachLimits"),
}
_IN_FLIGHT = {*_OBJECT, "pool", "zone", "type", "capacityType", "cpu", "memory", "maxPods"} | {
    *("resources", "taints", "startupTaints", "labels"),
}
_CLAIM = {*_OBJECT, "class", "volume", "access", "bound", "size", "disk", "labels"}
_FREE = {*_OBJECT, "class", "at", "access", "size", "disk", "labels", "keptFor"}
_ATTACHMENT = {*_OBJECT, "node", "volume", "attacher"}
_CLASS = {*_OBJECT, "zones", "mode", "provisioner", "default", "capacities"}
_CAPACITY = {"at", "most", "largest"}


def objects(scenario: Short) -> list[Object]:
    """Return the Kubernetes objects of a scenario, those under `cluster` last."""
    many = chain.from_iterable
    return [
        *map(_pool, scenario.get("pools", ())),
        *many(map(_storage_class, scenario.get("storageClasses", ()))),
        *many(map(_volume_claim, scenario.get("volumeClaims", ()))),
        *map(_free_volume, scenario.get("volumes", ())),
        *map(_attachment, scenario.get("attachments", ())),
        *map(daemon_set, scenario.get("daemons", ())),
        *many(map(_node, scenario.get("nodes", ()))),
        *map(device_class, scenario.get("deviceClasses", ())),
        *map(device_template, scenario.get("deviceTemplates", ())),
        *map(device_claim, scenario.get("deviceClaims", ())),
        *resource_slices(scenario.get("slices", ())),
        *map(_in_flight, scenario.get("inFlight", ())),
        *many(map(pods, scenario.get("pods", ()))),
        *scenario.get("cluster", ()),
    ]


def _pool(short: Short) -> Object:
    checked(short, _POOL)
    node_class = NODE_CLASS | {"name": short.get("nodeClass", NODE_CLASS["name"])}
    template = {
        "metadata": {
            "labels": short.get("labels", {}),
            "annotations": short.get("annotations", {}),
        },
        "spec": {
            "nodeClassRef": node_class,
            "requirements": [requirement(one) for one in short.get("requirements", ())],
            "taints": [taint(one) for one in short.get("taints", ())],
            "startupTaints": [taint(one) for one in short.get("startupTaints", ())],
        },
    }
    spec: Object = {"template": template, "limits": short.get("limits", {})}
    spec |= {key: short[key] for key in ("weight", "replicas") if key in short}
    made = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": short["name"]},
        "spec": spec,
    }
    return _finished(made, short)


def _node(short: Short) -> Iterator[Object]:
    """Yield a node, its NodeClaim if it is a pool's, its CSINode, and its pods."""
    checked(short, _NODE)
    name = short["name"]
    labels = {"kubernetes.io/hostname": name} | _node_labels(short)
    taints = [taint(one) for one in short.get("taints", ())]
    status: Object = {
        "capacity": _amounts(short),
        "allocatable": _amounts(short),
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    if "pool" in short:
        yield _claim_of(short)
        labels["karpenter.sh/registered"] = "true"
        if short.get("initialized", True):
            labels["karpenter.sh/initialized"] = "true"
    made = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"providerID": f"kwok://{name}", "taints": taints},
        "status": status,
    }
    yield _finished(made, short)
    if "attachLimits" in short:
        yield _csi_node(name, short["attachLimits"])
    for one in short.get("pods", ()):
        yield from pods({**one, "node": name})


def _node_labels(short: Short) -> dict[str, str]:
    labels = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
    for field, key in (
        ("zone", "topology.kubernetes.io/zone"),
        ("type", "node.kubernetes.io/instance-type"),
        ("pool", "karpenter.sh/nodepool"),
        ("capacityType", "karpenter.sh/capacity-type"),
    ):
        if field in short:
            labels[key] = short[field]
    return labels | {canonical(key): value for key, value in short.get("labels", {}).items()}


def _amounts(short: Short) -> dict[str, str]:
    amounts = {
        "cpu": str(short.get("cpu", 4)),
        "memory": str(short.get("memory", "16Gi")),
        "pods": str(short.get("maxPods", 110)),
    }
    return amounts | {key: str(value) for key, value in short.get("resources", {}).items()}


def _claim_of(short: Short) -> Object:
    """Return the NodeClaim of a node that stands."""
    name = short["name"]
    done = ["Launched", "Registered", *(["Initialized"] if short.get("initialized", True) else [])]
    made = _claim(short, done)
    made["status"]["nodeName"] = name
    return made


def _in_flight(short: Short) -> Object:
    """Return a NodeClaim that was launched and has no node yet."""
    checked(short, _IN_FLIGHT)
    return _finished(_claim(short, ["Launched"]), short)


def _claim(short: Short, done: list[str]) -> Object:
    metadata: Object = {"name": short["name"], "labels": _node_labels(short)}
    if short.get("leaving"):
        metadata["deletionTimestamp"] = "2026-07-01T11:59:00Z"
        metadata["finalizers"] = ["karpenter.sh/termination"]
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": metadata,
        "spec": {
            "nodeClassRef": NODE_CLASS,
            "requirements": [],
            "taints": [taint(one) for one in short.get("taints", ())],
            "startupTaints": [taint(one) for one in short.get("startupTaints", ())],
        },
        "status": {
            "providerID": f"kwok://{short['name']}",
            "capacity": _amounts(short),
            "allocatable": _amounts(short),
            "conditions": [{"type": kind, "status": "True"} for kind in done],
        },
    }


def _csi_node(name: str, limits: Mapping[str, int]) -> Object:
    drivers = [
        {"name": driver, "nodeID": name, "allocatable": {"count": count}}
        for driver, count in limits.items()
    ]
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": name},
        "spec": {"drivers": drivers},
    }


def _storage_class(short: Short) -> Iterator[Object]:
    """Yield a class, and its driver with what it publishes, if it does."""
    checked(short, _CLASS)
    made: Object = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": short["name"]},
        "provisioner": short.get("provisioner", "csi.example.com"),
        "volumeBindingMode": short.get("mode", "WaitForFirstConsumer"),
    }
    if short.get("default"):
        made["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    if "zones" in short:
        zones = {"key": "topology.kubernetes.io/zone", "values": short["zones"]}
        made["allowedTopologies"] = [{"matchLabelExpressions": [zones]}]
    yield _finished(made, short)
    if "capacities" in short:
        yield {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIDriver",
            "metadata": {"name": made["provisioner"]},
            "spec": {"storageCapacity": True},
        }
    for number, one in enumerate(short.get("capacities", ())):
        yield _capacity(one, short["name"], number)


def _capacity(short: Short, storage_class: str, number: int) -> Object:
    """Return how much room there is where the requirements `at` hold; none: everywhere."""
    checked(short, _CAPACITY)
    made: Object = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {"name": f"{storage_class}-{number}", "namespace": "storage"},
        "storageClassName": storage_class,
        "nodeTopology": {"matchExpressions": [requirement(one) for one in short.get("at", ())]},
    }
    for field, key in (("most", "capacity"), ("largest", "maximumVolumeSize")):
        if field in short:
            made[key] = short[field]
    return made


def _volume_claim(short: Short) -> Iterator[Object]:
    """Yield a claim, and its volume where it has one: `volume` lists the terms of its affinity."""
    checked(short, _CLAIM)
    name = short["name"]
    access = [short.get("access", "ReadWriteOnce")]
    size = {"storage": short.get("size", "1Gi")}
    claim: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "storageClassName": short.get("class", ""),
            "accessModes": access,
            "resources": {"requests": size},
        },
        "status": {"phase": "Pending"},
    }
    if "volume" in short:
        claim["spec"]["volumeName"] = f"volume-{name}"
        if short.get("bound", True):
            claim["status"]["phase"] = "Bound"
            claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        volume = _volume(short, access, short["volume"])
        volume["metadata"]["name"] = f"volume-{name}"
        volume["spec"]["claimRef"] = {"namespace": "default", "name": name}
        yield volume
    yield _finished(claim, short)


def _free_volume(short: Short) -> Object:
    """Return a volume that claims may take, be it one alone (`keptFor`)."""
    checked(short, _FREE)
    access = short.get("access", "ReadWriteOnce").split()
    made = _volume(short, access, short.get("at", ()))
    if "keptFor" in short:
        made["spec"]["claimRef"] = {"namespace": "default", "name": short["keptFor"]}
    made["status"] = {"phase": "Available"}
    return _finished(made, short)


def _attachment(short: Short) -> Object:
    """Return that a volume is attached to a node."""
    checked(short, _ATTACHMENT)
    made: Object = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": short["name"]},
        "spec": {
            "attacher": short.get("attacher", "csi.example.com"),
            "nodeName": short["node"],
            "source": {"persistentVolumeName": short["volume"]},
        },
        "status": {"attached": True},
    }
    return _finished(made, short)


def _volume(short: Short, access: list[str], at: Iterable[Iterable[str]]) -> Object:
    """Return a volume that nodes reach which meet all requirements of any of these terms."""
    spec: Object = {
        "capacity": {"storage": short.get("size", "1Gi")},
        "accessModes": access,
        "storageClassName": short.get("class", ""),
    }
    disk = short.get("disk", short["name"])
    if isinstance(disk, str):
        disk = {"csi": {"driver": "csi.example.com", "volumeHandle": disk}}
    spec |= disk
    terms = [{"matchExpressions": [requirement(one) for one in term]} for term in at]
    if terms:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    labels = {canonical(key): value for key, value in short.get("labels", {}).items()}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": short["name"], "labels": labels},
        "spec": spec,
    }


def _finished(made: Object, short: Short) -> Object:
    return merged(made, {key: short[key] for key in ("metadata", "spec", "status") if key in short})
