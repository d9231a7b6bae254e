"""Results as they are printed."""

import json

import pytest

from benchmarks.record import Outcome, Record, Sizes, line, readable, stage_fields
from benchmarks.timing import Stages, percentile


@pytest.mark.parametrize(
    ("count", "share", "expected"),
    [
        pytest.param(1, 0.99, 1, id="one run"),
        pytest.param(5, 0.5, 3, id="the middle one"),
        pytest.param(100, 0.99, 99, id="all but one of a hundred"),
        pytest.param(30, 0.99, 30, id="the slowest of few"),
    ],
)
def test_a_percentile_is_one_of_the_values(count: int, share: float, expected: int) -> None:
    assert percentile([float(one) for one in range(count, 0, -1)], share) == expected


def record(bound: int | None = None) -> Record:
    return Record(
        name="solve/peer-mix",
        sizes=Sizes(pods=1000, types=400, nodes=7),
        seconds=[0.5, 0.25, 1.0],
        peak_rss_bytes=2**27,
        outcome=Outcome(
            placed=990,
            unplaced=10,
            new_nodes=200,
            cost_nanos_per_hour=1_500_000_000,
            lower_bound_nanos_per_hour=bound,
            violations=0,
        ),
        more={"delta": 0},
    )


def test_a_line_is_one_object_with_the_fields_that_are_promised() -> None:
    text = line(record(bound=1_200_000_000))
    found = json.loads(text)

    assert "\n" not in text
    assert (
        found
        | {
            "name": "solve/peer-mix",
            "pods": 1000,
            "types": 400,
            "nodes": 7,
            "pods_per_second": 2000.0,
            "seconds_p50": 0.5,
            "seconds_p99": 1.0,
            "peak_rss_bytes": 134_217_728,
            "cost_per_hour": 1.5,
            "lower_bound_per_hour": 1.2,
            "placed": 990,
            "unplaced": 10,
            "violations": 0,
        }
        == found
    )


def test_a_bound_that_is_not_known_is_null() -> None:
    assert json.loads(line(record()))["lower_bound_per_hour"] is None


def test_people_read_mebibytes_and_a_dash_for_what_is_not_known() -> None:
    shown = dict(readable(record().document()))

    assert shown["peak rss bytes"] == "128 MiB"
    assert shown["lower bound per hour"] == "-"
    assert shown["pods"] == "1,000"


def test_stages_are_told_apart() -> None:
    runs = [Stages(ingest=1, snapshot=2, push=3, solve=4, answer=5)] * 2

    assert stage_fields(runs)["push_seconds"] == {"p50": 3, "p99": 3}
    assert runs[0].total == 15
