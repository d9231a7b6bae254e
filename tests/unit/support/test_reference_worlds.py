"""What the reference solver counts on besides nodes and types: devices, overlays, what is going."""

from typing import Any

import pytest

from libs.domain import labels as keys
from libs.domain.device import Device, DevicePool
from libs.domain.plan import LaunchOption, Plan, PlannedNodeClaim
from libs.domain.solution import SolveOptions
from tests.support.builders import a_type, amounts, an_offering, require
from tests.support.reference import reference_solve, takers
from tests.unit.support.documents import SMALL, Obj, a_node, a_pod, a_pool, bought, loaded, solved

CARDS = DevicePool(driver="gpu.example.com", pool="cards", devices=(Device(name="card-0"),))
GPU = a_type(
    "gpu", capacity=amounts(cpu=8, memory="32Gi", pods=10), price=10**9, device_pools=(CARDS,)
)
CLASS = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "card"},
    "spec": {},
}
TEMPLATE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "card", "namespace": "shop"},
    "spec": {
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "card"}}]}}
    },
}
CLAIMS = [{"name": "c", "resourceClaimTemplateName": "card"}]
BRANCHES = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": keys.ARCH, "operator": "In", "values": ["arm64"]}]},
                {
                    "matchExpressions": [
                        {"key": keys.ZONE, "operator": "NotIn", "values": ["zone-a"]}
                    ]
                },
            ]
        }
    }
}
"""Either on arm64, or in another zone."""


def _given(**gates: bool) -> SolveOptions:
    return SolveOptions(feature_gates=gates)


def test_pods_with_devices_go_where_the_devices_come() -> None:
    objects = (a_pool(), CLASS, TEMPLATE, *(a_pod(n, resourceClaims=CLAIMS) for n in "ab"))
    cluster, snapshot = loaded(objects, (SMALL, GPU))

    found = reference_solve(cluster, snapshot, _given(DynamicResources=True))

    assert bought(found) == [("gpu", 1), ("gpu", 1)]


def test_pods_with_devices_wait_where_devices_are_ignored() -> None:
    found = solved(a_pool(), CLASS, TEMPLATE, a_pod("a", resourceClaims=CLAIMS), types=(SMALL, GPU))

    assert found.unplaced == ("a",)


@pytest.mark.parametrize(
    ("open_gate", "kind"),
    [pytest.param(True, "large", id="counted"), pytest.param(False, "small", id="ignored")],
)
def test_overlays_count_where_their_gate_is_open(open_gate: bool, kind: str) -> None:
    cheap = {"key": keys.INSTANCE_TYPE, "operator": "In", "values": ["large"]}
    overlay = {
        "apiVersion": "karpenter.sh/v1alpha1",
        "kind": "NodeOverlay",
        "metadata": {"name": "cheap"},
        "spec": {"requirements": [cheap], "price": "0.001"},
    }

    found = solved(a_pool(), overlay, a_pod("a"), options=_given(NodeOverlay=open_gate))

    assert bought(found) == [(kind, 1)]


def _going(name: str) -> tuple[Obj, Obj]:
    node = a_node(name, **{keys.NODEPOOL: "pool"})
    reference = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
    claim = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {
            "name": name,
            "uid": name,
            "labels": {keys.NODEPOOL: "pool"},
            "deletionTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"nodeClassRef": reference},
        "status": {"nodeName": name, "providerID": f"kwok://{name}"},
    }
    return {**node, "spec": {"providerID": f"kwok://{name}"}}, claim


@pytest.mark.parametrize(
    ("annotations", "placed"),
    [
        pytest.param({}, {"old": "n2"}, id="moves"),
        pytest.param({"karpenter.sh/do-not-disrupt": "true"}, {}, id="stays while it is protected"),
    ],
)
def test_pods_of_a_node_that_goes_need_a_place(annotations: Obj, placed: dict[str, str]) -> None:
    old = a_pod("old", nodeName="n1")
    old["metadata"]["annotations"] = annotations
    old["status"] = {"phase": "Running", "startTime": "2025-01-01T00:00:00Z"}
    cluster, snapshot = loaded((a_pool(), *_going("n1"), a_node("n2"), old))

    found = reference_solve(cluster, snapshot)

    assert found.places == placed


def _arm(name: str = "arm", **fields: Any) -> Any:
    return a_type(name, arch="arm64", capacity=amounts(cpu=4, memory="16Gi", pods=8), **fields)


@pytest.mark.parametrize(
    ("zone", "placed"),
    [
        pytest.param("zone-a", 0, id="only one type in the zone"),
        pytest.param("zone-b", 1, id="both types in the zone"),
    ],
)
def test_min_values_count_what_is_sold_where_the_volume_is(zone: str, placed: int) -> None:
    wanted = {"key": keys.INSTANCE_TYPE, "operator": "Exists", "minValues": 2}
    term = {"matchExpressions": [{"key": keys.ZONE, "operator": "In", "values": [zone]}]}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "v"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": "csi.example.com", "volumeHandle": "v"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "data",
            "namespace": "shop",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {
            "volumeName": "v",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Bound"},
    }
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]

    found = solved(
        a_pool(requirements=[wanted]),
        volume,
        claim,
        a_pod("a", volumes=volumes, affinity=BRANCHES),
        types=(_arm(), SMALL),
    )

    assert len(found.places) == placed


def test_a_planned_node_takes_nobody_who_leaves_too_little_choice() -> None:
    wanted = {"key": keys.INSTANCE_TYPE, "operator": "Exists", "minValues": 2}
    limited = a_pool(requirements=[wanted], limits={"nodes": "1"})
    on_arm = a_pod("b", nodeSelector={keys.ARCH: "arm64"})
    arm = _arm(offerings=(an_offering(price_nanos_per_hour=1),))
    cluster, snapshot = loaded((limited, a_pod("a"), on_arm), (arm, SMALL))
    pool = snapshot.nodepools["pool"]
    claim = PlannedNodeClaim(
        index=0,
        nodepool="pool",
        nodepool_uid=pool.uid,
        nodepool_hash=pool.hash,
        requirements=require(),
        requests=amounts(cpu=1, memory="100Mi", pods=1),
        instance_types=("arm", "small"),
        cheapest=LaunchOption(
            instance_type="arm", zone="zone-a", capacity_type="on-demand", price_nanos_per_hour=1
        ),
        pod_uids=("a",),
    )

    assert takers(cluster, snapshot, Plan(nodeclaims=(claim,))) == {}
