"""`Player`: plays a script on a cluster, as one more part of it.

An agenda holds what is next to be done, by instant and then in the order of the script. A step that
is repeated puts its own repetition on it, what lasts its own end. Laws: stepping does all that is
due, however late; what cannot be done is told and changes nothing else.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from types import MappingProxyType

from libs.domain.errors import JoinerError
from libs.runtime.randomness import Random
from services.simulator.core.part import Outcome
from services.simulator.script import machines, objects, requests, timing, usages
from services.simulator.script.journal import Entry
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
        "usage": usages.usage,
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
    step: int
    """Number of the step that wants it."""
    number: int
    """How many things were put on the agenda before it."""
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
        self._start: datetime | None = None

    def step(self, now: datetime) -> Outcome:
        """Do what is due."""
        if self._start is None:
            self._start = now
            for number, step in enumerate(self._script.steps):
                self._next(number, step, timing.beginnings(step, self._script))
        while self._agenda and self._agenda[0].when <= now:
            self._do(heapq.heappop(self._agenda))
        return Outcome(again=self._agenda[0].when if self._agenda else None)

    def _do(self, due: _Due) -> None:
        try:
            due.act(due.when)
        except JoinerError as error:
            name, place = action_of(self._script.steps[due.step]), f"steps[{due.step}]"
            after = due.when - self._began
            what = f"{name} failed"
            self._stage.tell(Entry(after=after, what=what, subject=place, detail=str(error)))

    @property
    def _began(self) -> datetime:
        assert self._start is not None  # nothing is due before the first step
        return self._start

    def _put(self, step: int, when: datetime, act: Act) -> None:
        heapq.heappush(self._agenda, _Due(when, step, next(self._numbers), act))

    def _next(self, number: int, step: Step, beginnings: Iterator[timedelta]) -> None:
        """Put the next beginning of a step on the agenda, if there is one."""
        begin = next(beginnings, None)
        if begin is None:
            return
        end = timing.ending(step, begin)

        def act(now: datetime) -> None:
            self._next(number, step, beginnings)
            turn = Turn(
                stage=self._stage,
                number=number,
                step=step,
                objects=self._objects.get(number, ()),
                random=self._random,
                start=self._began,
                now=now,
                end=None if end is None else self._began + end,
                later=partial(self._put, number),
            )
            _take(turn)

        self._put(number, self._began + begin, act)


def _take(turn: Turn) -> None:
    step, name = turn.step, action_of(turn.step)
    if step.note:
        turn.tell(turn.now, "note", f"steps[{turn.number}]", step.note)
    if name:
        _ACTS[name](turn)
