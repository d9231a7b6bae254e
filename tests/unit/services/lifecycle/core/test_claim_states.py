from typing import Any

import pytest

from libs.kube.objects.karpenter import NodeClaim
from services.lifecycle.core.claim_states import (
    TRANSITIONS,
    ClaimState,
    state_of,
)
from tests.unit.services.lifecycle.core.objects import a_claim, a_condition, at

UP = ("Launched", "Registered", "Initialized")
LAUNCHED = {"providerID": "fake://1"}


def _leaving(*kinds: str, detached: str = "", **metadata: Any) -> NodeClaim:
    conditions = [a_condition(kind) for kind in kinds]
    if detached:
        conditions.append(a_condition("VolumesDetached", detached))
    status = {"conditions": conditions, **LAUNCHED}
    return a_claim(status=status, deletionTimestamp=at(), **metadata)


def _may_become(before: ClaimState, after: ClaimState) -> bool:
    reached, frontier = {before}, [before]
    while frontier:
        for following in TRANSITIONS[frontier.pop()] - reached:
            reached.add(following)
            frontier.append(following)
    return after in reached


@pytest.mark.parametrize(
    ("claim", "has_node", "state"),
    [
        pytest.param(a_claim(), False, ClaimState.CREATED, id="nothing yet"),
        pytest.param(a_claim(status=LAUNCHED), False, ClaimState.LAUNCHED, id="instance"),
        pytest.param(a_claim(true=UP[:2]), True, ClaimState.REGISTERED, id="node"),
        pytest.param(a_claim(true=UP), True, ClaimState.INITIALIZED, id="node for pods"),
        pytest.param(_leaving(*UP), True, ClaimState.DRAINING, id="pods are leaving"),
        pytest.param(_leaving(*UP, "Drained"), True, ClaimState.DETACHING, id="drained"),
        pytest.param(
            _leaving(*UP, "Drained", detached="True"), True, ClaimState.ENDING, id="detached"
        ),
        pytest.param(
            _leaving(*UP, "Drained", detached="False"), True, ClaimState.ENDING, id="time is up"
        ),
        pytest.param(_leaving(*UP), False, ClaimState.ENDING, id="node is gone"),
        pytest.param(_leaving("Launched"), True, ClaimState.ENDING, id="never registered"),
        pytest.param(_leaving(*UP, finalizers=[]), False, ClaimState.GONE, id="let go"),
    ],
)
def test_the_state_is_read_off_the_claim(
    claim: NodeClaim, has_node: bool, state: ClaimState
) -> None:
    assert state_of(claim, has_node=has_node) is state


@pytest.mark.parametrize("state", ClaimState)
def test_every_state_can_reach_the_end(state: ClaimState) -> None:
    assert _may_become(state, ClaimState.GONE)


@pytest.mark.parametrize("state", ClaimState)
def test_nothing_that_leaves_comes_back(state: ClaimState) -> None:
    if _may_become(ClaimState.DRAINING, state):
        assert not _may_become(state, ClaimState.INITIALIZED)


def test_the_table_names_every_state() -> None:
    assert set(TRANSITIONS) == set(ClaimState)
    assert [state for state in ClaimState if not TRANSITIONS[state]] == [ClaimState.GONE]
