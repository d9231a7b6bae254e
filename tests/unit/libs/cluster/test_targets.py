"""Where pods are expected, from when a plan was carried out until that is of no use."""

from datetime import datetime, timedelta

import pytest

from libs.cluster.state import ClusterState
from libs.domain.pod import Target
from libs.domain.reason import TargetKind
from tests.unit.libs.cluster.clusters import NOW, a_state, an_object_of, row_of, taken
from tests.unit.libs.kube.manifests import Document, a_node, a_nodeclaim, a_pod

SPAN = timedelta(minutes=1)
CLAIM = Target(TargetKind.NODECLAIM, "x1")
NODE = Target(TargetKind.NODE, "node-x1")
LAUNCHED: Document = {"providerID": "kwok://x1"}


def initialized(at: datetime) -> Document:
    condition = {"type": "Initialized", "status": "True", "lastTransitionTime": at.isoformat()}
    return {**LAUNCHED, "conditions": [condition]}


def a_waiting_state(target: Target = CLAIM, *more: Document) -> ClusterState:
    """Return a state in which pod `web-0` is expected on a target."""
    documents = more or (a_nodeclaim("x1"),)
    state = a_state(a_pod("web-0"), *documents)
    state.expect({"uid-web-0": target}, NOW, SPAN)
    return state


def target_of(state: ClusterState, now: datetime = NOW) -> Target | None:
    return row_of(taken(state, now), "web-0").target


def test_a_pod_is_expected_on_its_claim_and_then_on_the_claims_node() -> None:
    state = a_waiting_state()
    assert target_of(state) == CLAIM

    state.upsert(an_object_of(a_nodeclaim("x1", status=LAUNCHED)))
    state.upsert(an_object_of(a_node("node-x1", providerID="kwok://x1")))

    assert target_of(state) == NODE


def test_a_claim_may_boot_as_long_as_it_takes() -> None:
    assert target_of(a_waiting_state(), NOW + timedelta(hours=1)) == CLAIM


@pytest.mark.parametrize(
    ("seconds", "kept"), [pytest.param(59, True, id="within"), pytest.param(60, False, id="after")]
)
def test_a_booted_node_is_kept_for_a_span(seconds: int, kept: bool) -> None:
    ready = NOW + timedelta(minutes=10)
    state = a_waiting_state(
        CLAIM,
        a_nodeclaim("x1", status=initialized(ready)),
        a_node("node-x1", providerID="kwok://x1"),
    )

    assert target_of(state, ready + timedelta(seconds=seconds)) == (NODE if kept else None)


@pytest.mark.parametrize(
    ("seconds", "kept"), [pytest.param(59, True, id="within"), pytest.param(60, False, id="after")]
)
def test_a_node_that_was_there_is_kept_for_a_span(seconds: int, kept: bool) -> None:
    state = a_waiting_state(NODE, a_node("node-x1"))

    assert target_of(state, NOW + timedelta(seconds=seconds)) == (NODE if kept else None)


def test_what_a_later_plan_says_nothing_of_is_forgotten() -> None:
    state = a_waiting_state()
    state.expect({}, NOW, SPAN)

    assert target_of(state) is None


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(a_pod("web-0", nodeName="node-y"), id="the pod is bound"),
        pytest.param(
            a_nodeclaim("x1", meta={"deletionTimestamp": "2026-07-01T00:00:00Z"}),
            id="the claim is going",
        ),
        pytest.param(
            a_nodeclaim("x1", meta={"annotations": {"joiner.io/command": "id=c1;replacements="}}),
            id="the claim is under a command",
        ),
    ],
)
def test_a_target_of_no_use_is_forgotten(change: Document) -> None:
    state = a_waiting_state(CLAIM, a_nodeclaim("x1"), a_node("node-y"))
    assert target_of(state) == CLAIM

    state.upsert(an_object_of(change))

    assert target_of(state) is None
    assert not state.is_on_its_way("uid-web-0")


def test_a_target_that_is_gone_is_forgotten() -> None:
    state = a_waiting_state()
    state.remove("NodeClaim", "", "x1")

    assert target_of(state) is None


def test_pods_of_a_leaving_node_are_expected_elsewhere() -> None:
    leaving = {"deletionTimestamp": "2026-07-01T00:00:00Z"}
    state = a_state(
        a_pod("web-0", nodeName="node-old"),
        a_node("node-old", providerID="kwok://old"),
        a_nodeclaim("old", meta=leaving, status={"providerID": "kwok://old"}),
        a_nodeclaim("x1"),
    )
    state.expect({"uid-web-0": CLAIM}, NOW, SPAN)

    assert target_of(state) == CLAIM


@pytest.mark.parametrize(
    ("status", "booting"),
    [
        pytest.param({}, True, id="not launched"),
        pytest.param(LAUNCHED, True, id="launched"),
        pytest.param(initialized(NOW), False, id="initialized"),
    ],
)
def test_a_pod_is_on_its_way_while_its_claim_boots(status: Document, booting: bool) -> None:
    state = a_waiting_state(CLAIM, a_nodeclaim("x1", status=status))

    assert state.is_on_its_way("uid-web-0") is booting
    assert not state.is_on_its_way("uid-other")
