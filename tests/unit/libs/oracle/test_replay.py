import json
from typing import Any

import pytest

from libs.oracle.replay import UNDOCUMENTED_KINDS, replay
from tests.unit.libs.oracle.recordings import recorded_lines, thin_lines


@pytest.mark.parametrize("part", range(4))
def test_every_recorded_verdict_is_ours_too(part: int) -> None:
    results = list(replay(recorded_lines(start=part, every=4)))

    assert len(results) > 1500
    assert [one for one in results if not (one.agrees or UNDOCUMENTED_KINDS & set(one.kinds))] == []


def test_every_verdict_of_the_thin_kinds_is_ours_too() -> None:
    results = list(replay(thin_lines()))

    assert len(results) == 600
    assert [one for one in results if not one.agrees] == []


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"feasibleNodes": ["elsewhere"]}, "feasible nodes"),
        ({"schedulable": True}, "schedulable"),
        ({"reasons": {"Insufficient luck": 1}}, "reasons"),
        ({"message": "0/1 nodes are available: 1 Insufficient luck."}, "message"),
    ],
)
def test_a_doctored_recording_differs(change: dict[str, Any], difference: str) -> None:
    recording = next(
        line
        for line in map(json.loads, recorded_lines())
        if line["verdict"]["reason"] == "Unschedulable"
    )
    recording["verdict"].update(change)

    (result,) = replay([json.dumps(recording)])

    assert not result.agrees
    assert any(text.startswith(difference) for text in result.differences)
