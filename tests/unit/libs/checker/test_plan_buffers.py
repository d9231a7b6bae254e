"""Virtual pods of buffers in plans: new nodes must have room for them, too."""

from typing import Any

import pytest

from libs.checker.plan import check_plan
from libs.domain.plan import LaunchOption, Plan, PlannedNodeClaim
from libs.domain.pod import PodShape
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.workload import CapacityBuffer
from libs.oracle.cluster import Cluster
from tests.support.builders import (
    ZONES,
    a_catalogue,
    a_node_term,
    a_pod,
    a_pool,
    a_port,
    a_shape,
    a_snapshot,
    a_spread,
    a_taint,
    a_term,
    a_toleration,
    a_type,
    amounts,
    require,
)

KIND = a_type("m-4", capacity=amounts(cpu=4, memory="16Gi", pods=8))
OPTION = LaunchOption(
    instance_type="m-4", zone="zone-a", capacity_type="spot", price_nanos_per_hour=9 * 10**8
)
GEN = "example.com/gen"


def _buffer(shape: PodShape, count: int, **pool: Any) -> ClusterSnapshot:
    buffer = CapacityBuffer(namespace="default", name="room", uid="room", shape=1, replicas=count)
    rows = [
        a_pod(f"capacity-buffer-room-{n}", uid=f"room-{n}", provisionable=False)
        for n in range(1, count + 1)
    ]
    return a_snapshot(
        shapes=[shape],
        pods=rows,
        buffers=[buffer],
        nodepools=[a_pool(labels={GEN: "7"}, **pool)],
        catalogues=[a_catalogue(KIND)],
    )


def _plan(snapshot: ClusterSnapshot, count: int, cpu: int) -> Plan:
    pool = snapshot.nodepools["default"]
    claim = PlannedNodeClaim(
        index=0,
        nodepool=pool.name,
        nodepool_uid=pool.uid,
        nodepool_hash=pool.hash,
        requirements=require((GEN, "In", ["7"])),
        requests=amounts(cpu=cpu, memory=f"{count}Gi", pods=count),
        instance_types=("m-4",),
        cheapest=OPTION,
        pod_uids=tuple(f"room-{n}" for n in range(1, count + 1)),
    )
    return Plan(nodeclaims=(claim,))


@pytest.mark.parametrize(
    ("shape", "count", "pool", "rules"),
    [
        pytest.param(a_shape(), 4, {}, set(), id="as many as fit"),
        pytest.param(
            a_shape(host_ports=(a_port(),)), 2, {}, {"NodePorts"}, id="a host port only once"
        ),
        pytest.param(
            a_shape(), 1, {"taints": (a_taint(),)}, {"TaintToleration"}, id="a taint of the pool"
        ),
        pytest.param(
            a_shape(tolerations=(a_toleration("dedicated", "NoSchedule"),)),
            1,
            {"taints": (a_taint(),)},
            set(),
            id="a taint that they bear",
        ),
        pytest.param(
            a_shape(selector={"topology.kubernetes.io/zone": ZONES[1]}),
            1,
            {},
            {"NodeAffinity"},
            id="another zone",
        ),
        pytest.param(
            a_shape(required_node_terms=(a_node_term((GEN, "Gt", ["6"])),)),
            1,
            {},
            set(),
            id="a bound that holds",
        ),
        pytest.param(
            a_shape(required_node_terms=(a_node_term((GEN, "Lte", ["6"])),)),
            1,
            {},
            {"NodeAffinity"},
            id="a bound that does not",
        ),
        pytest.param(
            a_shape(
                required_node_terms=(a_node_term(node_names=("n1",)), a_node_term((GEN, "Exists")))
            ),
            1,
            {},
            set(),
            id="any term suffices",
        ),
        pytest.param(
            a_shape(
                topology_spread=(a_spread("kubernetes.io/hostname"),), anti_affinity=(a_term(),)
            ),
            2,
            {},
            set(),
            id="rules about other pods are passed over",
        ),
    ],
)
def test_virtual_pods_can_come_where_a_plan_buys_for_them(
    shape: PodShape, count: int, pool: dict[str, Any], rules: set[str]
) -> None:
    snapshot = _buffer(shape, count, **pool)

    found = check_plan(Cluster(), snapshot, _plan(snapshot, count, count))

    assert {one.rule for one in found} == rules
