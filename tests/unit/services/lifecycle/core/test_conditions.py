from datetime import timedelta

import pytest

from services.lifecycle.core.conditions import CLAIM_DEPENDENTS, ConditionSet
from tests.unit.services.lifecycle.core.objects import NOW, a_claim, a_condition, at

LATER = NOW + timedelta(minutes=1)


def _set(*true: str, **status: str) -> ConditionSet:
    conditions = [a_condition(kind) for kind in true]
    conditions += [a_condition(kind, state) for kind, state in status.items()]
    claim = a_claim(status={"conditions": conditions})
    return ConditionSet.of(claim.metadata, claim.status.conditions, CLAIM_DEPENDENTS, LATER)


def test_what_ready_needs_is_unknown_since_creation() -> None:
    claim = a_claim()

    found = ConditionSet.of(claim.metadata, (), CLAIM_DEPENDENTS, NOW)

    assert {one.type for one in found.conditions} == {*CLAIM_DEPENDENTS, "Ready"}
    assert {one.reason for one in found.conditions} == {"AwaitingReconciliation"}
    assert found.since("Launched") == claim.metadata.creation_timestamp


def test_an_unchanged_status_keeps_its_transition_time() -> None:
    found = _set("Launched").set_true("Launched", "Other", "another message").get("Launched")

    assert found is not None
    assert found.last_transition_time == NOW
    assert (found.reason, found.message) == ("Other", "another message")


def test_a_changed_status_takes_the_present_time() -> None:
    assert _set("Launched").set_unknown("Launched", "LaunchFailed").since("Launched") == LATER


@pytest.mark.parametrize(
    ("conditions", "status", "reason", "message"),
    [
        pytest.param(
            _set("Launched", "Registered").set_true("Initialized"), "True", "Ready", "", id="all"
        ),
        pytest.param(
            _set("Launched", "Registered").set_unknown("Initialized", "NodeNotReady"),
            "Unknown",
            "ReconcilingDependents",
            "Initialized=Unknown",
            id="one is unknown",
        ),
        pytest.param(
            _set("Launched").set_false("Registered", "MultipleNodesFound"),
            "False",
            "UnhealthyDependents",
            "Registered=False, Initialized=Unknown",
            id="one is false: most recent first",
        ),
    ],
)
def test_ready_follows_from_its_dependents(
    conditions: ConditionSet, status: str, reason: str, message: str
) -> None:
    ready = conditions.get("Ready")

    assert ready is not None
    assert (ready.status, ready.reason, ready.message) == (status, reason, message)


def test_ready_needs_dependents_of_the_present_generation() -> None:
    claim = a_claim(true=("Launched", "Registered", "Initialized"), generation=2)
    stale = ConditionSet.of(claim.metadata, claim.status.conditions, CLAIM_DEPENDENTS, LATER)

    assert stale.set_true("Consolidatable").status("Ready") == "Unknown"
    assert stale.restamp().status("Ready") == "True"


def test_only_independent_conditions_can_be_cleared() -> None:
    conditions = _set("Launched", "Drifted")

    assert conditions.clear("Drifted").get("Drifted") is None
    assert conditions.clear("Launched").is_true("Launched")
    assert conditions.clear("Ready").get("Ready") is not None


def test_the_oldest_transition_is_stored_first_and_ready_last() -> None:
    stored = _set("Launched").set_true("Registered").to_json()

    assert [one["type"] for one in stored][-1] == "Ready"
    assert [one["type"] for one in stored][:2] == ["Initialized", "Launched"]
    assert stored[1]["lastTransitionTime"] == at()


def test_nothing_differs_after_a_write() -> None:
    claim = a_claim(status={"conditions": _set("Launched").set_true("Registered").to_json()})
    again = ConditionSet.of(claim.metadata, claim.status.conditions, CLAIM_DEPENDENTS, LATER)

    assert not again.set_true("Registered").differs(claim.status.conditions)
    assert again.set_true("Initialized").differs(claim.status.conditions)
