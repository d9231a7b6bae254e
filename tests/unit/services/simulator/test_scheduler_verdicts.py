"""Recorded verdicts of kube-scheduler, through the simulated API and its scheduler."""

import copy
import json
from itertools import islice
from typing import Any

import pytest

from libs.oracle.replay import UNDOCUMENTED_KINDS
from services.simulator.scheduler_verdicts import replay
from tests.unit.libs.oracle.recordings import recorded_lines

PARTS = 4
PART = 1600


@pytest.mark.parametrize("part", range(PARTS))
def test_every_recorded_verdict_is_that_of_the_simulator(part: int) -> None:
    lines = islice(recorded_lines(), part * PART, (part + 1) * PART)

    results = list(replay(lines))

    assert len(results) > 1400
    assert [
        one for one in results if one.differences and UNDOCUMENTED_KINDS.isdisjoint(one.kinds)
    ] == []


@pytest.fixture(scope="module")
def recording() -> dict[str, Any]:
    lines = map(json.loads, recorded_lines())
    return next(line for line in lines if line["verdict"]["reason"] == "Unschedulable")


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        pytest.param(
            {"reason": "SchedulerError"}, 'reason: recorded "SchedulerError"', id="reason"
        ),
        pytest.param({"message": "0/1 nodes."}, 'message: recorded "0/1 nodes."', id="message"),
        pytest.param({"schedulable": True}, "schedulable: recorded True", id="schedulable"),
    ],
)
def test_a_doctored_refusal_differs(
    recording: dict[str, Any], change: dict[str, Any], difference: str
) -> None:
    doctored = copy.deepcopy(recording)
    doctored["verdict"].update(change)

    (result,) = replay([json.dumps(doctored)])

    assert result.differences[0].startswith(difference)


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        pytest.param({"feasibleNodes": ["elsewhere"]}, "node: recorded one of", id="node"),
        pytest.param({"schedulable": False}, "schedulable: recorded False", id="refused"),
    ],
)
def test_a_doctored_placement_differs(change: dict[str, Any], difference: str) -> None:
    lines = map(json.loads, recorded_lines())
    doctored = next(line for line in lines if line["verdict"]["schedulable"])
    doctored["verdict"].update(change)

    (result,) = replay([json.dumps(doctored)])

    assert result.differences[0].startswith(difference)


def test_what_the_api_refuses_is_a_difference_of_its_line_alone(recording: dict[str, Any]) -> None:
    refused = copy.deepcopy(recording)
    refused["pending"]["spec"]["containers"][0]["name"] = "Not A Name"

    first, second = replay([json.dumps(refused), json.dumps(recording)])

    assert first.differences[0].startswith("refused by the API: ")
    assert second.differences == ()
