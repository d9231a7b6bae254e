import gzip
import json
from pathlib import Path

import pytest

from tests.unit.cli.command import NODE, POD, joiner, written

LINE = {
    "id": 1,
    "kinds": [],
    "nodes": [NODE],
    "pending": POD,
    "verdict": {"schedulable": True, "feasibleNodes": ["n1"]},
}
WRONG = {**LINE, "id": 2, "verdict": {"schedulable": False, "feasibleNodes": [], "reasons": {}}}


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        pytest.param("x", [], "line 1 is not JSON", id="not JSON"),
        pytest.param("[1]", [], "line 1 is not an object", id="array"),
        pytest.param(
            '{"a": 1}',
            [],
            "line 1 is no recording: one has 'pending' and 'verdict', or 'gvk' and 'op', or ",
            id="unknown",
        ),
        pytest.param(
            '{"pending": {}}',
            [],
            "line 1 is no recording: it has 'pending', but not 'verdict'",
            id="half of one",
        ),
        pytest.param(
            '{"steps": []}',
            [],
            "the oracle cannot answer lines of this kind; try --with simulator",
            id="wrong judge of requests",
        ),
        pytest.param(
            '{"gvk": 1, "op": 2}',
            ["--with", "solver"],
            "the solver cannot answer lines of this kind; try --with simulator",
            id="wrong judge",
        ),
        pytest.param(
            '{"pending": {"spec": 5}, "verdict": 2}',
            ["--with", "simulator"],
            "line 1 is not like the others of a recording: ",
            id="broken pod for the simulator",
        ),
        pytest.param(
            '{"pending": 1, "verdict": 2}', [], "line 1 is not like the others", id="broken line"
        ),
        pytest.param(
            json.dumps({**LINE, "pending": {"spec": {"containers": 5}}}),
            ["--with", "solver"],
            "line 1 is not like the others of a recording: pending.spec.containers: ",
            id="broken pod",
        ),
        pytest.param(
            '{"gvk": 1, "op": 2}',
            ["--with", "simulator"],
            "line 1 is not like the others",
            id="broken request",
        ),
        pytest.param(
            '{"steps": 1}', ["--with", "simulator"], "line 1 is not like the others", id="steps"
        ),
    ],
)
def test_what_is_no_recording_is_named(
    tmp_path: Path, text: str, options: list[str], message: str
) -> None:
    file = written(tmp_path, text, name="lines.jsonl")

    done = joiner("verdicts", file, *options)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"joiner: {file}: {message}")


def test_a_broken_archive_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, gzip.compress(b"{}" * 1000)[:20], name="lines.jsonl.gz")

    done = joiner("verdicts", file)

    assert done.code == 2
    assert done.err.startswith(f"joiner: {file}: not a recording")


def test_an_empty_recording_has_no_lines(tmp_path: Path) -> None:
    done = joiner("verdicts", written(tmp_path, "", name="lines.jsonl"))

    assert (done.code, done.out) == (0, "0 lines, 0 agree\n")


@pytest.mark.parametrize("judge", ["oracle", "solver"])
def test_every_line_that_differs_is_shown_with_its_id(tmp_path: Path, judge: str) -> None:
    file = written(tmp_path, f"{json.dumps(LINE)}\n{json.dumps(WRONG)}\n", name="lines.jsonl")

    done = joiner("verdicts", file, "--with", judge)

    first, last = done.out.splitlines()
    assert done.code == 0
    assert first.startswith("2: schedulable: recorded False, ours True; feasible nodes: recorded")
    assert last == "2 lines, 1 agree"


def test_a_report_for_machines_has_the_differing_ids(tmp_path: Path) -> None:
    file = written(tmp_path, f"{json.dumps(LINE)}\n{json.dumps(WRONG)}\n", name="lines.jsonl")

    done = joiner("verdicts", file, "--with", "solver", "--format", "json")

    report = json.loads(done.out)
    assert (report["lines"], report["agree"]) == (2, 1)
    assert [one["id"] for one in report["differ"]] == [2]
