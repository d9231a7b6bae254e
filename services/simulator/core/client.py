"""What controllers and kubelets have in their hands: the API, shared views of it, and a recorder.

The objects of a resource are kept once for all of them, as informers do, with the indexes that
they ask for. Laws: every subscriber is told every change once, in order; `objects` and indexes are
never older than the changes that were told, but may be newer.
"""

from collections.abc import Callable, Mapping

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.events import Recorder
from services.simulator.core.feed import Change, Feed
from services.simulator.core.objects import Object, controller_of

Group = Callable[[Object], str | None]
"""Which group of an index an object is in; None for none."""


class Client:
    """One for all parts of a cluster that are not the scheduler."""

    def __init__(self, api: DirectApi) -> None:
        self.api = api
        self.events = Recorder(api)
        self._shared: dict[str, _Shared] = {}

    def subscribe(self, resource: str) -> "Subscription":
        """Return the changes of a resource; at first, everything that is there."""
        return self._of(resource).subscribe()

    def index(self, resource: str, group: Group) -> "Index":
        """Return the objects of a resource by what a function says; one index for one function."""
        return self._of(resource).index(group)

    def _of(self, resource: str) -> "_Shared":
        if resource not in self._shared:
            self._shared[resource] = _Shared(self.api, resource)
        return self._shared[resource]


class Subscription:
    """What one part is told of a resource."""

    def __init__(self, shared: "_Shared") -> None:
        self.objects: Mapping[str, Object] = shared.feed.objects
        self.pending: list[Change] = []
        self._shared = shared

    def changes(self) -> list[Change]:
        """Return what happened since the last call."""
        self._shared.pull()
        told, self.pending = self.pending, []
        return told


class Index:
    """The objects of one resource under the key that a function gives; current at every read."""

    def __init__(self, shared: "_Shared", group: Group) -> None:
        self._shared = shared
        self._group = group
        self._groups: dict[str, dict[str, Object]] = {}
        for key, obj in shared.feed.objects.items():
            self.apply(Change(key, None, obj))

    def of(self, group: str) -> list[Object]:
        """Return the objects of a group, the oldest first."""
        self._shared.pull()
        return list(self._groups.get(group, {}).values())

    def apply(self, change: Change) -> None:
        """Take in a change."""
        before = self._group(change.old) if change.old is not None else None
        after = self._group(change.new) if change.new is not None else None
        if before is not None and before != after:
            members = self._groups[before]
            members.pop(change.key, None)
            if not members:
                del self._groups[before]
        if after is not None and change.new is not None:
            self._groups.setdefault(after, {})[change.key] = change.new


class _Shared:
    def __init__(self, api: DirectApi, resource: str) -> None:
        self.feed = Feed(api, resource)
        self._subscriptions: list[Subscription] = []
        self._indexes: dict[Group, Index] = {}

    def subscribe(self) -> Subscription:
        self.pull()
        subscription = Subscription(self)
        subscription.pending = [Change(key, None, obj) for key, obj in self.feed.objects.items()]
        self._subscriptions.append(subscription)
        return subscription

    def index(self, group: Group) -> Index:
        self.pull()
        if group not in self._indexes:
            self._indexes[group] = Index(self, group)
        return self._indexes[group]

    def pull(self) -> None:
        changes = self.feed.changes()
        if not changes:
            return
        for index in self._indexes.values():
            for change in changes:
                index.apply(change)
        for subscription in self._subscriptions:
            subscription.pending.extend(changes)


def controller_uid(obj: Object) -> str | None:
    """Group by the uid of an object's controller."""
    owner = controller_of(obj)
    return str(owner["uid"]) if owner is not None else None


def node_name(pod: Object) -> str | None:
    """Group pods by the node they are bound to."""
    return pod["spec"].get("nodeName") or None
