"""When the steps of a script begin and end, and when a script is over.

Pure, apart from the player because a run needs to know its length before it is played.
"""

from collections.abc import Iterator
from datetime import timedelta

from services.simulator.script.rules import LASTING, action_of
from services.simulator.script.schema import Script, Step

_AFTERMATH = timedelta(minutes=5)


def beginnings(step: Step, script: Script) -> Iterator[timedelta]:
    """Yield when a step begins, since the script's own beginning."""
    yield step.at
    if step.every is None:
        return
    last = length(script) if step.until is None else step.until
    begin = step.at + step.every
    while begin <= last:
        yield begin
        begin += step.every


def ending(step: Step, begin: timedelta) -> timedelta | None:
    """Return when what began at `begin` ends, None if it does not end by itself."""
    if action_of(step) not in LASTING:
        return None
    if step.lasts is not None:
        return begin + step.lasts
    return step.until


def length(script: Script) -> timedelta:
    """Return how long a script is played: its own `until`, or a while after its last step."""
    if script.until is not None:
        return script.until
    return max(map(_last_effect, script.steps)) + _AFTERMATH


def _last_effect(step: Step) -> timedelta:
    last = max(step.at, step.until or timedelta()) + (step.lasts or timedelta())
    if step.scale is not None:
        last += step.scale.over or timedelta()
        last += step.scale.curve[-1].after if step.scale.curve else timedelta()
    if step.reclaim is not None:
        last += step.reclaim.notice
    return last
