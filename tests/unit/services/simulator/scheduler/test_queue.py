"""Which pod is next, and how long others wait."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from libs.oracle.pods import read_pod
from services.simulator.core.scheduler.queue import Parked, SchedulingQueue

START = datetime(2026, 1, 1, tzinfo=UTC)
POD: dict[str, Any] = {"metadata": {"name": "p", "namespace": "default", "uid": "u"}, "spec": {}}
PARKED = Parked(pod=read_pod(POD), plugins=frozenset({"NodeResourcesFit"}))


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": {}}


def queue(**priorities: int) -> SchedulingQueue:
    made = SchedulingQueue()
    for index, (name, priority) in enumerate(priorities.items()):
        made.push(name, pod(name), priority, at(index))
    return made


def drained(made: SchedulingQueue, now: datetime) -> list[str]:
    found = []
    while (key := made.pop(now)) is not None:
        found.append(key)
        made.drop(key)
    return found


def test_priority_comes_first_then_who_was_queued_first() -> None:
    assert drained(queue(a=0, b=5, c=5, d=0), at(9)) == ["b", "c", "a", "d"]


def test_a_parked_pod_waits_for_help() -> None:
    made = queue(a=0)
    assert made.pop(START) == "a"
    made.park("a", PARKED, START)

    assert made.pop(at(200)) is None
    made.wake("a")
    assert made.pop(at(200)) == "a"


def test_a_parked_pod_is_tried_after_five_minutes_in_any_case() -> None:
    made = queue(a=0)
    made.pop(START)
    made.park("a", PARKED, START)

    assert made.next(START) == at(300)
    assert made.pop(at(299)) is None
    assert made.pop(at(300)) == "a"


def test_a_helped_pod_is_tried_at_leisure_or_when_its_back_off_is_over() -> None:
    made = queue(a=9)
    made.pop(START)
    made.park("a", PARKED, START)
    made.wake("a")
    assert made.next(START) == at(0.1)
    assert made.pop(START) is None

    made.push("b", pod("b"), 0, START)
    assert made.pop(at(0.5)) == "b", "it is ready, while the other backs off"
    assert made.pop(at(0.5)) == "a", "nothing else is to be done"
    made.park("a", PARKED, at(0.5))
    made.wake("a")
    made.push("b", pod("b"), 0, at(0.5))
    assert made.pop(at(2.6)) == "a", "its second back-off of two seconds is over"


@pytest.mark.parametrize(
    ("failures", "seconds"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (30, 10)]
)
def test_after_errors_a_pod_waits_in_full(failures: int, seconds: int) -> None:
    made, now = queue(a=0), START
    for _ in range(failures):
        now += timedelta(minutes=1)
        assert made.pop(now) == "a"
        made.back_off("a", now)

    assert made.next(now) == now + timedelta(seconds=seconds)
    assert made.pop(now + timedelta(seconds=seconds - 0.1)) is None
    assert made.pop(now + timedelta(seconds=seconds)) == "a"


def test_a_changed_pod_is_tried_at_once_and_once() -> None:
    made = queue(a=0)
    made.pop(START)
    made.park("a", PARKED, START)
    made.wake("a")

    made.push("a", pod("a"), 0, START)

    assert drained(made, START) == ["a"]
    assert drained(made, at(1000)) == []


def test_a_pod_of_the_same_name_begins_anew() -> None:
    made = queue(a=0)
    made.pop(START)
    made.back_off("a", START)

    made.push("a", {**pod("a"), "metadata": {**pod("a")["metadata"], "uid": "other"}}, 0, START)

    assert made.pop(START) == "a"


def test_what_was_dropped_never_comes_out() -> None:
    made = queue(a=0, b=0)
    made.drop("a")

    assert drained(made, START) == ["b"]
    assert made.next(START) is None
