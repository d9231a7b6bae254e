"""Admission plug-ins: what changes or refuses new objects between decoding and storing.

Each is named as Kubernetes names it; a server runs those it is given, in the order of the table.
`NamespaceLifecycle` is not here: it is always on and part of the store.

Source: Kubernetes documentation, "Admission Control in Kubernetes"; details as recorded from
kube-apiserver 1.36.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from services.simulator.core.api.plugins import (
    limits,
    priorities,
    protection,
    quotas,
    runtimes,
    security,
)
from services.simulator.core.api.resources import Resource

Object = dict[str, Any]

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
_ZONE_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


class Reader(Protocol):
    """What plug-ins read: the store."""

    def find(self, resource: str, name: str, namespace: str = "") -> Object | None:
        """Return an object, None if there is none."""

    def list(self, resource: str, namespace: str | None = None) -> tuple[Object, ...]:
        """Return the objects of a kind."""


Plugin = Callable[[Reader, Resource, Object], None]
"""Changes a new object in place; raises the 403."""


def taint_new_nodes(_reader: Reader, resource: Resource, node: Object) -> None:
    """Taint a new node until its kubelet is ready."""
    if resource.qualified == "nodes":
        taints = node["spec"].setdefault("taints", [])
        if not any(
            taint["key"] == NOT_READY and taint["effect"] == "NoSchedule" for taint in taints
        ):
            taints.append({"key": NOT_READY, "effect": "NoSchedule"})


def tolerate_for_a_while(_reader: Reader, resource: Resource, pod: Object) -> None:
    """Let a pod stay five minutes on a node that fails, unless it says otherwise."""
    if resource.qualified != "pods":
        return
    tolerations = pod["spec"].setdefault("tolerations", [])
    for key in (NOT_READY, UNREACHABLE):
        if not any(_tolerates(toleration, key) for toleration in tolerations):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            )


def _tolerates(toleration: Object, key: str) -> bool:
    return bool(
        toleration.get("key", key) == key and toleration.get("effect", "NoExecute") == "NoExecute"
    )


def choose_storage_class(reader: Reader, resource: Resource, claim: Object) -> None:
    """Give a claim that names no class the default one."""
    if resource.qualified != "persistentvolumeclaims" or "storageClassName" in claim["spec"]:
        return
    defaults = [
        entry["metadata"]
        for entry in reader.list("storageclasses.storage.k8s.io")
        if entry["metadata"].get("annotations", {}).get(_DEFAULT_CLASS) == "true"
    ]
    if defaults:
        newest = max(defaults, key=lambda meta: (meta["creationTimestamp"], meta["name"]))
        claim["spec"]["storageClassName"] = newest["name"]


_PLUGINS: Mapping[str, Plugin] = MappingProxyType(
    {
        "LimitRanger": limits.limit_ranger,
        "TaintNodesByCondition": taint_new_nodes,
        "PodSecurity": security.pod_security,
        "DefaultTolerationSeconds": tolerate_for_a_while,
        "StorageObjectInUseProtection": protection.protect,
        "RuntimeClass": runtimes.runtime_class,
        "Priority": priorities.priority,
        "DefaultStorageClass": choose_storage_class,
    }
)
POD_TOPOLOGY_LABELS = "PodTopologyLabels"
RESOURCE_QUOTA = "ResourceQuota"
NO_PLUGINS: frozenset[str] = frozenset()
ALL_PLUGINS = frozenset({*_PLUGINS, POD_TOPOLOGY_LABELS, RESOURCE_QUOTA})


def admit(plugins: frozenset[str], reader: Reader, resource: Resource, obj: Object) -> None:
    """Run the plug-ins over a new object; raises the 403 of the first that refuses it."""
    for name, plugin in _PLUGINS.items():
        if name in plugins:
            plugin(reader, resource, obj)


def charge(
    plugins: frozenset[str], reader: Reader, resource: Resource, obj: Object
) -> list[Object]:
    """Return the quotas as they stand with a new object in them.

    Raises the 403 of an exceeded one.
    """
    return quotas.charge(reader, resource, obj) if RESOURCE_QUOTA in plugins else []


def warn(
    plugins: frozenset[str], reader: Reader, resource: Resource, obj: Object
) -> tuple[str, ...]:
    """Return what plug-ins warn of in a new object."""
    return security.warnings(reader, resource, obj) if "PodSecurity" in plugins else ()


def label_bound_pod(plugins: frozenset[str], reader: Reader, pod: Object) -> None:
    """Give a pod that is bound the zone and region labels of its node."""
    if POD_TOPOLOGY_LABELS not in plugins:
        return
    node = reader.find("nodes", pod["spec"]["nodeName"])
    labels = node["metadata"].get("labels", {}) if node is not None else {}
    for key in _ZONE_LABELS:
        if key in labels:
            pod["metadata"].setdefault("labels", {})[key] = labels[key]
