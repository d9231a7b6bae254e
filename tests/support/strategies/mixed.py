"""Whole small clusters with all kinds of constraints mixed."""

from dataclasses import replace

from hypothesis import strategies as st

from libs.domain.capacity import InstanceType
from libs.domain.feature_gates import FeatureGate
from tests.support.mixed import MixedCluster
from tests.support.strategies.choices import chance, pick, some_of
from tests.support.strategies.manifest_capacity import (
    claims_in_flight,
    daemon_sets,
    instance_types,
    nodes,
    pools,
)
from tests.support.strategies.manifest_devices import claimed, device_pools, devices_there
from tests.support.strategies.manifest_pods import (
    NAMESPACES,
    Document,
    labels,
    pod_specs,
    running_specs,
)
from tests.support.strategies.manifest_volumes import storage
from tests.support.strategies.manifest_workloads import buffers, gangs, overlays, uses_slots


@st.composite
def mixed_clusters(draw: st.DrawFn) -> MixedCluster:
    """Return a cluster, what can be bought for it, and the feature gates that are open."""
    gates = _gates(draw)
    types = draw(instance_types(reserved=chance(draw, 15)))
    offered = [draw(pools(number)) for number in range(pick(draw, 1, 2, 3))]
    with_volumes = chance(draw, 40)
    # No volume is made for a node that does not say where it is.
    there = [draw(nodes(n, zoned=with_volumes)) for n in range(pick(draw, 0, 0, 1, 2, 4))]
    names = tuple(node["metadata"]["name"] for node in there)
    volumes = draw(storage(names)) if with_volumes else ()
    waiting = _waiting(draw, volumes)
    if names and chance(draw, 15):
        _nominate(draw, waiting, names)
    pods = [*waiting, *_running(draw, names)]
    groups = gangs(draw, pods) if chance(draw, 15) else ()
    beside: list[Document] = []
    if FeatureGate.DYNAMIC_RESOURCES in gates:
        types = tuple(_with_devices(draw, one) for one in types)
        beside += draw(devices_there(names))
        _claim_devices(draw, pods)
    if FeatureGate.NODE_OVERLAY in gates:
        beside += [draw(overlays(number)) for number in range(pick(draw, 1, 2))]
        _use_slots(draw, pods)
    if FeatureGate.CAPACITY_BUFFER in gates:
        beside += draw(buffers())
    found = [
        *_namespaces(draw),
        *offered,
        *there,
        *volumes,
        *(draw(daemon_sets(number)) for number in range(pick(draw, 0, 0, 1, 2))),
        *_in_flight(draw, offered, types),
        *groups,
        *beside,
        *pods,
    ]
    return MixedCluster(documents=tuple(found), types=types, gates=gates)


def _gates(draw: st.DrawFn) -> tuple[FeatureGate, ...]:
    likely = {
        FeatureGate.DYNAMIC_RESOURCES: 12,
        FeatureGate.NODE_OVERLAY: 12,
        FeatureGate.CAPACITY_BUFFER: 12,
    }
    return tuple(gate for gate, percent in likely.items() if chance(draw, percent))


def _with_devices(draw: st.DrawFn, kind: InstanceType) -> InstanceType:
    return replace(kind, device_pools=device_pools(draw)) if chance(draw, 60) else kind


def _nominate(draw: st.DrawFn, pods: list[Document], nodes: tuple[str, ...]) -> None:
    """Have nodes nominated for some of the pods that wait, now and then one that is not there."""
    for pod in pods:
        if chance(draw, 30):
            pod["status"]["nominatedNodeName"] = pick(draw, *nodes, *nodes, "gone")
            pod["spec"].setdefault("priority", pick(draw, 0, 0, 500))


def _claim_devices(draw: st.DrawFn, pods: list[Document]) -> None:
    for pod in pods:
        if "nodeName" not in pod["spec"] and chance(draw, 40):
            pod["spec"]["resourceClaims"] = claimed(draw)


def _use_slots(draw: st.DrawFn, pods: list[Document]) -> None:
    for pod in pods:
        if "nodeName" not in pod["spec"]:
            uses_slots(draw, pod)


def _namespaces(draw: st.DrawFn) -> list[Document]:
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {"team": "y"} if name == "n1" else {}},
        }
        for name in NAMESPACES
        if not chance(draw, 20)
    ]


def _in_flight(
    draw: st.DrawFn, offered: list[Document], types: tuple[InstanceType, ...]
) -> list[Document]:
    if not chance(draw, 20):
        return []
    return [
        draw(claims_in_flight(number, pick(draw, *offered), types))
        for number in range(pick(draw, 1, 2))
    ]


def _running(draw: st.DrawFn, nodes: tuple[str, ...]) -> list[Document]:
    found: list[Document] = []
    for node in nodes:
        for _ in range(pick(draw, 0, 0, 1, 2)):
            name = f"old{len(found)}"
            pod = _pod(name, pick(draw, *NAMESPACES), labels(draw), draw(running_specs()))
            pod["spec"]["nodeName"] = node
            pod["status"]["phase"] = "Running"
            if chance(draw, 10):
                pod["metadata"]["deletionTimestamp"] = "2026-07-01T12:00:30Z"
            found.append(pod)
    return found


def _waiting(draw: st.DrawFn, volumes: tuple[Document, ...]) -> list[Document]:
    """Return pods, several of one kind each time."""
    found: list[Document] = []
    with_priorities = chance(draw, 25)
    for _ in range(pick(draw, 1, 2, 3, 4)):
        namespace, own, spec = pick(draw, *NAMESPACES), labels(draw), draw(pod_specs())
        mine = [
            one["metadata"]["name"]
            for one in volumes
            if one["kind"] == "PersistentVolumeClaim" and one["metadata"]["namespace"] == namespace
        ]
        for _ in range(pick(draw, 1, 1, 2, 3, 5, 8)):
            pod = _pod(f"new{len(found):02}", namespace, own, spec)
            if mine and chance(draw, 40):
                pod["spec"]["volumes"] = [
                    {"name": name, "persistentVolumeClaim": {"claimName": name}}
                    for name in some_of(draw, tuple(mine), 2)
                ]
            if with_priorities and chance(draw, 50):
                pod["spec"]["priority"] = pick(draw, 0, 1, 2, 100, -5)
            found.append(pod)
    return found


def _pod(name: str, namespace: str, own: dict[str, str], spec: Document) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": name,
            "labels": own,
            "creationTimestamp": "2026-07-01T11:00:00Z",
        },
        "spec": dict(spec),
        "status": {"phase": "Pending"},
    }
