"""When steps begin and end."""

from datetime import timedelta
from typing import Any

import pytest

from services.simulator.script.reading import parse
from services.simulator.script.timing import beginnings, ending, length

PAUSE = {"pause": True}
CUT: dict[str, Any] = {"cutWatches": {}}


@pytest.mark.parametrize(
    ("step", "minutes"),
    [
        pytest.param({**PAUSE, "at": "3m"}, [3], id="once"),
        pytest.param({**CUT, "at": "3m", "every": "10m"}, [3, 13, 23], id="to the script's end"),
        pytest.param({**CUT, "at": "3m", "every": "10m", "until": "13m"}, [3, 13], id="until"),
        pytest.param({**CUT, "at": 0, "every": "10m"}, [0, 10, 20, 30], id="from the start"),
    ],
)
def test_steps_begin(step: dict[str, Any], minutes: list[int]) -> None:
    script = parse({"steps": [step], "until": "30m"}).script

    found = [one.total_seconds() / 60 for one in beginnings(script.steps[0], script)]

    assert found == minutes


@pytest.mark.parametrize(
    ("step", "minutes"),
    [
        pytest.param({**PAUSE, "at": "3m"}, None, id="for ever"),
        pytest.param({**PAUSE, "at": "3m", "until": "7m"}, 7, id="until"),
        pytest.param({**PAUSE, "at": "3m", "lasts": "7m"}, 10, id="lasts"),
        pytest.param({**CUT, "at": "3m", "every": "1m", "until": "9m"}, None, id="at once"),
    ],
)
def test_what_lasts_ends(step: dict[str, Any], minutes: int | None) -> None:
    (found,) = parse({"steps": [step]}).script.steps

    assert ending(found, found.at) == (minutes and timedelta(minutes=minutes))


@pytest.mark.parametrize(
    ("step", "minutes"),
    [
        pytest.param({**CUT, "at": "3m"}, 8, id="five minutes after"),
        pytest.param({**PAUSE, "at": "3m", "until": "9m"}, 14, id="after what lasts"),
        pytest.param({**PAUSE, "at": "3m", "lasts": "9m"}, 17, id="after what lasts so long"),
        pytest.param(
            {"at": "1m", "scale": {"name": "web", "replicas": 9, "over": "1h"}}, 66, id="ramp"
        ),
        pytest.param(
            {"at": "1m", "scale": {"name": "a", "curve": [{"after": "1h", "replicas": 9}]}},
            66,
            id="curve",
        ),
        pytest.param({"at": "1m", "reclaim": {"notice": "2m"}}, 8, id="notice"),
    ],
)
def test_a_run_ends_a_while_after_the_last_effect(step: dict[str, Any], minutes: int) -> None:
    assert length(parse({"steps": [step]}).script) == timedelta(minutes=minutes)
