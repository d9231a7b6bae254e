"""The acts of a script about requests: the API server pauses, throttles, fails, cuts watches."""

from dataclasses import replace
from datetime import datetime

from services.simulator.core.weather import Failure
from services.simulator.script.playing import Turn
from services.simulator.script.schema import Requests

_TOO_MANY = 429


def pause(turn: Turn) -> None:
    """Let the API server answer nothing."""
    sky = turn.stage.sky
    sky.change(replace(sky.weather, pauses=sky.weather.pauses + 1))
    turn.tell(turn.now, "api pauses")

    def over(now: datetime) -> None:
        sky.change(replace(sky.weather, pauses=sky.weather.pauses - 1))
        turn.tell(now, "api answers again")

    turn.at_end(over)


def throttle(turn: Turn) -> None:
    """Let requests be refused for being too many."""
    wish = turn.step.throttle
    assert wish is not None
    wait = max(1, int(wish.retry_after.total_seconds()))
    _fail(turn, _failure(wish.requests, _TOO_MANY, wait))


def errors(turn: Turn) -> None:
    """Let requests fail."""
    wish = turn.step.errors
    assert wish is not None
    _fail(turn, _failure(wish.requests, wish.code, None))


def cut_watches(turn: Turn) -> None:
    """End the watches that are open."""
    wish = turn.step.cut_watches
    assert wish is not None
    if wish.forget:
        turn.stage.hands.forget_history()
    cut = turn.stage.sky.cut_watches(frozenset(wish.resources))
    kinds = ", ".join(wish.resources) or "all resources"
    turn.tell(turn.now, "watches cut", kinds, f"{cut} were open")


def _fail(turn: Turn, failure: Failure) -> None:
    sky = turn.stage.sky
    sky.change(replace(sky.weather, failures=(*sky.weather.failures, failure)))
    turn.tell(turn.now, "api fails", detail=_told(failure))

    def over(now: datetime) -> None:
        kept = list(sky.weather.failures)
        kept.remove(failure)
        sky.change(replace(sky.weather, failures=tuple(kept)))
        turn.tell(now, "api fails no more", detail=_told(failure))

    turn.at_end(over)


def _failure(requests: Requests, code: int, wait: int | None) -> Failure:
    return Failure(
        code=code,
        share=requests.share,
        resources=frozenset(requests.resources),
        verbs=frozenset(requests.verbs),
        clients=requests.clients,
        retry_after=wait,
    )


def _told(failure: Failure) -> str:
    narrowed = (*sorted(failure.verbs), *sorted(failure.resources), *failure.clients)
    share = "" if failure.share >= 1 else f" for {failure.share:.0%}"
    return f"{failure.code}{share} of {' '.join(narrowed) or 'all requests'}"
