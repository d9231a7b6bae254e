"""Events do not stay: each is deleted an hour after its last change, as kube-apiserver does."""

from datetime import datetime, timedelta

from services.simulator.core.client import Client
from services.simulator.core.objects import split_key
from services.simulator.core.part import Outcome
from services.simulator.core.timetable import Timetable

TIME_TO_LIVE = timedelta(hours=1)


class EventExpiry:
    """Deletes events whose time is over."""

    name = "eventexpiry"

    def __init__(self, client: Client) -> None:
        self._api = client.api
        self._events = client.subscribe("events")
        self._ends: Timetable[str] = Timetable()

    def step(self, now: datetime) -> Outcome:
        """Delete what is due."""
        for change in self._events.changes():
            if change.new is None:
                self._ends.drop(change.key)
            else:
                self._ends.put(change.key, now + TIME_TO_LIVE)
        for key in self._ends.take(now):
            namespace, name = split_key(key)
            if self._api.find("events", name, namespace) is not None:
                self._api.delete("events", name, namespace)
        return Outcome(again=self._ends.next())
