from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from libs.cluster.state import ClusterState
from libs.domain.reason import TargetKind
from tests.unit.libs.cluster.clusters import (
    NOW,
    a_state,
    an_object_of,
    claim,
    reasons,
    snapshot_of,
    taken,
)
from tests.unit.libs.kube.manifests import Document, a_node, a_nodeclaim, a_nodepool, a_pod

TIME = "2026-07-01T00:00:00Z"


def _pair(name: str = "x1", *, meta: Document | None = None) -> tuple[Document, Document]:
    return (
        a_node(f"node-{name}", providerID=f"kwok://{name}"),
        a_nodeclaim(name, meta=meta, status={"providerID": f"kwok://{name}"}),
    )


def _under_command(replacements: str) -> Document:
    return {"annotations": {"joiner.io/command": f"id=c1;replacements={replacements}"}}


def test_a_node_and_its_claim_are_joined_by_provider_id() -> None:
    snapshot = snapshot_of(*_pair(), a_node("other"))

    assert snapshot.nodes["node-x1"].nodeclaim == "x1"
    assert snapshot.nodes["other"].nodeclaim == ""


def test_a_claim_without_provider_id_is_capacity_in_flight() -> None:
    snapshot = snapshot_of(a_nodeclaim("x1"), a_node("n", providerID=""))

    assert list(snapshot.nodeclaims) == ["x1"]
    assert snapshot.nodes["n"].nodeclaim == ""


@pytest.mark.parametrize(
    ("node_name", "owner"), [("", "node-a"), ("node-b", "node-b")], ids=["unsaid", "said"]
)
def test_of_two_nodes_with_one_provider_id_the_claim_has_one(node_name: str, owner: str) -> None:
    snapshot = snapshot_of(
        a_node("node-b", providerID="p"),
        a_node("node-a", providerID="p"),
        a_nodeclaim("x1", status={"providerID": "p", "nodeName": node_name}),
    )

    assert [node.name for node in snapshot.nodes.values() if node.nodeclaim] == [owner]


@pytest.mark.parametrize(
    ("meta", "others", "leaving"),
    [
        pytest.param({}, (), False, id="nothing said"),
        pytest.param({"deletionTimestamp": TIME}, (), True, id="claim deleting"),
        pytest.param(_under_command(""), (), True, id="a command that replaces nothing"),
        pytest.param(_under_command("r1,r2"), ("r1",), False, id="a replacement not seen yet"),
        pytest.param(_under_command("r1,r2"), ("r1", "r2"), True, id="all replacements seen"),
    ],
)
def test_a_node_leaves_when_all_that_replaces_it_is_in_the_snapshot(
    meta: Document, others: tuple[str, ...], leaving: bool
) -> None:
    snapshot = snapshot_of(*_pair(meta=meta), *(a_nodeclaim(name) for name in others))

    assert snapshot.nodes["node-x1"].leaving is leaving


def test_a_node_leaves_when_its_instance_terminates() -> None:
    status = {
        "providerID": "p",
        "conditions": [{"type": "InstanceTerminating", "status": "True"}],
    }

    snapshot = snapshot_of(a_node("n", providerID="p"), a_nodeclaim(status=status))

    assert snapshot.nodes["n"].leaving


def test_a_node_that_is_deleted_leaves() -> None:
    assert snapshot_of(a_node("n", meta={"deletionTimestamp": TIME})).nodes["n"].leaving


def test_a_broken_node_is_set_aside() -> None:
    snapshot = snapshot_of(a_node("a", status={"allocatable": {"cpu": "-1"}}), a_node("b"))

    assert list(snapshot.nodes) == ["b"]
    assert reasons(snapshot)["Node//a"][0] == "status.allocatable.cpu"


def test_an_unchanged_node_is_the_same_object() -> None:
    state = a_state(a_node("a"), a_node("b"))
    before = taken(state)
    state.upsert(an_object_of(a_node("b", unschedulable=True)))

    after = taken(state)

    assert after.nodes["a"] is before.nodes["a"]
    assert after.nodes["b"].unschedulable


def test_a_change_of_the_claim_changes_the_node() -> None:
    state = a_state(*_pair())
    taken(state)
    state.upsert(an_object_of(_pair(meta={"deletionTimestamp": TIME})[1]))

    assert taken(state).nodes["node-x1"].leaving


