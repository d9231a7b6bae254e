"""What every controller is: sources that queue keys, and a function that reconciles one of them.

Law: a key that was refused is tried again, later and later up to a minute, and no other key waits
for it.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta

from libs.domain.errors import JoinerError
from services.simulator.core.client import Client
from services.simulator.core.feed import Change
from services.simulator.core.objects import Object, controller_of, key_of
from services.simulator.core.part import Outcome, Refusal
from services.simulator.core.timetable import Timetable

Concerns = Callable[[Object], Iterable[str]]
"""Which keys a changed object concerns."""

Reconcile = Callable[[str, datetime], datetime | None]
"""Brings what a key names up to date; returns when to look again if nothing changes."""

_FIRST_RETRY = timedelta(seconds=1)
_LAST_RETRY = timedelta(minutes=1)


def _no_pause(_key: str) -> timedelta:
    return timedelta()


class Controller:
    """One controller as a part of the simulated cluster."""

    def __init__(
        self,
        name: str,
        client: Client,
        sources: Mapping[str, Concerns],
        reconcile: Reconcile,
        *,
        matters: Mapping[str, Callable[[Change], bool]] | None = None,
        pause: Callable[[str], timedelta] = _no_pause,
    ) -> None:
        """Follow the resources that are the keys of `sources`.

        Args:
            name: the controller's own.
            client: what it works with.
            sources: the resources and which keys a change of them concerns.
            reconcile: brings one key up to date.
            matters: by resource, which changes of it matter; all do where nothing is said.
            pause: how long a key waits at least after it was brought up to date.
        """
        self.name = name
        wanted = matters or {}
        self._sources = [
            (client.subscribe(resource), concerns, wanted.get(resource))
            for resource, concerns in sources.items()
        ]
        self._reconcile = reconcile
        self._due: Timetable[str] = Timetable()
        self._failures: dict[str, int] = {}
        self._pause = pause
        self._paused: dict[str, datetime] = {}

    def step(self, now: datetime) -> Outcome:
        """Queue what changed and reconcile what is due."""
        for subscription, concerns, matters in self._sources:
            for change in subscription.changes():
                if matters is not None and not matters(change):
                    continue
                for side in change.sides:
                    for key in concerns(side):
                        self._due.hasten(key, max(now, self._paused.get(key, now)))
        refusals = []
        for key in self._due.take(now):
            try:
                again = self._reconcile(key, now)
                self._failures.pop(key, None)
            except JoinerError as error:
                refusals.append(Refusal(key, error))
                again = now + self._delay(key)
            if again is not None:
                self._due.hasten(key, again)
            if pause := self._pause(key):
                self._paused[key] = now + pause
        return Outcome(again=self._due.next(), refusals=tuple(refusals))

    def _delay(self, key: str) -> timedelta:
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        factor: int = 2 ** min(failures - 1, 10)
        return min(_FIRST_RETRY * factor, _LAST_RETRY)


def itself(obj: Object) -> Iterable[str]:
    """Concern the changed object's own key."""
    return (key_of(obj),)


def its_controller(kind: str) -> Concerns:
    """Concern the controller of the changed object, if it is of a kind."""

    def concerns(obj: Object) -> Iterable[str]:
        owner = controller_of(obj)
        if owner is None or owner["kind"] != kind:
            return ()
        namespace = obj["metadata"].get("namespace")
        return (f"{namespace}/{owner['name']}" if namespace else owner["name"],)

    return concerns
