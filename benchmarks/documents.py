"""Kubernetes objects as an API server would list them, in the fields that planning reads.

Plain JSON documents, because the oracle that judges plans takes those; what the clock begins with
are the structs that `decoded` reads from their bytes, as an informer does.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from libs.domain import labels as keys
from libs.domain.capacity import NodeClassRef
from libs.domain.errors import InvalidRequest
from libs.kube.objects.decoding import decode_list, from_document
from libs.kube.objects.kinds import KubeObject, struct_of
from libs.kube.objects.pod import Pod

Document = dict[str, Any]

NAMESPACE = "bench"
CREATED = "2026-07-01T11:00:00Z"
_CHUNK = 5_000
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def uid(kind: int, number: int) -> str:
    """Return a uid as long as real ones; `kind` keeps numbers of different kinds apart."""
    return f"{kind:08x}-0000-4000-8000-{number:012x}"


def pod(
    name: str, pod_uid: str, requests: Mapping[str, str], labels: Mapping[str, str], **spec: Any
) -> Document:
    """Return a pod that the scheduler found no node for.

    Args:
        name: its name.
        pod_uid: its uid.
        requests: of its only container.
        labels: its labels.
        spec: the rest of its spec.
    """
    resources: dict[str, Any] = {"requests": dict(requests)}
    devices = {key: amount for key, amount in requests.items() if "/" in key}
    if devices:
        resources["limits"] = devices
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": pod_uid,
            "labels": dict(labels),
            "creationTimestamp": CREATED,
        },
        "spec": {"containers": [{"name": "main", "image": "main", "resources": resources}], **spec},
        "status": {
            "phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
        },
    }


def owned(document: Document, workload: str) -> Document:
    """Return the pod as one of a Deployment's ReplicaSet."""
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": f"{workload}-7d4b9c6f5",
        "uid": f"{workload}-uid",
        "controller": True,
    }
    document["metadata"]["ownerReferences"] = [owner]
    return document


def running(document: Document, node: str) -> Document:
    """Return the pod as it runs on a node."""
    document["spec"]["nodeName"] = node
    document["status"] = {
        "phase": "Running",
        "startTime": CREATED,
        "conditions": [
            {"type": "PodScheduled", "status": "True"},
            {"type": "Ready", "status": "True"},
        ],
    }
    return document


def selector(labels: Mapping[str, str]) -> Document:
    """Return a label selector."""
    return {"matchLabels": dict(labels)}


def spread(key: str, labels: Mapping[str, str], max_skew: int = 1) -> list[Document]:
    """Return the topology spread constraints of a pod that has one, a hard one."""
    return [
        {
            "maxSkew": max_skew,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": selector(labels),
        }
    ]


def term(key: str, labels: Mapping[str, str]) -> Document:
    """Return a term of an affinity to pods."""
    return {"topologyKey": key, "labelSelector": selector(labels)}


def node_pool(
    name: str,
    node_class: NodeClassRef,
    requirements: Sequence[tuple[str, Sequence[str]]] = (),
    **fields: Any,
) -> Document:
    """Return a NodePool that buys whatever meets the requirements, each a key and its values.

    Args:
        name: its name.
        node_class: the class of its nodes.
        requirements: keys and values that nodes must have.
        fields: `limits` and `weight` of the pool, `taints` of its nodes.
    """
    taints = {"taints": fields.pop("taints")} if "taints" in fields else {}
    template = {
        "requirements": [
            {"key": key, "operator": "In", "values": list(values)} for key, values in requirements
        ],
        "nodeClassRef": {
            "group": node_class.group,
            "kind": node_class.kind,
            "name": node_class.name,
        },
        "expireAfter": "Never",
        **taints,
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "uid": f"{name}-uid"},
        "spec": {
            "template": {"metadata": {"labels": {}}, "spec": template},
            "disruption": {"consolidateAfter": "0s"},
            **fields,
        },
    }


def daemon_set(name: str, requests: Mapping[str, str]) -> Document:
    """Return a DaemonSet that runs on every node."""
    labels = {"daemon": name}
    spec = {
        "tolerations": [{"operator": "Exists"}],
        "containers": [
            {"name": "main", "image": "main", "resources": {"requests": dict(requests)}}
        ],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": NAMESPACE, "uid": f"{name}-uid"},
        "spec": {
            "selector": selector(labels),
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def namespace() -> Document:
    """Return the namespace that all pods are in."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": NAMESPACE,
            "uid": "namespace-uid",
            "labels": {"kubernetes.io/metadata.name": NAMESPACE},
        },
    }


def in_zone(zone: str) -> Document:
    """Return the expression of a node in a zone."""
    return {"key": keys.ZONE, "operator": "In", "values": [zone]}


def decoded(documents: Iterable[Document]) -> Iterator[KubeObject]:
    """Yield the structs that an informer would yield, no two of which share anything.

    Raises:
        InvalidRequest: a document of a kind that planning does not read.
    """
    pending = iter(documents)
    while chunk := list(islice(pending, _CHUNK)):
        pods = [one for one in chunk if one["kind"] == "Pod"]
        for one in chunk:
            if one["kind"] != "Pod":
                yield _other(one)
        yield from decode_list(json.dumps({"items": pods}).encode(), Pod).items


def _other(document: Document) -> KubeObject:
    struct = struct_of(document["apiVersion"], document["kind"])
    if struct is None:
        raise InvalidRequest(f"planning does not read {document['kind']}", field="kind")
    return from_document(document, struct)
