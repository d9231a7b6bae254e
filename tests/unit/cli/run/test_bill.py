import json
from pathlib import Path

from cli.run.bill import added_up, bill, planned


def an_entry(**fields: object) -> str:
    return json.dumps({"message": "applied plan", "level": "INFO", **fields})


def test_plans_that_were_carried_out_are_added_up() -> None:
    lines = [
        "starting",
        an_entry(planned_nanos_per_hour=3 * 10**9, lower_bound_nanos_per_hour=2 * 10**9),
        json.dumps({"message": "reporting a plan only", "planned_nanos_per_hour": 10**12}),
        an_entry(planned_nanos_per_hour=10**9, lower_bound_nanos_per_hour=None),
        '{"message": "applied plan", "cut',
    ]

    said = bill(added_up(lines), [10**9, 4 * 10**9])

    assert said == (
        "bought in all: $4.00/h planned, $5.00/h as the cloud chose, $2.00/h is the least that "
        "was possible"
    )


def test_without_a_log_nothing_was_planned(tmp_path: Path) -> None:
    assert planned(tmp_path / "watcher.log") == added_up([])
