"""`Player`: plays a script on a cluster, as one more part of it.

An agenda holds what is still to be done, by instant and then in the order of the script. What lasts
puts its own end on it. Laws: stepping does all that is due, however late; what cannot be done is
told and changes nothing else.
"""

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from types import MappingProxyType

from libs.domain.errors import JoinerError
from libs.runtime.randomness import Random
from services.simulator.core.part import Outcome
from services.simulator.script import machines, objects, requests, timing
from services.simulator.script.playing import Act, Stage, Turn
from services.simulator.script.reading import Loaded
from services.simulator.script.rules import action_of
from services.simulator.script.schema import Step

_ACTS: Mapping[str, Callable[[Turn], None]] = MappingProxyType(
    {
        "apply": objects.apply,
        "delete": objects.delete,
        "scale": objects.scale,
        "reclaim": machines.reclaim,
        "boot": machines.boot,
        "kubelets": machines.kubelets,
        "pause": requests.pause,
        "throttle": requests.throttle,
        "errors": requests.errors,
        "cut_watches": requests.cut_watches,
    }
)


@dataclass(frozen=True, slots=True, order=True)
class _Due:
    """One thing on the agenda."""

    when: datetime
    number: int
    act: Act = field(compare=False)


class Player:
    """One script on one cluster; its time begins with the first step of this part."""

    name = "script"

    def __init__(self, loaded: Loaded, stage: Stage) -> None:
        self._script = loaded.script
        self._objects = loaded.objects
        self._stage = stage
        self._random = Random(self._script.seed)
        self._numbers = count()
        self._agenda: list[_Due] = []
        self._begun = False

    def step(self, now: datetime) -> Outcome:
        """Do what is due."""
        if not self._begun:
            self._begun = True
            self._plan(now)
        while self._agenda and self._agenda[0].when <= now:
            due = heapq.heappop(self._agenda)
            due.act(due.when)
        return Outcome(again=self._agenda[0].when if self._agenda else None)

    def _plan(self, start: datetime) -> None:
        for number, step in enumerate(self._script.steps):
            for begin in timing.beginnings(step, self._script):
                self._put(start + begin, self._beginning(number, step, start, begin))

    def _put(self, when: datetime, act: Act) -> None:
        heapq.heappush(self._agenda, _Due(when, next(self._numbers), act))

    def _beginning(self, number: int, step: Step, start: datetime, begin: timedelta) -> Act:
        end = timing.ending(step, begin)

        def act(now: datetime) -> None:
            turn = Turn(
                stage=self._stage,
                number=number,
                step=step,
                objects=self._objects.get(number, ()),
                random=self._random,
                start=start,
                now=now,
                end=None if end is None else start + end,
                later=self._put,
            )
            _take(turn)

        return act


def _take(turn: Turn) -> None:
    step, name, place = turn.step, action_of(turn.step), f"steps[{turn.number}]"
    if step.note:
        turn.tell(turn.now, "note", place, step.note)
    if not name:
        return
    try:
        _ACTS[name](turn)
    except JoinerError as error:
        turn.tell(turn.now, f"{name} failed", place, str(error))
