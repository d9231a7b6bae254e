"""What can be bought and what is there, as Kubernetes documents: pools, daemons, nodes, claims."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from libs.domain.capacity import InstanceType, Offering
from tests.support.builders import a_type, amounts, an_offering, require
from tests.support.strategies.choices import chance, pick, some_of
from tests.support.strategies.manifest_pods import (
    CAPACITY_TYPE,
    HOSTNAME,
    TAINTS,
    TYPES,
    VALUES,
    ZONE,
    ZONES,
    Document,
    node_terms,
)

NODE_CLASS = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
_BOUNDS = ("Gt", "Lt", "Gte", "Lte")


@st.composite
def instance_types(draw: st.DrawFn, *, reserved: bool) -> tuple[InstanceType, ...]:
    """Return some types; those with reservations only if asked for."""
    many = [_type(draw, name, reserved=reserved) for name in TYPES[: pick(draw, 1, 2, 3, 4)]]
    return tuple(one for one in many if one.offerings)


def _type(draw: st.DrawFn, name: str, *, reserved: bool) -> InstanceType:
    cpu = pick(draw, 2, 1, 4, 8, 16)
    gib = cpu * pick(draw, 2, 1, 4)
    room: dict[str, Any] = {
        "cpu": cpu,
        "memory": f"{gib}Gi",
        "pods": pick(draw, 110, 4, 8, 29),
    }
    if chance(draw, 20):
        room["gpu"] = pick(draw, 1, 4)
    if chance(draw, 50):
        room["ephemeral_storage"] = "20Gi"
    price = cpu * 25_000_000 + gib * 3_000_000
    offerings = [
        _offering(draw, zone, kind, price)
        for zone in ZONES
        for kind in ("on-demand", "spot")
        if not chance(draw, 20)
    ]
    if reserved and chance(draw, 50):
        offerings.append(
            an_offering(
                pick(draw, *ZONES),
                "reserved",
                price_nanos_per_hour=1000,
                reservation_id=f"r-{pick(draw, '1', '2')}",
                reservation_capacity=pick(draw, 1, 0, 2),
            )
        )
    if not offerings:
        offerings.append(an_offering(ZONES[0], price_nanos_per_hour=price))
    kind = a_type(
        name,
        capacity=amounts(**room),
        arch=pick(draw, "amd64", "amd64", "arm64"),
        overhead=pick(draw, amounts(cpu="100m"), amounts(), amounts(memory="200Mi")),
        offerings=tuple(offerings),
    )
    generation = ("gen", "In", [pick(draw, *VALUES["gen"])]) if chance(draw, 50) else None
    own = require(generation or ("gen", "DoesNotExist"))
    return replace(kind, requirements=kind.requirements.intersection(own))


def _offering(draw: st.DrawFn, zone: str, kind: str, price: int) -> Offering:
    share = pick(draw, 100, 95, 110)
    if kind == "spot":
        share -= 30
    return an_offering(
        zone, kind, price_nanos_per_hour=price * share // 100, available=not chance(draw, 10)
    )


@st.composite
def pools(draw: st.DrawFn, number: int) -> Document:
    """Return a NodePool."""
    labels = {"disk": pick(draw, "ssd", "hdd")} if chance(draw, 40) else {}
    template: Document = {
        "requirements": _pool_requirements(draw),
        "nodeClassRef": NODE_CLASS,
    }
    if chance(draw, 30):
        template["taints"] = [_taint(draw)]
    if chance(draw, 20):
        template["startupTaints"] = [{"key": "boot", "effect": "NoSchedule"}]
    spec: Document = {"template": {"metadata": {"labels": labels}, "spec": template}}
    if chance(draw, 30):
        spec["weight"] = pick(draw, 1, 10, 100)
    if chance(draw, 30):
        spec["limits"] = pick(
            draw, {"cpu": "8"}, {"cpu": "4"}, {"cpu": "20"}, {"memory": "20Gi"}, {"nodes": "0"},
            {"nodes": "1"}, {"nodes": "3"}, {"cpu": "16", "memory": "24Gi"},
        )  # fmt: skip
    return _object("karpenter.sh/v1", "NodePool", f"p{number}", spec=spec)


def _taint(draw: st.DrawFn) -> Document:
    key, value = pick(draw, *TAINTS)
    effect = pick(draw, "NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule")
    return {"key": key, "value": value, "effect": effect}


def _pool_requirements(draw: st.DrawFn) -> list[Document]:
    found: list[Document] = []
    for key, likely in ((ZONE, 40), (CAPACITY_TYPE, 40), ("kubernetes.io/arch", 20), ("gen", 20)):
        if chance(draw, likely):
            operator = pick(draw, "In", "In", "NotIn")
            values = some_of(draw, VALUES[key], len(VALUES[key]) - 1)
            found.append({"key": key, "operator": operator, "values": values})
    if chance(draw, 15):
        found.append({"key": "disk", "operator": pick(draw, "Exists", "DoesNotExist")})
    if chance(draw, 15):
        values = [pick(draw, "3", "5", "7")]
        found.append({"key": "gen", "operator": pick(draw, *_BOUNDS), "values": values})
    if chance(draw, 15):
        operator = pick(draw, "Exists", "In")
        values = ["1", "2"] if operator == "In" else []
        found.append({"key": "rack", "operator": operator, "values": values})
    if chance(draw, 10):
        key = pick(draw, "node.kubernetes.io/instance-type", ZONE, "kubernetes.io/arch")
        found.append({"key": key, "operator": "Exists", "minValues": pick(draw, 1, 2, 3)})
    return found


@st.composite
def daemon_sets(draw: st.DrawFn, number: int) -> Document:
    """Return a DaemonSet, sometimes with pods that selectors of others match."""
    container: Document = {
        "name": "d",
        "resources": {"requests": {"cpu": pick(draw, "100m", "500m"), "memory": "64Mi"}},
    }
    spec: Document = {"containers": [container]}
    if chance(draw, 30):
        spec["nodeSelector"] = {"kubernetes.io/arch": "amd64"}
    if chance(draw, 30):
        terms = {"nodeSelectorTerms": node_terms(draw)}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
        spec["affinity"] = {"nodeAffinity": required}
    if chance(draw, 50):
        spec["tolerations"] = [{"operator": "Exists"}]
    if chance(draw, 20):
        container["ports"] = [{"containerPort": 80, "hostPort": 8080}]
    template = {"metadata": {"labels": {"app": pick(draw, "ds", "ds", "a")}}, "spec": spec}
    return _object(
        "apps/v1",
        "DaemonSet",
        f"ds{number}",
        namespace="n1",
        spec={"selector": {"matchLabels": {"app": "ds"}}, "template": template},
    )


@st.composite
def nodes(draw: st.DrawFn, number: int, *, zoned: bool) -> Document:
    """Return a node, often without some of the usual labels."""
    name = f"node{number}"
    labels = {
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": pick(draw, "amd64", "amd64", "arm64"),
        "node.kubernetes.io/instance-type": "t0",
    }
    for key, likely in ((HOSTNAME, 95), (ZONE, 90), ("disk", 50), (CAPACITY_TYPE, 50), ("gen", 30)):
        if chance(draw, likely) or (zoned and key == ZONE):
            labels[key] = name if key == HOSTNAME else pick(draw, *VALUES[key])
    if chance(draw, 30):
        labels["karpenter.sh/nodepool"] = "p0"
    spec: Document = {}
    if chance(draw, 15):
        spec["unschedulable"] = True
    if chance(draw, 25):
        spec["taints"] = [_taint(draw)]
    room = {
        "cpu": pick(draw, "4", "1", "2", "3920m"),
        "memory": pick(draw, "8Gi", "2Gi"),
        "pods": pick(draw, "110", "3", "10"),
    }
    status = {
        "capacity": room,
        "allocatable": room,
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    return _object("v1", "Node", name, labels=labels, spec=spec, status=status)


@st.composite
def claims_in_flight(
    draw: st.DrawFn, number: int, pool: Document, types: tuple[InstanceType, ...]
) -> Document:
    """Return a NodeClaim of a pool whose node is not there yet, launched or not."""
    template = pool["spec"]["template"]
    labels = dict(template["metadata"]["labels"]) | {
        "karpenter.sh/nodepool": pool["metadata"]["name"]
    }
    kind = pick(draw, *types)
    offering = pick(draw, *kind.offerings)
    requirements = [
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [kind.name]},
        {"key": CAPACITY_TYPE, "operator": "In", "values": [offering.capacity_type]},
    ]
    status: Document = {}
    # What a claim that is not launched takes of limits is anybody's guess.
    if chance(draw, 60) or "limits" in pool["spec"]:
        labels |= {**kind.requirements.single_values(), **offering.requirements.single_values()}
        room = kind.capacity.subtract(kind.overhead)
        status = {
            "providerID": f"kwok://c{number}",
            "capacity": kind.capacity.to_quantities(),
            "allocatable": room.to_quantities(),
        }
    else:
        zones = sorted({one.zone for one in kind.offerings})
        requirements.append({"key": ZONE, "operator": "In", "values": zones})
    spec = {
        "requirements": requirements,
        "resources": {"requests": {"cpu": "100m"}},
        "taints": template["spec"].get("taints", []),
        "nodeClassRef": NODE_CLASS,
    }
    return _object(
        "karpenter.sh/v1", "NodeClaim", f"claim{number}", labels=labels, spec=spec, status=status
    )


def _object(
    api_version: str,
    kind: str,
    name: str,
    *,
    namespace: str = "",
    labels: dict[str, str] | None = None,
    **rest: Document,
) -> Document:
    metadata: Document = {"name": name, "uid": name, "labels": labels or {}}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}
