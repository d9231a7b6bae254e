import json
from typing import Any

import pytest

from libs.oracle.replay import UNDOCUMENTED_KINDS, replay
from tests.unit.libs.oracle.recordings import recorded_lines


def test_every_recorded_verdict_is_ours_too() -> None:
    results = list(replay(recorded_lines()))

    documented = [result for result in results if not UNDOCUMENTED_KINDS & set(result.kinds)]
    assert (len(results), len(documented)) == (6251, 6197)
    assert [result for result in documented if not result.agrees] == []


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
