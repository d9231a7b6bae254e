"""`check_state`: the same rules as for plans, on pods that run already."""

from typing import Any

import pytest

from libs.checker.state import check_state
from libs.oracle.check import Violation
from tests.unit.libs.oracle.kube import anti_affinity, node, pod, spread

Obj = dict[str, Any]

ZONES = {"n1": "a", "n2": "b", "n3": "c"}
WEB = {"app": "web"}


def nodes(**more: Any) -> list[tuple[str, Obj]]:
    return [("Node", node(name, labels={"zone": zone}, **more)) for name, zone in ZONES.items()]


def bound(name: str, to: str, at: str = "", **spec: Any) -> tuple[str, Obj]:
    obj = pod(name, nodeName=to, **spec)
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": at or None}
    return "Pod", {**obj, "status": {"phase": "Running", "conditions": [scheduled]}}


def a_claim(name: str, to: str) -> tuple[str, Obj]:
    return "NodeClaim", {"metadata": {"name": name}, "status": {"nodeName": to}}


def owned(name: str) -> tuple[str, Obj]:
    return "Node", node(name, labels={"karpenter.sh/nodepool": "general"})


def found(violations: list[Violation]) -> list[tuple[str, str, str]]:
    return [(one.pod.removeprefix("default/"), one.node, one.rule) for one in violations]


def test_a_state_that_the_scheduler_could_have_made_is_accepted() -> None:
    pods = [
        bound("web-1", "n1", labels=WEB, topologySpreadConstraints=spread("web")),
        bound("web-2", "n2", labels=WEB, topologySpreadConstraints=spread("web")),
        bound("alone-1", "n1", labels={"app": "alone"}, affinity=anti_affinity("alone")),
        bound("alone-2", "n3", labels={"app": "alone"}, affinity=anti_affinity("alone")),
    ]

    assert check_state([*nodes(), *pods]) == []


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        pytest.param(
            [bound("big", "n1", requests={"cpu": "5"})],
            [("big", "n1", "NodeResourcesFit")],
            id="more than the node has",
        ),
        pytest.param(
            [
                bound("a", "n1", labels=WEB, affinity=anti_affinity("web")),
                bound("b", "n1", labels=WEB, affinity=anti_affinity("web")),
            ],
            [("b", "n1", "InterPodAffinity")],
            id="two that do not want to be together",
        ),
        pytest.param(
            [
                bound(name, "n1", labels=WEB, topologySpreadConstraints=spread("web"))
                for name in ("a", "b")
            ],
            [("b", "n1", "PodTopologySpread")],
            id="two in one zone while others have none",
        ),
        pytest.param(
            [bound("lost", "n9")], [("lost", "n9", "UnknownNode")], id="a node that is gone"
        ),
    ],
)
def test_a_broken_rule_is_named_with_pod_and_node(
    pods: list[tuple[str, Obj]], expected: list[tuple[str, str, str]]
) -> None:
    assert found(check_state([*nodes(), *pods])) == expected


def test_of_two_pods_that_exclude_each_other_the_later_one_is_wrong() -> None:
    spec = {"labels": WEB, "affinity": anti_affinity("web")}
    late = bound("a-late", "n1", "2030-01-01T00:00:09Z", **spec)
    early = bound("z-early", "n1", "2030-01-01T00:00:01Z", **spec)

    assert found(check_state([*nodes(), late, early])) == [("a-late", "n1", "InterPodAffinity")]


def test_waiting_and_finished_pods_are_no_matter() -> None:
    waiting = ("Pod", pod("waits", requests={"cpu": "99"}))
    done = bound("done", "n1", requests={"cpu": "99"})
    done[1]["status"]["phase"] = "Succeeded"

    assert check_state([*nodes(), waiting, done]) == []


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param([owned("n1"), a_claim("c", "n1")], [], id="a claim and its node"),
        pytest.param([("Node", node("own"))], [], id="a node that is no pool's"),
        pytest.param([owned("n1")], ["ClaimMissing"], id="a node without its claim"),
        pytest.param([a_claim("c", "n1")], ["NodeMissing"], id="a claim without its node"),
        pytest.param([a_claim("c", "")], ["NodeMissing"], id="a claim that has none yet"),
        pytest.param(
            [owned("n1"), a_claim("c", "n1"), a_claim("d", "n1")],
            ["ClaimedTwice"],
            id="two claims for one node",
        ),
    ],
)
def test_each_claim_has_its_node_and_each_node_of_a_pool_its_claim(
    objects: list[tuple[str, Obj]], expected: list[str]
) -> None:
    assert [one.rule for one in check_state(objects)] == expected
