"""The recorder: what is repeated is counted, what is alike combined, what is too much left out."""

from datetime import timedelta
from typing import Any

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.events import Note, Recorder
from services.simulator.core.timetable import AT_ONCE
from tests.support.memory_api import new_server
from tests.unit.services.simulator.living import START, a_node, a_pod


class _Still:
    """A clock that stands."""

    def now(self) -> Any:
        return START

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, span: timedelta) -> None:
        raise AssertionError(span)


def a_recorder() -> tuple[DirectApi, Recorder, dict[str, Any]]:
    api = new_server(_Still()).direct
    return api, Recorder(api), api.create("pods", a_pod("p"), "default")


def note(message: str = "so it is", reason: str = "Told") -> Note:
    return Note(reason=reason, message=message, component="test", host="n1")


def told(api: DirectApi) -> dict[str, int]:
    return {event["message"]: event["count"] for event in api.list("events", "default")}


def test_an_event_says_who_told_what_of_whom() -> None:
    api, recorder, pod = a_recorder()

    recorder.write(pod, note(), START)

    (event,) = api.list("events", "default")
    assert event["involvedObject"] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": "p",
        "namespace": "default",
        "uid": pod["metadata"]["uid"],
        "resourceVersion": pod["metadata"]["resourceVersion"],
    }
    assert event["source"] == {"component": "test", "host": "n1"}
    assert event["metadata"]["name"].startswith("p.")
    assert (event["type"], event["count"]) == ("Normal", 1)


def test_an_event_of_a_node_is_of_no_state_of_it() -> None:
    api, recorder, _pod = a_recorder()

    recorder.write(api.create("nodes", a_node()), note(), START)

    (event,) = api.list("events", "default")
    assert "resourceVersion" not in event["involvedObject"]


def test_what_is_repeated_is_counted_on_one_event() -> None:
    api, recorder, pod = a_recorder()

    for second in range(3):
        recorder.write(pod, note(), START + timedelta(seconds=second))
    recorder.write(pod, note(reason="Other"), START)

    assert sorted(event["count"] for event in api.list("events", "default")) == [1, 3]
    counted = next(event for event in api.list("events", "default") if event["count"] == 3)
    assert counted["lastTimestamp"] == "2026-01-01T00:00:02Z"


def test_from_the_tenth_message_of_a_reason_on_they_are_combined() -> None:
    api, recorder, pod = a_recorder()

    for number in range(20):
        recorder.write(pod, note(f"message {number}"), START)

    assert len(told(api)) == 10
    assert told(api)["(combined from similar events): message 19"] == 11


def test_after_ten_quiet_minutes_messages_stand_for_themselves_again() -> None:
    api, recorder, pod = a_recorder()
    for number in range(12):
        recorder.write(pod, note(f"message {number}"), START)

    recorder.write(pod, note("later"), START + timedelta(minutes=11))

    assert told(api)["later"] == 1


def test_who_says_too_much_of_one_object_is_heard_once_in_five_minutes() -> None:
    api, recorder, pod = a_recorder()

    for _ in range(40):
        recorder.write(pod, note(), START)
    assert told(api) == {"so it is": 25}
    recorder.write(pod, note(), START + timedelta(minutes=5))
    recorder.write(pod, note(), START + timedelta(minutes=6))

    assert told(api) == {"so it is": 26}


def test_what_is_recorded_is_written_at_the_next_steps() -> None:
    api, recorder, _pod = a_recorder()
    for number in range(AT_ONCE + 1):
        recorder.record(api.create("pods", a_pod(f"p{number}"), "default"), note())
    assert told(api) == {}

    first = recorder.step(START)
    assert len(api.list("events", "default")) == AT_ONCE
    second = recorder.step(START)

    assert (first.again, second.again) == (START, None)
    assert len(api.list("events", "default")) == AT_ONCE + 1
