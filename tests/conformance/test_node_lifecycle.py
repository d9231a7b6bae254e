"""What the control plane makes of what nodes say of themselves: taints, labels, pods."""

from collections.abc import Callable

import pytest

from tests.conformance.cluster import STRATEGIC_PATCH, Cluster
from tests.conformance.nodes import NODES, OURS, a_ready_node
from tests.conformance.objects import Object, a_pod, metadata
from tests.conformance.targets import CONTROLLERS

pytestmark = pytest.mark.needs(CONTROLLERS)

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"


@pytest.fixture
def node(
    cluster: Cluster, create: Callable[[str, Object], Object], unique: Callable[[str], str]
) -> str:
    """Return the name of a ready node; others are ready, so that one that is not stands out."""
    a_ready_node(cluster, create, unique("other"), {})
    name = unique("node")
    a_ready_node(
        cluster, create, name, {"kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64"}
    )
    return name


def say(cluster: Cluster, node: str, type_: str, status: str) -> None:
    """Let a node say something of itself."""
    condition = {"type": type_, "status": status, "reason": "Said", "message": "said"}
    body = {"status": {"conditions": [condition]}}
    cluster.patch(f"{NODES}/{node}/status", body, STRATEGIC_PATCH).ok()


def taints(node: Object) -> set[tuple[str, str]]:
    listed = node["spec"].get("taints") or ()
    return {(taint["key"], taint["effect"]) for taint in listed if taint["key"] != OURS}


def test_a_node_without_conditions_is_not_tainted(
    cluster: Cluster, create: Callable[[str, Object], Object], unique: Callable[[str], str]
) -> None:
    name = unique("new")
    create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": metadata(name)})

    cluster.until(f"{NODES}/{name}", lambda found: not taints(found))


@pytest.mark.parametrize(
    ("status", "key"),
    [pytest.param("False", NOT_READY, id="not ready"), pytest.param("Unknown", UNREACHABLE)],
)
def test_readiness_decides_two_taints(cluster: Cluster, node: str, status: str, key: str) -> None:
    say(cluster, node, "Ready", status)

    both = {(key, "NoSchedule"), (key, "NoExecute")}
    found = cluster.until(f"{NODES}/{node}", lambda one: taints(one) == both)
    ours = [taint for taint in found["spec"]["taints"] if taint["key"] == key]
    assert all("timeAdded" in taint for taint in ours)

    say(cluster, node, "Ready", "True")
    cluster.until(f"{NODES}/{node}", lambda one: not taints(one))


@pytest.mark.parametrize(
    ("type_", "key"),
    [
        ("MemoryPressure", "memory-pressure"),
        ("DiskPressure", "disk-pressure"),
        ("PIDPressure", "pid-pressure"),
        ("NetworkUnavailable", "network-unavailable"),
    ],
)
def test_pressure_is_a_taint(cluster: Cluster, node: str, type_: str, key: str) -> None:
    say(cluster, node, type_, "True")

    expected = {(f"node.kubernetes.io/{key}", "NoSchedule")}
    cluster.until(f"{NODES}/{node}", lambda one: taints(one) == expected)


def test_a_cordon_is_a_taint(cluster: Cluster, node: str) -> None:
    cluster.patch(f"{NODES}/{node}", {"spec": {"unschedulable": True}}).ok()

    expected = {("node.kubernetes.io/unschedulable", "NoSchedule")}
    cluster.until(f"{NODES}/{node}", lambda one: taints(one) == expected)
    cluster.patch(f"{NODES}/{node}", {"spec": {"unschedulable": False}}).ok()
    cluster.until(f"{NODES}/{node}", lambda one: not taints(one))


def test_old_labels_follow_the_new_ones(cluster: Cluster, node: str) -> None:
    wanted = {"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "arm64"}

    cluster.until(
        f"{NODES}/{node}", lambda one: wanted.items() <= one["metadata"]["labels"].items()
    )


def test_pods_leave_a_node_that_is_tainted_when_their_time_is_over(
    cluster: Cluster, namespace: str, node: str
) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    for name, seconds in (("now", None), ("soon", 3), ("later", 600)):
        toleration: Object = {"key": "away", "operator": "Exists"}
        if seconds is not None:
            toleration |= {"effect": "NoExecute", "tolerationSeconds": seconds}
        tolerations = [] if seconds is None else [toleration]
        cluster.post(pods, a_pod(name, nodeName=node, tolerations=tolerations)).ok()

    taint = {"key": "away", "effect": "NoExecute"}
    cluster.change(f"{NODES}/{node}", lambda one: one["spec"]["taints"].append(taint))

    leaving = {"now", "soon"}
    found = cluster.until(pods, lambda one: going(one) == leaving)
    for pod in found["items"]:
        if pod["metadata"]["name"] not in leaving:
            continue
        (why,) = (c for c in pod["status"]["conditions"] if c["type"] == "DisruptionTarget")
        assert (why["status"], why["reason"]) == ("True", "DeletionByTaintManager")
        assert why["message"] == "Taint manager: deleting due to NoExecute taint"


def going(found: Object) -> set[str]:
    names = {"now", "soon", "later"}
    there = {
        pod["metadata"]["name"]
        for pod in found["items"]
        if "deletionTimestamp" not in pod["metadata"]
    }
    return names - there
