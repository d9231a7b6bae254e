import json
from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.oracle.cluster import Cluster, cluster_from_lists
from libs.oracle.selectors import read_selector
from libs.oracle.verdict import judge
from tests.unit.libs.oracle.kube import anti_affinity, node, pod
from tests.unit.libs.oracle.recordings import recorded_lines


def test_a_cluster_kept_up_to_date_judges_like_one_built_anew() -> None:
    """Every pod and node of a recording comes late, twice, and some others leave again."""
    for line in recorded_lines(every=11):
        recording = json.loads(line)
        cluster = cluster_from_lists({**recording, "nodes": [], "pods": []})
        for obj in recording["pods"]:
            cluster.put("Pod", {**obj, "spec": {**obj["spec"], "nodeName": "gone"}})
            cluster.put("Pod", obj)
            stranger = {**obj, "metadata": {**obj["metadata"], "name": "stranger"}}
            cluster.put("Pod", stranger)
        for obj in reversed(recording["nodes"]):
            cluster.put("Node", {**obj, "spec": {"unschedulable": True}})
            cluster.put("Node", obj)
        for namespace in recording["namespaces"]:
            cluster.delete("Pod", f"{namespace['metadata']['name']}/stranger")

        pending = recording["pending"]
        assert judge(cluster, pending) == judge(cluster_from_lists(recording), pending)
        assert judge(cluster.copy(), pending) == judge(cluster, pending)


def test_an_emptied_cluster_keeps_nothing() -> None:
    cluster = Cluster()
    cluster.put("Node", node("n1"))
    ports = [{"containerPort": 80, "hostPort": 80}]
    cluster.put(
        "Pod",
        pod("a", nodeName="n1", ports=ports, labels={"app": "x"}, affinity=anti_affinity("x")),
    )
    assert cluster.anti_affinity

    cluster.delete("Pod", "default/a")
    cluster.delete("Pod", "default/a")

    assert (cluster.pods, cluster.anti_affinity) == ({}, {})
    assert list(cluster.pods_matching(read_selector({}))) == []
    assert judge(cluster, pod("b", ports=ports, requests={"cpu": "4"})).feasible == ("n1",)


def test_a_finished_pod_takes_nothing_and_a_pending_one_waits() -> None:
    cluster = Cluster()
    cluster.put("Node", node("n1"))
    running = pod("a", nodeName="n1", requests={"cpu": "4"})
    cluster.put("Pod", running)
    cluster.put("Pod", pod("b"))
    assert not judge(cluster, pod("c")).schedulable

    cluster.put("Pod", {**running, "status": {"phase": "Succeeded"}})

    assert judge(cluster, pod("c")).schedulable
    assert list(cluster.pending) == ["default/b"]


@pytest.mark.parametrize(
    ("kind", "broken"),
    [
        ("Node", node("n1", allocatable={"cpu": "many"})),
        ("Pod", pod("a", nodeName="n1", requests={"cpu": "many"})),
    ],
)
def test_a_broken_object_changes_nothing(kind: str, broken: dict[str, Any]) -> None:
    cluster = Cluster()
    cluster.put("Node", node("n1"))
    cluster.put("Pod", pod("a", nodeName="n1", requests={"cpu": "3"}))

    with pytest.raises(InvalidRequest, match="cpu"):
        cluster.put(kind, broken)

    assert judge(cluster, pod("b", requests={"cpu": "2"})).message == (
        "0/1 nodes are available: 1 Insufficient cpu."
    )


def test_kinds_that_no_filter_reads_are_ignored() -> None:
    cluster = Cluster()

    cluster.put("Secret", {"metadata": {"name": "s"}})
    cluster.delete("Secret", "s")

    assert judge(cluster, pod("a")).message == "no nodes available to schedule pods"