def test_a_nomination_holds_until_its_last_end() -> None:
    state = a_state(*_pair())
    for seconds in (20, 10):
        state.nominate(TargetKind.NODE, "node-x1", NOW + timedelta(seconds=seconds))

    assert taken(state).nodes["node-x1"].nominated_until == NOW + timedelta(seconds=20)
    later = taken(state, NOW + timedelta(seconds=20))
    assert later.nodes["node-x1"].nominated_until is None


def test_a_nomination_of_a_claim_holds_for_its_node() -> None:
    state = a_state(a_nodeclaim("x1"))
    state.nominate(TargetKind.NODECLAIM, "x1", NOW + timedelta(seconds=20))
    before = taken(state)
    for document in _pair():
        state.upsert(an_object_of(document))

    after = taken(state)

    assert claim(before, "x1").nominated_until == NOW + timedelta(seconds=20)
    assert after.nodes["node-x1"].nominated_until == NOW + timedelta(seconds=20)


def test_what_nodes_of_a_type_report_is_learnt_from_initialized_ones() -> None:
    ready = {"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}

    def pair(name: str, memory: str, labels: Document) -> tuple[Document, Document]:
        labels = {"node.kubernetes.io/instance-type": "m5.large", **labels}
        return (
            a_node(
                name,
                meta={"labels": labels},
                providerID=name,
                status={"allocatable": {"memory": memory}},
            ),
            a_nodeclaim(name, status={"providerID": name}),
        )

    snapshot = snapshot_of(
        *pair("a", "7Gi", ready), *pair("b", "6Gi", ready), *pair("c", "1Gi", {})
    )

    (seen,) = snapshot.observed_allocatable.values()
    assert seen.key == "karpenter.kwok.sh/KWOKNodeClass/default/m5.large"
    assert seen.allocatable.get("memory") == 6 * 2**30


def test_what_the_last_node_of_a_type_reported_is_remembered_while_its_class_is_used() -> None:
    labels = {
        "karpenter.sh/registered": "true",
        "karpenter.sh/initialized": "true",
        "node.kubernetes.io/instance-type": "m5.large",
    }
    small = a_node("a", meta={"labels": labels}, status={"allocatable": {"memory": "7Gi"}})
    small["spec"]["providerID"] = "a"
    state = a_state(small, a_nodeclaim("a", status={"providerID": "a"}), a_nodepool())
    taken(state)

    state.remove("Node", "", "a")
    state.remove("NodeClaim", "", "a")
    with_pool = taken(state)
    state.remove("NodePool", "", "default")

    (seen,) = with_pool.observed_allocatable.values()
    assert seen.allocatable.get("memory") == 7 * 2**30
    assert not taken(state).observed_allocatable


def test_nodes_and_claims_are_shared_by_snapshots_as_long_as_nothing_of_them_changes() -> None:
    state = a_state(a_nodepool(), *_pair())
    first = taken(state)

    state.upsert(an_object_of(a_pod("p", nodeName="node-x1")))
    second = taken(state)

    assert second.nodes is first.nodes
    assert second.nodeclaims is first.nodeclaims
    assert second.observed_allocatable is first.observed_allocatable


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.upsert(an_object_of(a_node("node-y", providerID="kwok://y"))),
        lambda state: state.upsert(an_object_of(a_nodeclaim("y"))),
        lambda state: state.remove("Node", "", "node-x1"),
        lambda state: state.remove("NodeClaim", "", "x1"),
        lambda state: state.nominate(TargetKind.NODE, "node-x1", NOW + timedelta(minutes=1)),
        lambda state: state.forget_in_flight("new"),
    ],
    ids=["node", "claim", "node gone", "claim gone", "nomination", "claim in flight gone"],
)
def test_nodes_and_claims_are_those_of_a_state_that_never_made_any_before(
    change: Callable[[ClusterState], None],
) -> None:
    known, fresh = (a_state(a_nodepool(), *_pair()) for _ in range(2))
    for state in (known, fresh):
        state.claim_in_flight(replace(taken(state).nodeclaims["x1"], name="new"))
    before = taken(known)

    for state in (known, fresh):
        change(state)

    found, expected = taken(known), taken(fresh)
    assert (found.nodes, found.nodeclaims) == (expected.nodes, expected.nodeclaims)
    assert (found.nodes, found.nodeclaims) != (before.nodes, before.nodeclaims)
