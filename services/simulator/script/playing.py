"""What the acts of a script work with: the cluster, the agenda, and somebody to tell.

Apart from the player so that acts can be in modules by what they are about.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from libs.runtime.randomness import Random
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.store import Object
from services.simulator.core.kubelet.fate import FateBook
from services.simulator.core.usage.meter import UsageBook
from services.simulator.core.weather import Weather
from services.simulator.script.hands import Hands
from services.simulator.script.journal import Entry
from services.simulator.script.schema import Step

Act = Callable[[datetime], None]
"""Something that is done at an instant."""


class Skies(Protocol):
    """What a script needs of the weather."""

    @property
    def weather(self) -> Weather:
        """The weather in force."""

    def change(self, weather: Weather) -> None:
        """Let another weather be in force."""

    def cut_watches(self, resources: frozenset[str]) -> int:
        """End watches of these resources, of all if there are none; return how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a script plays on."""

    hands: Hands
    api: DirectApi
    book: FateBook
    usage: UsageBook
    sky: Skies
    tell: Callable[[Entry], None]
    """Told of everything that is done, as it is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One step of a script whose time has come."""

    stage: Stage
    number: int
    step: Step
    objects: tuple[Object, ...]
    """What the step applies."""
    random: Random
    start: datetime
    now: datetime
    end: datetime | None
    """When what lasts is to end."""
    later: Callable[[datetime, Act], None]
    """Put something on the agenda."""

    def tell(self, now: datetime, what: str, subject: str = "", detail: str = "") -> None:
        """Tell what was done."""
        after: timedelta = now - self.start
        self.stage.tell(Entry(after=after, what=what, subject=subject, detail=detail))

    def at_end(self, act: Act) -> None:
        """Let something be done when what lasts ends, if it does."""
        if self.end is not None:
            self.later(self.end, act)
