"""Events of the scheduler: one for what is repeated, with the number of times."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.server import ApiServer
from services.simulator.core.scheduler.recorder import Recorder, preempted, refusal, success
from tests.unit.services.simulator.living import Obj, a_pod

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def api() -> DirectApi:
    numbers = itertools.count(1)
    return ApiServer(lambda: NOW, lambda: f"uid-{next(numbers)}", lambda: "abcde").direct


def a_stored_pod(api: DirectApi, name: str = "p") -> Obj:
    return api.create("pods", a_pod(name), "default")


def told(api: DirectApi) -> list[Obj]:
    return list(api.list("events", "default"))


def test_an_event_is_told_as_kube_scheduler_tells_it(api: DirectApi) -> None:
    pod = a_stored_pod(api)

    Recorder(api).record(pod, success("default/p", "n1"), NOW)

    (event,) = told(api)
    assert event["eventTime"] == "2026-01-01T00:00:00.000000Z"
    assert (event["reason"], event["action"], event["type"]) == ("Scheduled", "Binding", "Normal")
    assert event["message"] == "Successfully assigned default/p to n1"
    assert event["reportingComponent"] == "default-scheduler"
    assert event["involvedObject"]["resourceVersion"] == pod["metadata"]["resourceVersion"]
    assert "series" not in event
    (name, _, number) = event["metadata"]["name"].partition(".")
    assert (name, int(number, 16) // 10**9) == ("p", int(NOW.timestamp()))


def test_what_is_repeated_is_counted(api: DirectApi) -> None:
    pod, recorder = a_stored_pod(api), Recorder(api)
    for second in range(5):
        recorder.sweep(NOW + timedelta(seconds=second))
        recorder.record(pod, refusal("no"), NOW + timedelta(seconds=second))
    (event,) = told(api)
    assert event["series"]["count"] == 2, "the first repetition is written at once"
    end = recorder.next()
    assert end == NOW + timedelta(minutes=6)

    recorder.sweep(end)
    assert told(api)[0]["series"]["count"] == 2, "the series goes on until six minutes after it"
    recorder.sweep(end + timedelta(minutes=6))

    (event,) = told(api)
    assert event["series"] == {"count": 5, "lastObservedTime": "2026-01-01T00:00:04.000000Z"}
    assert recorder.next() is None
    recorder.record(pod, refusal("no"), NOW + timedelta(minutes=20))
    assert len(told(api)) == 2


def test_pods_and_what_is_said_of_them_are_told_apart(api: DirectApi) -> None:
    first, second, recorder = a_stored_pod(api), a_stored_pod(api, "q"), Recorder(api)

    recorder.record(first, refusal("no"), NOW)
    recorder.record(second, refusal("no"), NOW)
    recorder.record(first, preempted(second, "n1"), NOW)

    reasons = {(one["involvedObject"]["name"], one["reason"]) for one in told(api)}
    assert reasons == {
        ("p", "FailedScheduling"),
        ("q", "FailedScheduling"),
        ("p", "Preempted"),
    }


def test_a_note_is_cut_where_the_api_would_refuse_it(api: DirectApi) -> None:
    Recorder(api).record(a_stored_pod(api), refusal("x" * 2000), NOW)

    (event,) = told(api)
    assert event["message"] == "x" * 1020 + " ..."
