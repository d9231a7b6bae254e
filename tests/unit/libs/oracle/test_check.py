from typing import Any

import pytest

from libs.oracle.check import Placement, Violation, check
from libs.oracle.cluster import Cluster
from tests.unit.libs.oracle.kube import (
    affinity,
    anti_affinity,
    claim,
    mounts,
    node,
    pod,
    spread,
    storage_class,
    volume,
)

WEB = {"app": "web"}


def three_zones(*pending: dict[str, Any]) -> Cluster:
    cluster = Cluster()
    for name, zone in (("n1", "a"), ("n2", "b"), ("n3", "c")):
        labels = {"zone": zone, "topology.kubernetes.io/zone": zone}
        cluster.put("Node", node(name, labels=labels))
    for obj in pending:
        cluster.put("Pod", obj)
    return cluster


def place(**nodes: str) -> list[Placement]:
    return [(f"default/{pod}", node) for pod, node in nodes.items()]


def rules(violations: list[Violation]) -> list[tuple[str, str]]:
    return [(violation.pod.removeprefix("default/"), violation.rule) for violation in violations]


def test_a_plan_that_fills_old_and_new_nodes_is_accepted_and_changes_nothing() -> None:
    cluster = three_zones(*(pod(name, requests={"cpu": "4"}) for name in ("a", "b")))
    plan = place(a="n1", b="new")

    assert check(cluster, [node("new")], plan) == []
    assert check(cluster, [node("new")], plan) == []
    assert cluster.nodes.keys() == {"n1", "n2", "n3"}


@pytest.mark.parametrize(
    ("pods", "plan", "expected"),
    [
        pytest.param(
            [pod("a", requests={"cpu": "3"}), pod("b", requests={"cpu": "2"})],
            place(a="n1", b="n1"),
            [("b", "NodeResourcesFit")],
            id="no room for both",
        ),
        pytest.param(
            [pod("a", nodeSelector={"zone": "b"}, requests={"cpu": "5"})],
            place(a="n1"),
            [("a", "NodeAffinity"), ("a", "NodeResourcesFit")],
            id="each violated rule is named",
        ),
        pytest.param(
            [pod(n, labels=WEB, affinity=anti_affinity("web")) for n in "ab"],
            place(a="n1", b="n1"),
            [("b", "InterPodAffinity")],
            id="pods that shun each other",
        ),
        pytest.param(
            [pod(n, labels=WEB, topologySpreadConstraints=spread("web")) for n in "abcd"],
            place(a="n1", b="n1", c="n2", d="n2"),
            [("b", "PodTopologySpread"), ("d", "PodTopologySpread")],
            id="an empty zone",
        ),
        pytest.param(
            [pod(n, labels=WEB, topologySpreadConstraints=spread("web")) for n in "abcd"],
            place(a="n1", b="n1", c="n2", d="n3"),
            [],
            id="spread in some other order",
        ),
        pytest.param(
            [
                pod("free", labels=WEB),
                pod("even", labels=WEB, topologySpreadConstraints=spread("web")),
            ],
            place(free="n1", even="n1"),
            [],
            id="only if the stricter pod comes first",
        ),
        pytest.param(
            [
                pod("c", affinity=affinity("b")),
                pod("b", labels={"app": "b"}, affinity=affinity("a")),
                pod("a", labels={"app": "a"}),
            ],
            place(c="n1", b="n1", a="n1"),
            [],
            id="a chain of affinities in reverse",
        ),
        pytest.param(
            [pod(n, labels=WEB, affinity=affinity("web")) for n in "ab"],
            place(a="n1", b="n2"),
            [("b", "InterPodAffinity")],
            id="a group torn apart",
        ),
        pytest.param(
            [pod("a", schedulingGates=[{"name": "wait"}])],
            place(a="n1"),
            [("a", "SchedulingGates")],
            id="a gated pod",
        ),
        pytest.param([], place(ghost="n1"), [("ghost", "UnknownPod")], id="unknown pod"),
        pytest.param([pod("a")], place(a="ghost"), [("a", "UnknownNode")], id="unknown node"),
        pytest.param(
            [pod("a")], place(a="n1") + place(a="n2"), [("a", "PlacedTwice")], id="placed twice"
        ),
        pytest.param(
            [pod("a", nodeName="n1")], place(a="n2"), [("a", "PlacedTwice")], id="runs already"
        ),
        pytest.param(
            [
                pod(
                    "a",
                    topologySpreadConstraints=spread("w", labelSelector={"matchExpressions": [{}]}),
                )
            ],
            place(a="n1"),
            [("a", "InvalidObject")],
            id="a pod that cannot be read",
        ),
    ],
)
def test_violations_are_named(
    pods: list[dict[str, Any]], plan: list[Placement], expected: list[tuple[str, str]]
) -> None:
    assert rules(check(three_zones(*pods), [], plan)) == expected


def test_what_is_refused_is_tried_before_everything_else() -> None:
    indifferent = [pod(n, labels=WEB, topologySpreadConstraints=spread("other")) for n in "ab"]
    strict = pod("c", labels=WEB, topologySpreadConstraints=spread("web"))
    cluster = three_zones(*indifferent, strict)

    assert check(cluster, [], place(a="n1", b="n1", c="n1")) == []


