"""What changed of a resource since the last look, from one watch.

It is apart from the watch because it survives one: when history was dropped, it takes the present
state and tells the differences. Laws: `objects` is the store's state as of the last `changes`;
every difference is told once, in order.
"""

from dataclasses import dataclass

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.storage import WatchEvent
from services.simulator.core.api.watching import Watch
from services.simulator.core.objects import Object, key_of


@dataclass(frozen=True, slots=True)
class Change:
    """An object before and after; None where there was or is none."""

    key: str
    old: Object | None
    new: Object | None

    @property
    def sides(self) -> tuple[Object, ...]:
        """Return the states that there are, the older first."""
        return tuple(side for side in (self.old, self.new) if side is not None)


class Feed:
    """The objects of one resource and what happens to them."""

    def __init__(self, api: DirectApi, resource: str) -> None:
        self.objects: dict[str, Object] = {}
        self._api = api
        self._resource = resource
        self._has_news = True
        self._watch = self._open()

    def changes(self) -> list[Change]:
        """Return what happened since the last call; at first, everything that is there."""
        if not self._has_news:
            return []
        self._has_news = False
        events = self._watch.poll()
        if events and events[-1].type == "ERROR":
            self._watch = self._open()
            self._has_news = False
            return self._differences(self._watch.poll())
        return [self._apply(event) for event in events]

    def _open(self) -> Watch:
        watch = self._api.watch(self._resource)
        watch.wake = self._hear
        self._has_news = True
        return watch

    def _hear(self) -> None:
        self._has_news = True

    def _apply(self, event: WatchEvent) -> Change:
        # The store's own key, shared by all feeds: 150,000 pods have a dozen each.
        key = event.version.key if event.version is not None else key_of(event.object)
        if event.type == "DELETED":
            return Change(key, self.objects.pop(key, event.object), None)
        old = self.objects.get(key)
        self.objects[key] = event.object
        return Change(key, old, event.object)

    def _differences(self, present: list[WatchEvent]) -> list[Change]:
        kept = {key_of(event.object) for event in present}
        gone = [key for key in self.objects if key not in kept]
        lost = [Change(key, self.objects.pop(key), None) for key in gone]
        return lost + [
            change
            for change in map(self._apply, present)
            if change.old is None or change.old is not change.new
        ]
