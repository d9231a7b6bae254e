"""Snapshots for tests: valid by default, keyword overrides, deterministic names."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue, InstanceType, NodeClassRef, Offering
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.nodepool import NodePool, NodeTemplate
from libs.domain.pod import HostPort, NodeTerm, Owner, PodRow, PodShape
from libs.domain.pod_table import PodTable
from libs.domain.requirement import Entry, Operator, Requirement
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.resources import NOTHING, Resources
from libs.domain.selector import LabelSelector
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId, keyed
from libs.domain.taint import Effect, Taint, Toleration, TolerationOperator
from libs.domain.topology import PodAffinityTerm, TopologySpread
from libs.domain.workload import DaemonSet

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
NODE_CLASS = NodeClassRef(group="karpenter.kwok.sh", kind="KWOKNodeClass", name="default")
ZONES = ("zone-a", "zone-b", "zone-c")


def amounts(**quantities: str | int) -> Resources:
    """Return resources; underscores in names are dashes, `gpu` is `nvidia.com/gpu`."""
    named = {
        "nvidia.com/gpu" if name == "gpu" else name.replace("_", "-"): value
        for name, value in quantities.items()
    }
    return Resources.from_allocatable(named)


def require(*entries: tuple[str, str, list[str]] | tuple[str, str]) -> Requirements:
    """Return requirements from (key, operator, values) triples."""
    return Requirements.of(
        Entry(key=one[0], operator=Operator(one[1]), values=tuple(one[2]) if len(one) > 2 else ())
        for one in entries
    )


def a_taint(key: str = "dedicated", value: str = "", effect: str = "NoSchedule") -> Taint:
    return Taint(key=key, value=value, effect=Effect(effect))


def a_toleration(key: str = "", effect: str | None = None) -> Toleration:
    return Toleration(
        key=key,
        operator=TolerationOperator.EXISTS,
        effect=Effect(effect) if effect else None,
    )


def selecting(**labels: str) -> LabelSelector:
    return LabelSelector.of(labels)


def a_spread(key: str = label_keys.ZONE, **override: Any) -> TopologySpread:
    """Return a required spread constraint with skew 1 over pods with label app=web."""
    return replace(TopologySpread(topology_key=key, selector=selecting(app="web")), **override)


def a_term(key: str = label_keys.HOSTNAME, **override: Any) -> PodAffinityTerm:
    """Return an affinity term about pods with label app=web in namespace `default`."""
    term = PodAffinityTerm(topology_key=key, selector=selecting(app="web"), namespaces=("default",))
    return replace(term, **override)


def a_shape(number: int = 1, *, cpu: str = "1", memory: str = "1Gi", **override: Any) -> PodShape:
    """Return a shape with label app=web.

    Args:
        number: its id.
        cpu: request.
        memory: request.
        override: fields of `PodShape`; `labels` and `selector` as mappings, `extra` as resources.
    """
    requests = Resources.from_requests({"cpu": cpu, "memory": memory, "pods": 1})
    requests = requests.add(override.pop("extra", NOTHING))
    override["labels"] = tuple(sorted(dict(override.get("labels", {"app": "web"})).items()))
    selector: Mapping[str, str] = override.pop("selector", {})
    shape = PodShape(
        id=number,
        namespace="default",
        requests=requests,
        node_selector=Requirements.from_labels(selector),
    )
    return replace(shape, **override)


def a_node_term(
    *entries: tuple[str, str, list[str]] | tuple[str, str], **override: Any
) -> NodeTerm:
    return replace(NodeTerm(requirements=require(*entries)), **override)


def a_port(port: int = 80, **override: Any) -> HostPort:
    return replace(HostPort(port=port), **override)


def a_pod(name: str = "pod-1", shape: int = 1, **override: Any) -> PodRow:
    """Return a waiting pod; with `node` it is running there."""
    row = PodRow(
        uid=f"uid-{name}",
        namespace="default",
        name=name,
        shape=shape,
        provisionable=not override.get("node"),
        created_ms=1,
    )
    return row._replace(**override)


def pods(count: int, shape: int = 1, **override: Any) -> list[PodRow]:
    """Return waiting pods `s<shape>-001`, …"""
    return [a_pod(f"s{shape}-{number:05}", shape, **override) for number in range(1, count + 1)]


def an_owner(kind: str = "ReplicaSet", name: str = "web") -> Owner:
    return Owner(api_version="apps/v1", kind=kind, name=name, uid=f"uid-{name}")


def a_node(name: str = "node-1", **override: Any) -> Node:
    """Return a Ready node in zone-a with 4 CPUs, 16 GiB, 110 pods.

    Args:
        name: its name.
        override: fields of `Node`; `labels` as a mapping is added to the usual ones,
            `allocatable` sets the capacity too.
    """
    labels = {
        label_keys.HOSTNAME: name,
        label_keys.ZONE: "zone-a",
        label_keys.ARCH: "amd64",
        label_keys.OS: "linux",
        label_keys.INSTANCE_TYPE: "m-4",
        label_keys.CAPACITY_TYPE: "on-demand",
    } | dict(override.pop("labels", {}))
    room = override.get("allocatable", amounts(cpu=4, memory="16Gi", pods=110))
    node = Node(
        name=name,
        uid=f"uid-{name}",
        labels=tuple(sorted(labels.items())),
        capacity=room,
        allocatable=room,
        created_at=NOW,
    )
    return replace(node, **override)


def a_nodeclaim(name: str = "claim-1", **override: Any) -> NodeClaim:
    """Return a claim of pool `default` that is not launched."""
    labels = {label_keys.NODEPOOL: "default"} | dict(override.pop("labels", {}))
    claim = NodeClaim(
        name=name,
        uid=f"uid-{name}",
        nodepool="default",
        node_class=NODE_CLASS,
        labels=tuple(sorted(labels.items())),
        requirements=ANYTHING,
        requests=NOTHING,
        capacity=NOTHING,
        allocatable=NOTHING,
        created_at=NOW,
    )
    return replace(claim, **override)


def a_pool(name: str = "default", **override: Any) -> NodePool:
    """Return a pool without requirements.

    Args:
        name: its name.
        override: fields of `NodePool`, or of its template.
    """
    fields = {"labels", "requirements", "taints", "startup_taints"}
    template = {key: override.pop(key) for key in list(override) if key in fields}
    if "labels" in template:
        template["labels"] = tuple(sorted(dict(template["labels"]).items()))
    base = NodeTemplate(requirements=ANYTHING, node_class=NODE_CLASS)
    pool = NodePool(
        name=name,
        uid=f"uid-{name}",
        hash=f"hash-{name}",
        template=replace(base, **template),
        limits=NOTHING,
    )
    return replace(pool, **override)


def an_offering(
    zone: str = "zone-a", capacity_type: str = "on-demand", **override: Any
) -> Offering:
    """Return an offering at 1 $/h."""
    reservation = override.get("reservation_id", "")
    own = {label_keys.ZONE: zone, label_keys.CAPACITY_TYPE: capacity_type}
    if reservation:
        own["example.com/reservation-id"] = reservation
    offering = Offering(
        zone=zone,
        capacity_type=capacity_type,
        price_nanos_per_hour=10**9,
        requirements=Requirements.from_labels(own),
        capacity_override=NOTHING,
        overhead_override=NOTHING,
    )
    return replace(offering, **override)


def a_type(
    name: str = "m-4",
    *,
    capacity: Resources | None = None,
    price: int = 10**9,
    **override: Any,
) -> InstanceType:
    """Return an amd64 type with 4 CPUs and 16 GiB, on demand and spot in three zones.

    Args:
        name: its name.
        capacity: full resources; there is no overhead.
        price: nano-dollars per hour on demand; spot is a tenth cheaper.
        override: fields of `InstanceType`; `arch` and `labels` (mapping) go into requirements.
    """
    own = {
        label_keys.INSTANCE_TYPE: name,
        label_keys.ARCH: override.pop("arch", "amd64"),
        label_keys.OS: "linux",
    } | dict(override.pop("labels", {}))
    offerings = override.get("offerings") or tuple(
        an_offering(zone, kind, price_nanos_per_hour=price * (9 if kind == "spot" else 10) // 10)
        for zone in ZONES
        for kind in ("on-demand", "spot")
    )
    zones = frozenset(one.zone for one in offerings)
    kinds = frozenset(one.capacity_type for one in offerings)
    both = (
        Requirement(key=label_keys.ZONE, complement=False, values=zones, absent=False),
        Requirement(key=label_keys.CAPACITY_TYPE, complement=False, values=kinds, absent=False),
    )
    kind = InstanceType(
        name=name,
        requirements=Requirements.from_labels(own).intersection(Requirements(both)),
        capacity=capacity or amounts(cpu=4, memory="16Gi", pods=110),
        overhead=NOTHING,
        offerings=offerings,
    )
    return replace(kind, **override)


def some_types(*cpus: int) -> tuple[InstanceType, ...]:
    """Return types `m-<cpus>` with 4 GiB per CPU, priced by CPU; without arguments 2 to 16."""
    return tuple(
        a_type(
            f"m-{cpu}",
            capacity=amounts(cpu=cpu, memory=f"{4 * cpu}Gi", pods=110),
            price=cpu * 50_000_000,
        )
        for cpu in cpus or (2, 4, 8, 16)
    )


def a_catalogue(*types: InstanceType, **override: Any) -> Catalogue:
    catalogue = Catalogue(
        node_class=NODE_CLASS,
        etag="1",
        observed_at=NOW,
        instance_types=tuple(sorted(types or some_types(), key=lambda kind: kind.name)),
    )
    return replace(catalogue, **override)


def a_daemonset(name: str = "agent", shape: int = 100) -> DaemonSet:
    return DaemonSet(namespace="default", name=name, uid=f"uid-{name}", shape=shape)


def a_snapshot(
    *,
    shapes: Iterable[PodShape] = (),
    pods: Iterable[PodRow] = (),
    **collections: Iterable[Any],
) -> ClusterSnapshot:
    """Return a snapshot; pools and catalogues default to one of each, `nodepools=[]` to none."""
    collections.setdefault("nodepools", [a_pool()])
    collections.setdefault("catalogues", [a_catalogue()])
    return ClusterSnapshot(
        id=SnapshotId(cluster_id="test", epoch=Epoch(boot_id="boot"), revision=1),
        observed_at=NOW,
        pods=PodTable.from_rows(pods),
        shapes=keyed("shapes", shapes or [a_shape()]),
        **{name: keyed(name, items) for name, items in collections.items()},
    )
