"""The scheduler: where a pod lands, why another waits, and what makes it try again.

Nodes are made for each test, with a label of their own that its pods select, and with a taint that
keeps everybody else's pods away.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.nodes import NODES, OURS, TOLERATED, a_ready_node
from tests.conformance.objects import Object, a_container, a_pod, metadata
from tests.conformance.targets import CONTROLLERS, SCHEDULER

pytestmark = pytest.mark.needs(SCHEDULER, CONTROLLERS)

MakeNode = Callable[..., str]


@pytest.fixture
def test_id(unique: Callable[[str], str]) -> str:
    return unique("t")


@pytest.fixture
def make_node(cluster: Cluster, test_id: str, create: Callable[[str, Object], Object]) -> MakeNode:
    """Make ready nodes; the test's pods may go there, nobody else's."""
    made: list[str] = []

    def make(*taints: Object, **labels: str) -> str:
        name = f"{test_id}-{len(made)}"
        made.append(name)
        a_ready_node(cluster, create, name, {OURS: test_id, **labels}, taints)
        return name

    return make


def asking(test_id: str, name: str = "p", **spec: Any) -> Object:
    """Return a pod for the default scheduler that wants a node of this test."""
    fields = {
        "schedulerName": "default-scheduler",
        "nodeSelector": {OURS: test_id},
        "tolerations": [TOLERATED],
        "terminationGracePeriodSeconds": 0,
        **spec,
    }
    return a_pod(name, **fields)


def requesting(cpu: str) -> list[Object]:
    return [a_container(resources={"requests": {"cpu": cpu}})]


def node_of(cluster: Cluster, pods: str, name: str = "p") -> str:
    """Wait until the pod is bound; return its node."""
    pod = cluster.until(f"{pods}/{name}", lambda found: found["spec"].get("nodeName"))
    return str(pod["spec"]["nodeName"])


def refusal(cluster: Cluster, pods: str, name: str = "p") -> Object:
    """Wait until the scheduler says that the pod fits nowhere; return the condition."""
    pod = cluster.until(f"{pods}/{name}", lambda found: condition(found, "PodScheduled"))
    found = condition(pod, "PodScheduled")
    assert found is not None
    return found


def condition(pod: Object, kind: str) -> Object | None:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return next((one for one in conditions if one["type"] == kind), None)


@pytest.fixture
def pods(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


def test_a_pod_is_bound_to_the_node_it_selects(
    cluster: Cluster, pods: str, test_id: str, make_node: MakeNode
) -> None:
    make_node(disk="hdd")
    wanted = make_node(disk="ssd")
    cluster.post(pods, asking(test_id, nodeSelector={OURS: test_id, "disk": "ssd"})).ok()

    assert node_of(cluster, pods) == wanted
    bound = cluster.get(f"{pods}/p").ok()
    scheduled = condition(bound, "PodScheduled")
    assert scheduled is not None
    assert scheduled["status"] == "True"


def test_a_pod_that_selects_no_node_waits_and_says_so(
    cluster: Cluster, pods: str, test_id: str, make_node: MakeNode
) -> None:
    make_node()
    cluster.post(pods, asking(test_id, nodeSelector={OURS: "none"})).ok()

    found = refusal(cluster, pods)

    assert (found["status"], found["reason"]) == ("False", "Unschedulable")
    assert "nodes are available" in found["message"]
    assert "node(s) didn't match Pod's node affinity/selector" in found["message"]


def test_a_node_that_appears_is_tried(
    cluster: Cluster, pods: str, test_id: str, make_node: MakeNode
) -> None:
    cluster.post(pods, asking(test_id)).ok()
    refusal(cluster, pods)

    name = make_node()

    assert node_of(cluster, pods) == name


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param({"containers": requesting("5")}, "Insufficient cpu", id="too big"),
        pytest.param(
            {"tolerations": []},
            "node(s) had untolerated taint(s)",
            id="not tolerated",
        ),
    ],
)
def test_a_refusal_names_the_filter(
    cluster: Cluster, pods: str, test_id: str, make_node: MakeNode, spec: Object, words: str
) -> None:
    make_node()
    cluster.post(pods, asking(test_id, **spec)).ok()

    assert words in refusal(cluster, pods)["message"]


def test_a_cordoned_node_takes_nobody_until_it_is_uncordoned(
    cluster: Cluster, pods: str, test_id: str, make_node: MakeNode
) -> None:
    name = make_node()
    cluster.patch(f"{NODES}/{name}", {"spec": {"unschedulable": True}}).ok()
    cluster.post(pods, asking(test_id)).ok()
    assert "node(s) were unschedulable" in refusal(cluster, pods)["message"]

    cluster.patch(f"{NODES}/{name}", {"spec": {"unschedulable": None}}).ok()

    assert node_of(cluster, pods) == name


def test_pods_spread_over_zones(
    cluster: Cluster, pods: str, test_id: str, make_node: MakeNode
) -> None:
    zones = {make_node(zone=zone): zone for zone in "abc"}
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "a"}},
    }
    for number in range(3):
        cluster.post(pods, asking(test_id, f"p{number}", topologySpreadConstraints=[spread])).ok()

    assert {zones[node_of(cluster, pods, f"p{number}")] for number in range(3)} == set("abc")


def test_pods_that_repel_each_other_share_no_node(
    cluster: Cluster, pods: str, test_id: str, make_node: MakeNode
) -> None:
    make_node()
    term = {
        "topologyKey": OURS,
        "labelSelector": {"matchLabels": {"app": "a"}},
    }
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    cluster.post(pods, asking(test_id, "first", affinity=affinity)).ok()
    node_of(cluster, pods, "first")
    cluster.post(pods, asking(test_id, "second", affinity=affinity)).ok()

    words = refusal(cluster, pods, "second")["message"]
    assert "node(s) didn't match pod anti-affinity rules" in words

    cluster.delete(f"{pods}/first", gracePeriodSeconds=0)
    assert node_of(cluster, pods, "second")


def test_requests_are_counted(
    cluster: Cluster, pods: str, test_id: str, make_node: MakeNode
) -> None:
    make_node()
    for name in ("a", "b"):
        cluster.post(pods, asking(test_id, name, containers=requesting("2"))).ok()
        node_of(cluster, pods, name)
    cluster.post(pods, asking(test_id, "c", containers=requesting("1"))).ok()

    assert "Insufficient cpu" in refusal(cluster, pods, "c")["message"]


def test_a_gated_pod_is_left_alone_until_its_gate_is_gone(
    cluster: Cluster, pods: str, test_id: str, make_node: MakeNode
) -> None:
    name = make_node()
    cluster.post(pods, asking(test_id, schedulingGates=[{"name": "example.com/gate"}])).ok()
    assert refusal(cluster, pods)["reason"] == "SchedulingGated"

    cluster.patch(f"{pods}/p", {"spec": {"schedulingGates": None}}).ok()

    assert node_of(cluster, pods) == name


def test_a_pod_of_another_scheduler_is_left_alone(
    cluster: Cluster, pods: str, test_id: str, make_node: MakeNode
) -> None:
    make_node()
    cluster.post(pods, asking(test_id, "other", schedulerName="nobody")).ok()
    cluster.post(pods, asking(test_id, "ours")).ok()
    node_of(cluster, pods, "ours")

    assert "nodeName" not in cluster.get(f"{pods}/other").ok()["spec"]


def test_a_higher_priority_takes_the_place_of_a_lower_one(
    cluster: Cluster,
    pods: str,
    test_id: str,
    make_node: MakeNode,
    create: Callable[[str, Object], Object],
) -> None:
    make_node()
    create(
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        {"metadata": metadata(test_id), "value": 1000, "description": "of the suite"},
    )
    cluster.post(pods, asking(test_id, "low", containers=requesting("3"))).ok()
    node_of(cluster, pods, "low")
    high = asking(test_id, "high", containers=requesting("3"), priorityClassName=test_id)
    cluster.post(pods, high).ok()

    assert node_of(cluster, pods, "high")
    cluster.until_gone(f"{pods}/low")


def test_a_scheduled_pod_has_an_event(
    cluster: Cluster, namespace: str, pods: str, test_id: str, make_node: MakeNode
) -> None:
    name = make_node()
    cluster.post(pods, asking(test_id)).ok()
    node_of(cluster, pods)

    events = cluster.until(
        f"/api/v1/namespaces/{namespace}/events",
        lambda found: [one for one in found["items"] if one["reason"] == "Scheduled"],
    )

    event = next(one for one in events["items"] if one["reason"] == "Scheduled")
    assert event["message"] == f"Successfully assigned {namespace}/p to {name}"
    assert event["involvedObject"]["name"] == "p"
