import json
from typing import Any

import pytest

from libs.oracle.cluster import Cluster, cluster_from_lists
from libs.oracle.score import pick, score
from tests.unit.libs.oracle.kube import affinity, node, pod, spread
from tests.unit.libs.oracle.recordings import recorded_lines


def test_the_nodes_that_kube_scheduler_bound_score_best() -> None:
    choices = best = 0
    for recording in map(json.loads, recorded_lines(every=5)):
        verdict = recording["verdict"]
        if verdict["node"] is None or len(verdict["feasibleNodes"]) < 2:
            continue
        cluster = cluster_from_lists(recording)
        nodes = [cluster.nodes[name] for name in verdict["feasibleNodes"]]
        points = score(cluster, recording["pending"], nodes)
        choices += 1
        best += points[verdict["feasibleNodes"].index(verdict["node"])] == max(points)

    assert choices > 300
    assert best / choices > 0.97


def prefer_zone_b() -> dict[str, Any]:
    expression = {"key": "zone", "operator": "In", "values": ["b"]}
    term = {"weight": 1, "preference": {"matchExpressions": [expression]}}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}


def near(app: str, kind: str) -> dict[str, Any]:
    (term,) = affinity(app)["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    weighted = {"weight": 50, "podAffinityTerm": term}
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}}


SOFT = spread("web", "kubernetes.io/hostname", whenUnsatisfiable="ScheduleAnyway")
DISLIKED = [{"key": "old", "effect": "PreferNoSchedule"}]


@pytest.mark.parametrize(
    ("pending", "expected"),
    [
        pytest.param(pod("a"), "n2", id="the emptier node"),
        pytest.param(pod("a", affinity=prefer_zone_b()), "n3", id="the preferred one"),
        pytest.param(pod("a", affinity=near("web", "podAffinity")), "n1", id="near others"),
        pytest.param(pod("a", labels={"app": "shy"}), "n2", id="others want it away"),
        pytest.param(
            pod("a", labels={"app": "web"}, topologySpreadConstraints=SOFT), "n2", id="spread"
        ),
        pytest.param(
            pod("a", tolerations=[{"operator": "Exists"}], affinity=prefer_zone_b()),
            "n3",
            id="a tolerated dislike",
        ),
    ],
)
def test_pick_follows_preferences(pending: dict[str, Any], expected: str) -> None:
    cluster = Cluster()
    cluster.put("Node", node("n1", labels={"zone": "a"}))
    cluster.put("Node", node("n2", labels={"zone": "a"}))
    cluster.put("Node", node("n3", labels={"zone": "b"}))
    running = {"labels": {"app": "web"}, "affinity": near("shy", "podAntiAffinity")}
    cluster.put("Pod", pod("web-1", nodeName="n1", **running))
    cluster.put("Pod", pod("heavy", nodeName="n3", requests={"cpu": "2"}))

    assert pick(cluster, pending, ("n1", "n2", "n3")) == expected


def test_pick_avoids_a_disliked_node_and_breaks_ties_by_name() -> None:
    cluster = Cluster()
    cluster.put("Node", node("n1", taints=DISLIKED))
    cluster.put("Node", node("n2"))
    cluster.put("Node", node("n3"))

    assert pick(cluster, pod("a"), ("n3", "n2", "n1")) == "n2"
    assert pick(cluster, pod("a", tolerations=[{"operator": "Exists"}]), ("n2", "n1")) == "n1"


def test_pods_of_one_controller_are_spread_by_default() -> None:
    cluster = Cluster()
    cluster.put("Node", node("n1", allocatable={"cpu": "64", "memory": "64Gi", "pods": "9"}))
    cluster.put("Node", node("n2"))
    cluster.put("Pod", pod("web-1", nodeName="n1", labels={"app": "web"}))
    alone, replica = pod("a", labels={"app": "web"}), pod("b", labels={"app": "web"})
    replica["metadata"]["ownerReferences"] = [{"uid": "u", "controller": True}]

    assert pick(cluster, alone, ("n1", "n2")) == "n1"
    assert pick(cluster, replica, ("n1", "n2")) == "n2"