def test_strict_pods_are_bound_before_those_that_would_fill_their_domain() -> None:
    strict = [pod(n, labels=WEB, topologySpreadConstraints=spread("web")) for n in "abc"]
    cluster = three_zones(*strict, pod("d", labels=WEB))
    cluster.delete("Node", "n3")

    assert check(cluster, [], place(a="n1", b="n1", d="n1", c="n2")) == []


def test_a_violation_says_where_and_why() -> None:
    cluster = three_zones(pod("a", requests={"cpu": "5", "memory": "9Gi"}))

    assert check(cluster, [], place(a="n1")) == [
        Violation(
            pod="default/a",
            node="n1",
            rule="NodeResourcesFit",
            message="Insufficient cpu, Insufficient memory",
        )
    ]


@pytest.mark.parametrize(
    ("second", "expected"), [("n1", []), ("n2", [("b", "VolumeBinding")])], ids=["here", "there"]
)
def test_pods_that_share_a_claim_go_where_its_volume_will_be(
    second: str, expected: list[tuple[str, str]]
) -> None:
    cluster = three_zones(*(pod(name, volumes=mounts("data")) for name in "ab"))
    cluster.put("StorageClass", storage_class())
    cluster.put("PersistentVolumeClaim", claim("data"))

    assert rules(check(cluster, [], place(a="n1", b=second))) == expected


def test_a_volume_is_not_given_away_twice() -> None:
    cluster = three_zones(*(pod(name, volumes=mounts(name)) for name in "ab"))
    static = storage_class(provisioner="kubernetes.io/no-provisioner")
    cluster.put("StorageClass", static)
    cluster.put("PersistentVolume", volume("v"))
    for name in "ab":
        cluster.put("PersistentVolumeClaim", claim(name))

    assert rules(check(cluster, [], place(a="n1", b="n2"))) == [("b", "VolumeBinding")]


@pytest.mark.parametrize(
    ("taints", "expected"),
    [([], [("a", "NodeResourcesFit")]), ([{"key": "gpu", "effect": "NoSchedule"}], [])],
    ids=["the daemon takes its share", "the daemon stays away"],
)
def test_daemons_take_their_room_on_new_nodes_first(
    taints: list[Any], expected: list[tuple[str, str]]
) -> None:
    template = pod("ignored")
    daemon_set = {"metadata": {"name": "agent"}, "spec": {"template": template}}
    tolerations = [{"key": "gpu", "operator": "Exists"}]
    cluster = three_zones(pod("a", requests={"cpu": "4"}, tolerations=tolerations))

    violations = check(
        cluster, [node("new", taints=taints)], place(a="new"), daemon_sets=[daemon_set]
    )

    assert rules(violations) == expected


def test_pods_may_be_bound_before_new_nodes_bring_their_daemons() -> None:
    daemon_set = {
        "metadata": {"name": "agent", "namespace": "default"},
        "spec": {"template": pod("ignored", labels=WEB)},
    }
    cluster = three_zones(pod("a", labels=WEB, affinity=affinity("web")), pod("b"))

    violations = check(cluster, [node("new")], place(a="n1", b="new"), daemon_sets=[daemon_set])

    assert violations == []


def test_all_new_nodes_are_there_when_pods_are_spread_over_their_domains() -> None:
    web = [pod(n, labels=WEB, topologySpreadConstraints=spread("web")) for n in "ab"]
    cluster = Cluster()
    for obj in (*web, pod("c")):
        cluster.put("Pod", obj)
    nodes = [node(name, labels={"zone": name}) for name in ("x", "y")]

    violations = check(cluster, nodes, place(a="x", b="x", c="y"))

    assert rules(violations) == [("b", "PodTopologySpread")]


def test_pods_of_nodes_that_are_there_need_not_wait_for_new_domains() -> None:
    web = [pod(n, labels=WEB, topologySpreadConstraints=spread("web")) for n in "ab"]
    cluster = Cluster()
    for obj in (*web, pod("c")):
        cluster.put("Pod", obj)
    cluster.put("Node", node("x", labels={"zone": "x"}))

    assert check(cluster, [node("y", labels={"zone": "y"})], place(a="x", b="x", c="y")) == []


def test_who_is_spread_may_come_before_all_who_are_counted_with_them() -> None:
    hosts = spread("web", topologyKey="kubernetes.io/hostname")
    cluster = Cluster()
    for name in ("n1", "n2"):
        cluster.put("Node", node(name, labels={"kubernetes.io/hostname": name, "zone": "a"}))
    counted = pod("z", labels=WEB, topologySpreadConstraints=spread("web"))
    for obj in (counted, *(pod(n, labels=WEB, topologySpreadConstraints=hosts) for n in "abc")):
        cluster.put("Pod", obj)

    assert check(cluster, [], place(z="n2", a="n1", b="n2", c="n2")) == []


def test_new_nodes_must_be_new_and_legal() -> None:
    broken = node("bad", allocatable={"cpu": "many"})

    violations = check(three_zones(), [node("n1"), broken], [])

    assert [(v.node, v.rule) for v in violations] == [
        ("n1", "DuplicateNode"),
        ("bad", "InvalidObject"),
    ]
