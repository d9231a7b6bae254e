"""Each rule of the checker is broken once, and named."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from libs.catalogues import file, well_known_keys
from libs.checker.plan import check_solution
from libs.cluster.files import load
from libs.domain.capacity import Catalogue, NodeClassRef
from libs.domain.plan import LaunchOption, Nomination, Plan, PlannedNodeClaim, UnplacedPods
from libs.domain.reason import TargetKind, Unplaceable
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import CPU, Resources
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId
from libs.domain.solution import Cost, PodCounts, Solution, SolveOptions
from libs.oracle.check import Violation
from libs.oracle.cluster import Cluster

CLASS = NodeClassRef(group="karpenter.kwok.sh", kind="KWOKNodeClass", name="default")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
ID = SnapshotId(cluster_id="files", epoch=Epoch(boot_id="files"), revision=1)
TYPES = b"""[
 {"name": "%b", "architecture": "amd64", "operatingSystems": ["linux"],
  "resources": {"cpu": "2", "memory": "4Gi"},
  "offerings": [{"Price": 0.1, "Requirements": [%b]}]},
 {"name": "large", "architecture": "amd64", "operatingSystems": ["linux"],
  "resources": {"cpu": "8", "memory": "16Gi"},
  "offerings": [{"Price": 0.4, "Requirements": [%b]}]},
 {"name": "windows", "architecture": "amd64", "operatingSystems": ["windows"],
  "resources": {"cpu": "2", "memory": "4Gi"},
  "offerings": [{"Price": 0.2, "Requirements": [%b]}]}
]"""
PLACE = (
    b'{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]},'
    b'{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}'
)
CHEAPEST = LaunchOption(
    instance_type="small", zone="a", capacity_type="on-demand", price_nanos_per_hour=100_000_000
)


def _pod(name: str, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"containers": [container], **spec},
    }


def _pool(name: str = "pool", **spec: Any) -> dict[str, Any]:
    reference = {"group": CLASS.group, "kind": CLASS.kind, "name": CLASS.name}
    linux = {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}
    template = {"spec": {"nodeClassRef": reference, "requirements": [linux]}}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "uid": name},
        "spec": {"template": template, **spec},
    }


def _node(name: str, cpu: str = "4") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}},
    }


def _flying(**spec: Any) -> dict[str, Any]:
    reference = {"group": CLASS.group, "kind": CLASS.kind, "name": CLASS.name}
    metadata = {"name": "flying", "uid": "flying", "labels": {"karpenter.sh/nodepool": "pool"}}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": metadata,
        "spec": {"nodeClassRef": reference, **spec},
    }


OBJECTS = (_pod("new"), _pod("old"), _pod("big", cpu="100"), _node("n1"), _pool())


def _cluster(*objects: dict[str, Any]) -> tuple[ClusterSnapshot, Cluster]:
    loaded = load([("test", list(objects))], default_class=CLASS)
    types = file.parse(TYPES % (b"small", PLACE, PLACE, PLACE))
    for node_class in loaded.node_classes:
        catalogue = Catalogue(
            node_class=node_class,
            etag="",
            observed_at=NOW,
            instance_types=types,
            well_known_keys=well_known_keys("file", types),
        )
        loaded.state.set_catalogue(catalogue)
    cluster = Cluster()
    for kind, document in loaded.documents:
        cluster.put(kind, document)
    return loaded.state.snapshot(NOW, ID), cluster


def _claim(snapshot: ClusterSnapshot, **changes: Any) -> PlannedNodeClaim:
    pool = snapshot.nodepools["pool"]
    claim = PlannedNodeClaim(
        index=0,
        nodepool=pool.name,
        nodepool_uid=pool.uid,
        nodepool_hash=pool.hash,
        requirements=pool.template.requirements,
        requests=Resources({CPU: 1_000, "pods": 1}),
        instance_types=("small", "large"),
        cheapest=CHEAPEST,
        pod_uids=("new",),
    )
    return replace(claim, **changes)


def _solution(plan: Plan) -> Solution:
    on_existing = sum(len(one.pod_uids) for one in plan.nominations)
    on_new = sum(len(one.pod_uids) for one in plan.nodeclaims)
    unplaced = sum(len(one.pod_uids) for one in plan.unplaced)
    price = sum(one.cheapest.price_nanos_per_hour for one in plan.nodeclaims)
    return Solution(
        snapshot=ID,
        options=SolveOptions(),
        solver_version="1",
        plan=plan,
        cost=Cost(new_nanos_per_hour=price),
        plan_id="p",
        pods=PodCounts(
            waiting=on_existing + on_new + unplaced,
            on_existing=on_existing,
            on_new=on_new,
            unplaced=unplaced,
        ),
    )


def _right(snapshot: ClusterSnapshot, **claim: Any) -> Plan:
    return Plan(
        nodeclaims=(_claim(snapshot, **claim),),
        nominations=(_nomination("n1", "old"),),
        unplaced=(_without_place("big"),),
    )


def _nomination(node: str, *uids: str) -> Nomination:
    return Nomination(target_kind=TargetKind.NODE, target=node, pod_uids=uids)


def _without_place(*uids: str) -> UnplacedPods:
    return UnplacedPods(pod_uids=uids, reason=Unplaceable(message="too big"))


def _rules(found: list[Violation]) -> set[tuple[str, str, str]]:
    return {(one.rule, one.pod, one.node) for one in found}


def test_a_right_plan_breaks_no_rule() -> None:
    snapshot, cluster = _cluster(*OBJECTS)

    assert check_solution(cluster, snapshot, _solution(_right(snapshot))) == []


def test_a_node_of_any_name_may_exist() -> None:
    snapshot, cluster = _cluster(*OBJECTS, _node("new-0"), _node("nodeclaims-0"))

    assert check_solution(cluster, snapshot, _solution(_right(snapshot))) == []


TWO_OF_ONE = Requirements(
    [
        Requirement.of("kubernetes.io/os", Operator.IN, ["linux"]),
        replace(Requirement.of("topology.kubernetes.io/zone", Operator.IN, ["a"]), min_values=2),
    ]
)
ZONE_B = Requirements([Requirement.of("topology.kubernetes.io/zone", Operator.IN, ["b"])])


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        pytest.param({"nodepool": "gone"}, {"NodePool", "UnknownNode"}, id="pool is gone"),
        pytest.param({"nodepool_hash": "x"}, {"StalePool"}, id="pool has changed"),
        pytest.param({"nodepool_uid": "x"}, {"StalePool"}, id="pool was made anew"),
        pytest.param(
            {"cheapest": replace(CHEAPEST, zone="b")}, {"Offering", "UnknownNode"}, id="not sold"
        ),
        pytest.param(
            {"cheapest": replace(CHEAPEST, price_nanos_per_hour=1)}, {"Price"}, id="price"
        ),
        pytest.param(
            {
                "cheapest": replace(
                    CHEAPEST, instance_type="large", price_nanos_per_hour=400_000_000
                )
            },
            {"Cheapest"},
            id="dearer than need be",
        ),
        pytest.param({"instance_types": ("large",)}, {"LaunchList"}, id="cheapest is not listed"),
        pytest.param({"instance_types": ("small", "x")}, {"LaunchList"}, id="listed is not sold"),
        pytest.param(
            {"requests": Resources({CPU: 5_000, "pods": 1})}, {"LaunchList"}, id="listed is small"
        ),
        pytest.param({"requests": Resources({"pods": 1})}, {"Requests"}, id="requests"),
        pytest.param({"requirements": Requirements()}, {"Requirements"}, id="wider than the pool"),
        pytest.param(
            {"requirements": TWO_OF_ONE}, {"Requirements"}, id="fewer values than minValues"
        ),
        pytest.param(
            {
                "cheapest": replace(
                    CHEAPEST, instance_type="windows", price_nanos_per_hour=200_000_000
                ),
                "instance_types": ("windows",),
            },
            {"Requirements", "LaunchList"},
            id="type that the pool forbids",
        ),
        pytest.param(
            {"labels": (("kubernetes.io/os", "windows"),)}, {"Labels"}, id="label that it forbids"
        ),
        pytest.param(
            {"pod_uids": ("big",)},
            {"Requests", "NodeResourcesFit", "Lost", "Unplaced"},
            id="pod that does not fit",
        ),
        pytest.param({"pod_uids": ("new", "ghost")}, {"UnknownPod"}, id="pod that there is not"),
        pytest.param({"pod_uids": ("new", "old")}, {"PlacedTwice", "Requests"}, id="pod twice"),
    ],
)
def test_what_is_wrong_with_a_claim_is_named(changes: dict[str, Any], rules: set[str]) -> None:
    snapshot, cluster = _cluster(*OBJECTS)

    found = check_solution(cluster, snapshot, _solution(_right(snapshot, **changes)))

    assert {one.rule for one in found} == rules


def test_a_claim_that_forbids_what_it_buys_is_named() -> None:
    snapshot, cluster = _cluster(*OBJECTS)
    requirements = snapshot.nodepools["pool"].template.requirements.intersection(ZONE_B)

    found = check_solution(
        cluster, snapshot, _solution(_right(snapshot, requirements=requirements))
    )

    assert ("Requirements", "", "nodeclaims[0]") in _rules(found)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(
            lambda plan: replace(plan, nominations=()),
            ("Lost", "shop/old", ""),
            id="pod that nothing is said of",
        ),
        pytest.param(
            lambda plan: replace(plan, nominations=(_nomination("gone", "old"),)),
            ("UnknownNode", "shop/old", "gone"),
            id="node that there is not",
        ),
        pytest.param(
            lambda plan: replace(plan, nominations=(_nomination("n1", "big", "old"),), unplaced=()),
            ("NodeResourcesFit", "shop/big", "n1"),
            id="pod that does not fit",
        ),
        pytest.param(
            lambda plan: replace(plan, unplaced=(_without_place("big", "old"),)),
            ("Unplaced", "shop/old", ""),
            id="pod with a place after all",
        ),
        pytest.param(
            lambda plan: replace(plan, unplaced=(_without_place("big", "ghost"),)),
            ("UnknownPod", "ghost", ""),
            id="pod without a place that there is not",
        ),
    ],
)
def test_what_is_wrong_with_a_placement_is_named(
    change: Callable[[Plan], Plan], expected: tuple[str, str, str]
) -> None:
    snapshot, cluster = _cluster(*OBJECTS)

    found = check_solution(cluster, snapshot, _solution(change(_right(snapshot))))

    assert _rules(found) == {expected}


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        pytest.param(_pool(replicas=3), 'nodepool "pool" has a fixed number of nodes', id="static"),
        pytest.param(
            _pool() | {"metadata": {"name": "pool", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
            'nodepool "pool" is not ready: it is being deleted',
            id="not ready",
        ),
    ],
)
def test_nothing_is_bought_for_such_a_pool(pool: dict[str, Any], message: str) -> None:
    snapshot, cluster = _cluster(*OBJECTS[:-1], pool)

    found = check_solution(cluster, snapshot, _solution(_right(snapshot)))

    assert message in [one.message for one in found if one.rule == "NodePool"]


@pytest.mark.parametrize("limits", [{"cpu": "1"}, {"nodes": "0"}, {"memory": "1Gi"}], ids=str)
def test_limits_of_a_pool_hold(limits: dict[str, str]) -> None:
    snapshot, cluster = _cluster(*OBJECTS[:-1], _pool(limits=limits))

    found = check_solution(cluster, snapshot, _solution(_right(snapshot)))

    assert _rules(found) == {("NodePoolLimits", "", "")}


def test_a_limit_that_is_just_reached_holds() -> None:
    snapshot, cluster = _cluster(*OBJECTS[:-1], _pool(limits={"cpu": "2", "nodes": "1"}))

    assert check_solution(cluster, snapshot, _solution(_right(snapshot))) == []


def test_daemons_take_their_room_first() -> None:
    snapshot, cluster = _cluster(*OBJECTS)
    template = {"spec": {"containers": [{"name": "d", "resources": {"requests": {"cpu": "1"}}}]}}
    daemons = {
        "metadata": {"name": "d", "namespace": "kube-system"},
        "spec": {"template": template},
    }

    found = check_solution(cluster, snapshot, _solution(_right(snapshot)), daemon_sets=[daemons])

    assert _rules(found) == {("NodeResourcesFit", "shop/new", "nodeclaims[0]")}


@pytest.mark.parametrize(
    ("change", "rule", "field"),
    [
        pytest.param({"cost": Cost(new_nanos_per_hour=1)}, "Cost", "new_nanos", id="cost"),
        pytest.param({"pods": PodCounts()}, "PodCounts", "waiting", id="counts"),
    ],
)
def test_sums_are_those_of_the_plan(change: dict[str, Any], rule: str, field: str) -> None:
    snapshot, cluster = _cluster(*OBJECTS)

    found = check_solution(cluster, snapshot, replace(_solution(_right(snapshot)), **change))

    assert {one.rule for one in found} == {rule}
    assert any(field in one.message for one in found)


@pytest.mark.parametrize(
    ("cpu", "rules"),
    [
        pytest.param("1", set(), id="fits the cheapest that it may become"),
        pytest.param("3", {"NodeResourcesFit"}, id="does not"),
    ],
)
def test_a_claim_that_is_not_launched_is_the_cheapest_that_it_may_become(
    cpu: str, rules: set[str]
) -> None:
    snapshot, cluster = _cluster(_pod("new", cpu=cpu), _pool(), _flying())
    nomination = Nomination(target_kind=TargetKind.NODECLAIM, target="flying", pod_uids=("new",))

    found = check_solution(cluster, snapshot, _solution(Plan(nominations=(nomination,))))

    assert {one.rule for one in found} == rules
