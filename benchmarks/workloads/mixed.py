"""Deployments under all kinds of constraints at once on EC2: neighbours, volumes, taints, GPUs.

To what `drawing.py` draws comes, per workload: 12 % have a volume per pod (half of them bound in
a zone, half that wait for their first consumer), 10 % run in a tainted pool of their own, 3 % ask
for a GPU in another one. Three pools: general, batch, gpu.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks import catalogues, documents
from benchmarks.catalogues import EC2_ZONES, Sold
from benchmarks.documents import NAMESPACE, Document
from benchmarks.workloads import cluster, drawing
from benchmarks.workloads.drawing import Deployment
from benchmarks.workloads.openb import GPU
from benchmarks.workloads.workload import Size, Workload
from libs.domain import labels as keys
from libs.runtime.randomness import Random

PODS = 2_000
TYPES = 800

_DEDICATED = "example.com/dedicated"
_BATCH_TAINT = {"key": _DEDICATED, "value": "batch", "effect": "NoSchedule"}
_GPU_TAINT = {"key": GPU, "value": "present", "effect": "NoSchedule"}
_DRIVER = "ebs.csi.aws.com"
_CLASS = "gp3"
_MOST_ON_GPUS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mixed:
    """A workload and the zone of its volumes: none, any (empty), or where they are bound."""

    drawn: Deployment
    volumes: str | None = None


def mixed(size: Size) -> Workload:
    """Return the workload."""
    sold = catalogues.ec2(size.types or (None if size.families else TYPES), size.families)
    count = PODS if size.pods is None else size.pods
    random = Random(size.seed + 3)
    drawn = [_constrained(one, random) for one in drawing.draw(count, size.seed)]

    def there() -> Iterator[Document]:
        yield from cluster.platform(sold)
        yield from _pools(sold)
        yield _storage_class()
        yield from _claims(drawn)
        if size.nodes:
            running = cluster.PODS_PER_NODE * size.nodes
            yield from cluster.running(sold, size.nodes, running, size.seed)

    def arriving(number: int, more: int) -> Sequence[Document]:
        plain = [one.drawn for one in drawn if one.volumes is None]
        return drawing.arrivals(plain, number, more, size.seed)

    return Workload(
        name="mixed",
        sold=sold,
        there=there,
        waiting=lambda: (pod for pod, _, _ in _pods(drawn)),
        arriving=arriving,
    )


def _constrained(one: Deployment, random: Random) -> _Mixed:
    chance = random.random()
    if chance < 0.12:
        zone = random.choice(EC2_ZONES) if random.random() < 0.5 else ""
        selector = {
            key: value
            for key, value in one.spec.get("nodeSelector", {}).items()
            if key != keys.ZONE or not zone
        }
        spec = {key: value for key, value in one.spec.items() if key == "affinity"}
        return _Mixed(
            drawn=replace(one, spec=spec | ({"nodeSelector": selector} if selector else {})),
            volumes=zone,
        )
    if chance < 0.22:
        spec = one.spec | {
            "nodeSelector": one.spec.get("nodeSelector", {}) | {keys.NODEPOOL: "batch"},
            "tolerations": [{"key": _DEDICATED, "operator": "Equal", "value": "batch"}],
        }
        return _Mixed(drawn=replace(one, spec=spec))
    if chance < 0.25 and one.replicas <= _MOST_ON_GPUS:
        spec = {
            **{key: value for key, value in one.spec.items() if key != "nodeSelector"},
            "tolerations": [{"key": GPU, "operator": "Exists"}],
        }
        return _Mixed(drawn=replace(one, spec=spec, requests=one.requests | {GPU: "1"}))
    return _Mixed(drawn=one)


def _pools(sold: Sold) -> Iterator[Document]:
    place = [(keys.OS, ["linux"]), (keys.ZONE, EC2_ZONES)]
    yield documents.node_pool("batch", sold.node_class, place, taints=[_BATCH_TAINT])
    yield documents.node_pool(
        "gpu",
        sold.node_class,
        [*place, (catalogues.CATEGORY, ["g", "p"])],
        taints=[_GPU_TAINT],
        weight=10,
    )


def _pods(drawn: Iterable[_Mixed]) -> Iterator[tuple[Document, _Mixed, int]]:
    """Yield the waiting pods, each with its workload and its number."""
    number = 0
    for one in drawn:
        for _ in range(one.drawn.replicas):
            pod = one.drawn.pod(0, number)
            if one.volumes is not None:
                claim = {"claimName": _claim_name(number)}
                pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": claim}]
            yield pod, one, number
            number += 1


def _claims(drawn: Iterable[_Mixed]) -> Iterator[Document]:
    for _, one, number in _pods(drawn):
        if one.volumes is not None:
            yield _claim(number, bound=bool(one.volumes))
        if one.volumes:
            yield _volume(number, one.volumes)


def _claim_name(number: int) -> str:
    return f"data-{number:06}"


def _claim(number: int, *, bound: bool) -> Document:
    metadata: Document = {
        "name": _claim_name(number),
        "namespace": NAMESPACE,
        "uid": documents.uid(3, number),
    }
    if bound:
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "10Gi"}},
            "storageClassName": _CLASS,
            **({"volumeName": f"volume-{number:06}"} if bound else {}),
        },
        "status": {"phase": "Bound" if bound else "Pending"},
    }


def _volume(number: int, zone: str) -> Document:
    term = {"matchExpressions": [documents.in_zone(zone)]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"volume-{number:06}", "uid": documents.uid(4, number)},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "10Gi"},
            "storageClassName": _CLASS,
            "csi": {"driver": _DRIVER, "volumeHandle": f"vol-{number:06}"},
            "claimRef": {
                "kind": "PersistentVolumeClaim",
                "namespace": NAMESPACE,
                "name": _claim_name(number),
                "uid": documents.uid(3, number),
            },
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
        "status": {"phase": "Bound"},
    }


def _storage_class() -> Document:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": _CLASS, "uid": f"{_CLASS}-uid"},
        "provisioner": _DRIVER,
        "volumeBindingMode": "WaitForFirstConsumer",
    }
