import io
import json
import logging
from typing import Any

import pytest

from libs.runtime.logging import JsonFormatter, RepeatFilter


class Written:
    """A logger with our formatter and filter, on a clock moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.stream = io.StringIO()
        handler = logging.StreamHandler(self.stream)
        handler.setFormatter(JsonFormatter("solver"))
        handler.addFilter(RepeatFilter(lambda: self.now))
        self.logger = logging.Logger("libs.x")
        self.logger.addHandler(handler)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


@pytest.fixture
def written() -> Written:
    return Written()


def test_a_line_is_json_with_the_values_as_keys(written: Written) -> None:
    written.logger.info("launched nodeclaim", extra={"nodeclaim": "a-é", "object": object})

    [line] = written.lines()
    assert (
        line.items()
        >= {
            "level": "INFO",
            "service": "solver",
            "logger": "libs.x",
            "message": "launched nodeclaim",
            "nodeclaim": "a-é",
        }.items()
    )
    assert line["time"].endswith("+00:00")


def test_an_error_carries_its_traceback_in_one_line(written: Written) -> None:
    try:
        raise ValueError("no")
    except ValueError:
        written.logger.exception("failed")

    [line] = written.lines()
    assert "ValueError: no" in line["stacktrace"]


def test_a_repeated_warning_is_counted_until_the_window_is_over(written: Written) -> None:
    for written.now in (0, 10, 59, 61):
        written.logger.warning("peer is down", extra={"peer": "a"})

    lines = written.lines()
    assert len(lines) == 2
    assert "suppressed" not in lines[0]
    assert lines[1]["suppressed"] == 2


def test_a_warning_with_other_values_is_no_repeat(written: Written) -> None:
    for peer in ("a", "b"):
        written.logger.warning("peer is down", extra={"peer": peer})

    assert len(written.lines()) == 2


def test_a_change_to_the_world_is_never_suppressed(written: Written) -> None:
    for _ in range(3):
        written.logger.info("evicted pod", extra={"pod": "x"})

    assert len(written.lines()) == 3


def test_the_memory_of_repeats_is_bounded(written: Written) -> None:
    for number in range(1001):
        written.logger.warning("w", extra={"n": number})
    written.logger.warning("w", extra={"n": 0})

    assert len(written.lines()) == 1002
