"""Small clusters in which pods are spread and not every pool can make a node for each of them.

Apart from `mixed`, where such things seldom come together: pools are tied to zones, tainted or
limited, pods to zones, capacity types and labels of pools, and spread by every policy, also by keys
and over pods that others are not spread by.
"""

from typing import Any

from hypothesis import strategies as st

from tests.support.builders import a_type, amounts, an_offering
from tests.support.mixed import MixedCluster
from tests.support.strategies.choices import chance, pick, some_of
from tests.support.strategies.manifest_capacity import NODE_CLASS
from tests.support.strategies.manifest_pods import (
    CAPACITY_TYPE,
    HOSTNAME,
    NAMESPACES,
    ZONE,
    ZONES,
    Document,
)

_TAINT = {"key": "for", "value": "some", "effect": "NoSchedule"}
_TOLERATION = {"key": "for", "operator": "Exists"}
_APPS = ("a", "b", "c")


@st.composite
def spread_clusters(draw: st.DrawFn) -> MixedCluster:
    """Return a cluster, and what can be bought for it."""
    nodes = [_node(draw, number) for number in range(pick(draw, 0, 0, 1, 2, 3))]
    documents = [
        *({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACES[0]}},),
        *(_pool(draw, number) for number in range(pick(draw, 1, 2, 2, 3))),
        *nodes,
        *_running(draw, nodes),
        *_waiting(draw),
    ]
    if chance(draw, 15):
        documents.append(_daemon_set(draw))
    types = tuple(
        a_type(
            f"t{number}",
            capacity=amounts(cpu=cpu, memory=f"{4 * cpu}Gi", pods=20),
            offerings=tuple(
                an_offering(zone, kind, price_nanos_per_hour=cpu * pick(draw, 30, 45, 60) * 10**6)
                for zone in some_of(draw, ZONES)
                for kind in pick(draw, ("on-demand",), ("on-demand",), ("on-demand", "spot"))
            ),
        )
        for number, cpu in enumerate(some_of(draw, (2, 1, 4, 8)))
    )
    return MixedCluster(documents=tuple(documents), types=types)


def _pool(draw: st.DrawFn, number: int) -> Document:
    template: Document = {"nodeClassRef": NODE_CLASS, "requirements": []}
    if chance(draw, 50):
        values = some_of(draw, ZONES, 2)
        template["requirements"] = [{"key": ZONE, "operator": "In", "values": values}]
    if chance(draw, 40):
        template["taints"] = [_TAINT]
    labels = {"team": pick(draw, "red", "blue")} if chance(draw, 30) else {}
    spec: Document = {"template": {"metadata": {"labels": labels}, "spec": template}}
    if chance(draw, 25):
        spec["limits"] = {"cpu": pick(draw, "2", "4", "8")}
    if chance(draw, 30):
        spec["weight"] = pick(draw, 1, 9)
    name = f"p{number}"
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "uid": name},
        "spec": spec,
        "status": status,
    }


def _node(draw: st.DrawFn, number: int) -> Document:
    name = f"n{number}"
    labels = {HOSTNAME: name, ZONE: pick(draw, *ZONES), "kubernetes.io/os": "linux"}
    if chance(draw, 30):
        labels["team"] = "red"
    room = {"cpu": pick(draw, "1", "2", "4"), "memory": "16Gi", "pods": "20"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": name, "labels": labels},
        "spec": {"taints": [_TAINT] if chance(draw, 30) else []},
        "status": {"allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _running(draw: st.DrawFn, nodes: list[Document]) -> list[Document]:
    found: list[Document] = []
    for node in nodes:
        for _ in range(pick(draw, 0, 0, 1, 2)):
            spec = {"containers": _containers(100), "nodeName": node["metadata"]["name"]}
            name = f"old-{len(found)}"
            found.append(_pod(name, pick(draw, *_APPS), spec, {"phase": "Running"}))
    return found


def _waiting(draw: st.DrawFn) -> list[Document]:
    """Return pods, several of one kind each time."""
    found: list[Document] = []
    for kind in range(pick(draw, 1, 2, 3, 3)):
        app = pick(draw, _APPS[kind], _APPS[kind], _APPS[0])
        spec = _spec(draw, app)
        for _ in range(pick(draw, 1, 2, 3, 5, 8)):
            found.append(_pod(f"new-{len(found)}", app, spec, {"phase": "Pending"}))
    return found


def _spec(draw: st.DrawFn, app: str) -> Document:
    spec: Document = {"containers": _containers(pick(draw, 100, 250, 500, 900, 1500))}
    if chance(draw, 40):
        spec["tolerations"] = [_TOLERATION]
    if chance(draw, 25):
        key, value = pick(
            draw, (ZONE, ZONES[0]), ("team", "red"), (CAPACITY_TYPE, "spot"), (ZONE, ZONES[-1])
        )
        spec["nodeSelector"] = {key: value}
    spreads = [_spread(draw, app) for _ in range(pick(draw, 1, 1, 1, 0, 2))]
    spec["topologySpreadConstraints"] = list(
        {(one["topologyKey"], one["whenUnsatisfiable"]): one for one in spreads}.values()
    )
    if chance(draw, 10):
        term = {
            "topologyKey": pick(draw, ZONE, HOSTNAME),
            "labelSelector": _of(pick(draw, app, "a")),
        }
        spec["affinity"] = {
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        }
    return spec


def _spread(draw: st.DrawFn, app: str) -> Document:
    found: Document = {
        "maxSkew": pick(draw, 1, 1, 1, 2),
        "topologyKey": pick(draw, ZONE, ZONE, ZONE, HOSTNAME, CAPACITY_TYPE, "team"),
        "whenUnsatisfiable": "ScheduleAnyway" if chance(draw, 20) else "DoNotSchedule",
        "labelSelector": _of(pick(draw, app, app, app, "a", "b")),
    }
    for policy in ("nodeTaintsPolicy", "nodeAffinityPolicy"):
        if chance(draw, 30):
            found[policy] = pick(draw, "Honor", "Ignore")
    if found["whenUnsatisfiable"] == "DoNotSchedule" and chance(draw, 10):
        found["minDomains"] = 2
    return found


def _daemon_set(draw: st.DrawFn) -> Document:
    """Return a DaemonSet, sometimes one whose pods are counted with others."""
    app = pick(draw, "agent", "a")
    spec: Document = {"containers": _containers(100)}
    if chance(draw, 50):
        spec["nodeSelector"] = {ZONE: pick(draw, *ZONES)}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": NAMESPACES[0], "uid": "agent"},
        "spec": {
            "selector": _of(app),
            "template": {"metadata": {"labels": {"app": app}}, "spec": spec},
        },
    }


def _containers(millicores: int) -> list[Any]:
    requests = {"cpu": f"{millicores}m", "memory": "256Mi"}
    return [{"name": "main", "image": "x", "resources": {"requests": requests}}]


def _of(app: str) -> Document:
    return {"matchLabels": {"app": app}}


def _pod(name: str, app: str, spec: Document, status: Document) -> Document:
    if status["phase"] == "Pending":
        reason = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        status = {**status, "conditions": [reason]}
    metadata = {"name": name, "namespace": NAMESPACES[0], "uid": name, "labels": {"app": app}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "creationTimestamp": "2026-07-01T11:00:00Z"},
        "spec": spec,
        "status": status,
    }
