"""The reference solver does what its docstrings say, and its own placements can be bound."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from libs.catalogues import well_known_keys
from libs.cluster.files import load
from libs.domain import labels as keys
from libs.domain.capacity import Catalogue, InstanceType
from libs.domain.plan import Nomination, Plan
from libs.domain.reason import TargetKind
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId
from libs.domain.solution import MinValuesPolicy, PreferencePolicy, SolveOptions
from libs.oracle.check import check
from libs.oracle.cluster import Cluster
from libs.oracle.objects import KubeObject
from tests.support.builders import NODE_CLASS, a_type, amounts, an_offering
from tests.support.reference import ReferenceSolution, reference_solve, takers
from tests.support.reference.options import renamed

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ID = SnapshotId(cluster_id="files", epoch=Epoch(boot_id="files"), revision=1)
SMALL = a_type("small", capacity=amounts(cpu=2, memory="8Gi", pods=10), price=10**8)
LARGE = a_type("large", capacity=amounts(cpu=8, memory="32Gi", pods=10), price=5 * 10**8)
TYPES = (LARGE, SMALL)
Obj = dict[str, Any]


def _pod(name: str, cpu: str = "1", *, labels: Obj | None = None, **spec: Any) -> Obj:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu, "memory": "100Mi"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": name, "labels": labels or {}},
        "spec": {"containers": [container], **spec},
    }


def _pool(name: str = "pool", **spec: Any) -> Obj:
    reference = {"group": NODE_CLASS.group, "kind": NODE_CLASS.kind, "name": NODE_CLASS.name}
    own = {
        "nodeClassRef": reference,
        "requirements": spec.pop("requirements", []),
        "taints": spec.pop("taints", []),
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "uid": name},
        "spec": {"template": {"spec": own}, **spec},
    }


def _node(name: str, cpu: str = "4", **labels: str) -> Obj:
    room = {"cpu": cpu, "memory": "8Gi", "pods": "10"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": name, "labels": {keys.HOSTNAME: name, **labels}},
        "status": {"capacity": room, "allocatable": room},
    }


def _daemon(cpu: str) -> Obj:
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": _pod("", cpu)["spec"]}
    selector = {"matchLabels": {"app": "agent"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "shop", "uid": "agent"},
        "spec": {"selector": selector, "template": template},
    }


def _gang(name: str, members: int) -> Obj:
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"minMember": members},
    }


def _loaded(
    objects: tuple[Obj, ...], types: tuple[InstanceType, ...] = TYPES
) -> tuple[Cluster, ClusterSnapshot]:
    loaded = load([("test", list(objects))], default_class=NODE_CLASS)
    for node_class in loaded.node_classes:
        catalogue = Catalogue(
            node_class=node_class,
            etag="",
            observed_at=NOW,
            instance_types=tuple(sorted(types, key=lambda one: one.name)),
            well_known_keys=well_known_keys("file", types),
        )
        loaded.state.set_catalogue(catalogue)
    cluster = Cluster()
    for kind, document in loaded.documents:
        cluster.put(kind, document)
    return cluster, loaded.state.snapshot(NOW, ID)


def _solve(
    *objects: Obj,
    types: tuple[InstanceType, ...] = TYPES,
    options: SolveOptions | None = None,
) -> ReferenceSolution:
    cluster, snapshot = _loaded(objects, types)
    daemon_sets = [one for one in objects if one["kind"] == "DaemonSet"]
    found = reference_solve(cluster, snapshot, options or SolveOptions(), daemon_sets=daemon_sets)
    _confirm(cluster, found, daemon_sets)
    return found


def _confirm(cluster: Cluster, found: ReferenceSolution, daemon_sets: Sequence[KubeObject]) -> None:
    nodes = [renamed(one.option.node, one.name) for one in found.new]
    placements = [(f"shop/{uid}", node) for uid, node in found.places.items()]
    assert check(cluster, nodes, placements, daemon_sets=daemon_sets) == []


def _bought(found: ReferenceSolution) -> list[tuple[str, int]]:
    return [(one.option.kind.name, len(one.pods)) for one in found.new]


def test_existing_nodes_are_filled_before_anything_is_bought() -> None:
    found = _solve(_pool(), _node("n1"), _pod("a"), _pod("b"))

    assert found.places == {"a": "n1", "b": "n1"}


def test_the_cheapest_type_that_fits_is_bought() -> None:
    assert _bought(_solve(_pool(), _pod("a"))) == [("small", 1)]


def test_a_planned_node_grows_for_more_pods() -> None:
    found = _solve(_pool(), *(_pod(f"p{number}") for number in range(4)))

    assert _bought(found) == [("large", 4)]


def test_a_planned_node_stays_in_its_zone() -> None:
    elsewhere = (an_offering("zone-b"),)
    large = a_type("large", capacity=amounts(cpu=8, memory="32Gi", pods=10), offerings=elsewhere)
    small = a_type("small", capacity=amounts(cpu=2, memory="8Gi", pods=10), price=10**8)

    found = _solve(_pool(), *(_pod(f"p{n}") for n in range(3)), types=(large, small))

    assert _bought(found) == [("small", 2), ("small", 1)]


def test_daemons_take_room_first() -> None:
    found = _solve(_pool(), _daemon("1500m"), _pod("a"))

    assert _bought(found) == [("large", 1)]


@pytest.mark.parametrize(
    ("limits", "placed"),
    [
        pytest.param({"nodes": "1"}, 3, id="one node may be bought"),
        pytest.param({"cpu": "9"}, 3, id="a claim is charged with its largest type"),
        pytest.param({"cpu": "16"}, 6, id="two of the largest type are allowed"),
        pytest.param({"cpu": "5"}, 2, id="what exceeds the limits is not bought"),
    ],
)
def test_limits_hold(limits: Obj, placed: int) -> None:
    pods = [_pod(f"p{number}", "2") for number in range(6)]
    types = (a_type("large", capacity=amounts(cpu=8, memory="32Gi", pods=3), price=10**9), SMALL)

    found = _solve(_pool(limits=limits), *pods, types=types)

    assert len(found.places) == placed


def test_a_heavier_pool_comes_first() -> None:
    found = _solve(_pool("a"), _pool("b", weight=5), _pod("pod"))

    assert found.new[0].option.pool.name == "b"


@pytest.mark.parametrize(
    ("policy", "zone"),
    [
        pytest.param(PreferencePolicy.RESPECT, "zone-c", id="held while it can be"),
        pytest.param(PreferencePolicy.IGNORE, "zone-a", id="ignored"),
    ],
)
def test_preferences_follow_the_policy(policy: PreferencePolicy, zone: str) -> None:
    wanted = {"matchExpressions": [{"key": keys.ZONE, "operator": "In", "values": ["zone-c"]}]}
    preferred = [{"weight": 1, "preference": wanted}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}

    found = _solve(
        _pool(),
        _pod("a", affinity=affinity),
        options=SolveOptions(preference_policy=policy),
    )

    assert found.new[0].option.labels[keys.ZONE] == zone


def test_a_preference_is_given_up_where_it_cannot_be_met() -> None:
    wanted = {"matchExpressions": [{"key": keys.ZONE, "operator": "In", "values": ["moon"]}]}
    preferred = [{"weight": 1, "preference": wanted}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}

    assert _bought(_solve(_pool(), _pod("a", affinity=affinity))) == [("small", 1)]


@pytest.mark.parametrize(
    ("policy", "placed"),
    [
        pytest.param(MinValuesPolicy.STRICT, 0, id="strict"),
        pytest.param(MinValuesPolicy.BEST_EFFORT, 1, id="best effort"),
    ],
)
def test_min_values_hold_unless_they_are_best_effort(policy: MinValuesPolicy, placed: int) -> None:
    requirement = {"key": keys.INSTANCE_TYPE, "operator": "Exists", "minValues": 2}

    found = _solve(
        _pool(requirements=[requirement]),
        _pod("a", "3"),
        options=SolveOptions(min_values_policy=policy),
    )

    assert len(found.places) == placed


def test_a_gang_that_comes_out_short_leaves_its_room_to_others() -> None:
    label = {"scheduling.x-k8s.io/pod-group": "crew"}
    crew = [_pod(f"crew-{number}", "3", labels=label) for number in range(2)]

    found = _solve(
        _pool(limits={"nodes": "0"}), _node("n1"), _gang("crew", 2), *crew, _pod("a", "2")
    )

    assert found.places == {"a": "n1"}


def test_reserved_instances_are_counted() -> None:
    reserved = an_offering(
        capacity_type="reserved",
        reservation_id="r-1",
        reservation_capacity=1,
        price_nanos_per_hour=1,
    )
    only = a_type("only", capacity=amounts(cpu=2, memory="8Gi", pods=10), offerings=(reserved,))

    found = _solve(_pool(), _pod("a", "2"), _pod("b", "2"), types=(only,))

    assert found.unplaced == ("b",)


def test_the_filters_that_look_at_other_pods_are_asked_of_new_nodes() -> None:
    constraint = {
        "topologyKey": keys.ZONE,
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    pods = [
        _pod(f"p{n}", labels={"app": "web"}, topologySpreadConstraints=[constraint])
        for n in range(3)
    ]

    found = _solve(_pool(), *pods)

    # Kubernetes knows no zone without a node: the first node is the only domain.
    assert len(found.places) == 3


def test_takers_finds_the_node_that_was_overlooked() -> None:
    objects = (
        _pool(limits={"nodes": "0"}),
        _node("n1"),
        _node("n2", "1"),
        _pod("a"),
        _pod("b", "3"),
    )
    cluster, snapshot = _loaded(objects)
    nomination = Nomination(target_kind=TargetKind.NODE, target="n1", pod_uids=("b",))

    assert takers(cluster, snapshot, Plan(nominations=(nomination,))) == {"a": ("n1", "n2")}


def test_takers_finds_what_could_be_bought() -> None:
    cluster, snapshot = _loaded((_pool(limits={"cpu": "7"}), _pod("a")))

    found = takers(cluster, snapshot, Plan())

    assert [name.split("/")[:2] for name in found["a"]] == [["new pool", "small"]]


def test_takers_looks_at_no_member_of_a_gang_that_stays_short() -> None:
    label = {"scheduling.x-k8s.io/pod-group": "crew"}
    crew = [_pod(f"crew-{number}", labels=label) for number in range(3)]
    cluster, snapshot = _loaded((_pool(), _gang("crew", 2), *crew))

    assert takers(cluster, snapshot, Plan()) == {}
