"""A workload in one line of a table, and the Kubernetes objects that it is.

Apart from the table because that one is read by people who want to know what runs.
"""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Any

from libs.domain import labels as keys

Manifest = dict[str, Any]

NAME = "app.kubernetes.io/name"
"""Label of every pod: its workload."""
_DOMAIN = "demo.joiner.io"
_GPU = "nvidia.com/gpu"
_GPU_MAKER = "karpenter.k8s.aws/instance-gpu-manufacturer"
_ZONES = 3
_GRACE_SECONDS = 5


class Kind(StrEnum):
    """What controls the pods."""

    DEPLOYMENT = "Deployment"
    STATEFUL_SET = "StatefulSet"
    DAEMON_SET = "DaemonSet"


@dataclass(frozen=True, slots=True)
class Workload:
    """Pods of one kind, and where they may run."""

    name: str
    replicas: int
    """Of a DaemonSet 0: one for each of its nodes."""
    cpu: str
    memory: str
    _: KW_ONLY
    namespace: str
    peak: int = 0
    """Replicas while the load is high; 0: no more than else."""
    kind: Kind = Kind.DEPLOYMENT
    zone_spread: bool = False
    """As many pods in each zone as in any other, give or take one."""
    one_per_node: bool = False
    """Anti-affinity among its own pods by hostname."""
    max_unavailable: int | str = 0
    """Of its PodDisruptionBudget; 0: it has none."""
    volume: str = ""
    """Storage class of a volume of each pod's own."""
    gpus: int = 0
    arch: str = ""
    """Runs on nodes of another architecture than most, which are tainted with its name."""
    on_demand: bool = False
    """Never on spot."""
    pool_label: tuple[str, str] | None = None
    """Runs only on nodes with this label and taint, its domain left out."""
    gpu_nodes_only: bool = False
    placeable: bool = True
    """False: asks for what nobody sells."""


def manifests(workload: Workload) -> Iterator[Manifest]:
    """Yield the objects of a workload; its namespace is not among them."""
    if workload.max_unavailable:
        yield _budget(workload)
    yield _controller(workload)


def _budget(workload: Workload) -> Manifest:
    spec = {"maxUnavailable": workload.max_unavailable, "selector": _selector(workload)}
    return _object("policy/v1", "PodDisruptionBudget", workload, spec)


def _controller(workload: Workload) -> Manifest:
    spec: Manifest = {
        "selector": _selector(workload),
        "template": {"metadata": {"labels": {NAME: workload.name}}, "spec": _pod_spec(workload)},
    }
    if workload.kind is not Kind.DAEMON_SET:
        spec["replicas"] = workload.replicas
    if workload.kind is Kind.STATEFUL_SET:
        spec |= {"serviceName": workload.name, "podManagementPolicy": "Parallel"}
    if workload.volume:
        spec["volumeClaimTemplates"] = [_volume_claim(workload.volume)]
    return _object("apps/v1", str(workload.kind), workload, spec)


def _object(api_version: str, kind: str, workload: Workload, spec: Manifest) -> Manifest:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": workload.name,
            "namespace": workload.namespace,
            "labels": {NAME: workload.name},
        },
        "spec": spec,
    }


def _selector(workload: Workload) -> Manifest:
    return {"matchLabels": {NAME: workload.name}}


def _pod_spec(workload: Workload) -> Manifest:
    spec: Manifest = {
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        "containers": [_container(workload)],
    }
    if workload.kind is Kind.DAEMON_SET:
        # As node agents have it everywhere: a new node has room for them before anyone else.
        spec["priorityClassName"] = "system-node-critical"
    selector = dict(_node_labels(workload))
    if selector:
        spec["nodeSelector"] = selector
    tolerations = list(_tolerations(workload))
    if tolerations:
        spec["tolerations"] = tolerations
    if workload.zone_spread:
        spec["topologySpreadConstraints"] = [_zone_spread(workload)]
    if workload.one_per_node:
        spec["affinity"] = _one_per_node(workload)
    return spec


def _container(workload: Workload) -> Manifest:
    requests = {"cpu": workload.cpu, "memory": workload.memory}
    limits = {"memory": workload.memory}
    if workload.gpus:
        requests[_GPU] = limits[_GPU] = str(workload.gpus)
    container: Manifest = {
        "name": "main",
        "image": f"demo.joiner.io/{workload.name}:1",
        "resources": {"requests": requests, "limits": limits},
    }
    if workload.volume:
        container["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    return container


def _node_labels(workload: Workload) -> Iterator[tuple[str, str]]:
    if workload.arch:
        yield keys.ARCH, workload.arch
    if workload.on_demand:
        yield keys.CAPACITY_TYPE, keys.ON_DEMAND
    if workload.pool_label:
        key, value = workload.pool_label
        yield f"{_DOMAIN}/{key}", value
    if workload.gpu_nodes_only:
        yield _GPU_MAKER, "nvidia"


def _tolerations(workload: Workload) -> Iterator[Manifest]:
    if workload.kind is Kind.DAEMON_SET:
        yield {"operator": "Exists"}
        return
    if workload.gpus:
        yield {"key": _GPU, "operator": "Exists", "effect": "NoSchedule"}
    if workload.arch:
        yield {"key": keys.ARCH, "value": workload.arch, "effect": "NoSchedule"}
    if workload.pool_label:
        key, value = workload.pool_label
        yield {"key": f"{_DOMAIN}/{key}", "value": value, "effect": "NoSchedule"}


def _zone_spread(workload: Workload) -> Manifest:
    return {
        "topologyKey": keys.ZONE,
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        # Without it kube-scheduler knows only zones that have nodes already, and would put all pods
        # into the first zone of an empty cluster.
        "minDomains": _ZONES,
        "labelSelector": _selector(workload),
    }


def _one_per_node(workload: Workload) -> Manifest:
    term = {"topologyKey": keys.HOSTNAME, "labelSelector": _selector(workload)}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _volume_claim(storage_class: str) -> Manifest:
    return {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": "100Gi"}},
        },
    }
