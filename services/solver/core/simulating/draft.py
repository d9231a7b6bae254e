"""A snapshot with changes that are noted but not yet made.

Apart because several edits are made in order, each seeing what those before it did, while the
snapshot is put together once: what an edit costs is what it touches.

Laws:
    - What is not touched is the very object of the base.
    - Making edits one after another, or all on one draft, comes to the same snapshot.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from operator import itemgetter
from typing import Any

from libs.domain.errors import InvalidRequest
from libs.domain.pod import Owner, PodRow
from libs.domain.pod_change import exchanged
from libs.domain.snapshot import KEYS, ClusterSnapshot, SnapshotUpdate, apply
from libs.domain.spelling import nearest
from services.solver.core.simulating.watching import PODS_BETWEEN, Cancelled, look, watched

MOST_ADDED = 200_000
"""Most pods, and most nodes, that one scenario adds: more are a slip, or an attack on memory."""

_GUESSES = 3
_SHOWN = 6
"""Most names of which all are told, where none is near to what was written."""


class Draft:
    """What edits make of a snapshot; touch it through its methods only."""

    def __init__(self, base: ClusterSnapshot, cancelled: Cancelled = lambda: False) -> None:
        self.base = base
        self._cancelled = cancelled
        self._items: dict[str, dict[Any, Any]] = {name: {} for name in KEYS}
        """What was put, None for what was removed; by collection and key."""
        self._rows: dict[str, PodRow | None] = {}
        """The same for pods, by uid."""
        self._before: dict[str, PodRow] = {}
        """Pods of the base that were looked at, by uid."""
        self._shape = max(base.shapes, default=0)
        self._added: Counter[str] = Counter()

    def get(self, collection: str, key: Any) -> Any:
        """Return an object, None if it is not there."""
        touched = self._items[collection]
        return touched[key] if key in touched else getattr(self.base, collection).get(key)

    def all(self, collection: str) -> Iterator[Any]:
        """Yield all objects of a collection: what was touched last."""
        touched = self._items[collection]
        for key, item in getattr(self.base, collection).items():
            if key not in touched:
                yield item
        yield from (item for item in touched.values() if item is not None)

    def put(self, collection: str, item: Any) -> None:
        """Add or replace an object."""
        self._items[collection][KEYS[collection](item)] = item

    def remove(self, collection: str, key: Any) -> None:
        """Take an object away; one that is not there already is."""
        self._items[collection][key] = None

    def named(self, collection: str, name: str, field: str, noun: str) -> Any:
        """Return the object of a name that somebody wrote.

        Raises:
            InvalidRequest: there is none; the message has names that were perhaps meant.
        """
        found = self.get(collection, name)
        if found is None:
            known = (KEYS[collection](one) for one in self.all(collection))
            raise unknown(noun, name, known, field)
        return found

    def pod(self, uid: str) -> PodRow | None:
        """Return a pod, None if it is not there."""
        return self._rows[uid] if uid in self._rows else self.before(uid)

    def before(self, uid: str) -> PodRow | None:
        """Return a pod as it is in the base, None if it is not there."""
        return self._before.get(uid) or self.base.pods.find(uid)

    def pods_on(self, nodes: frozenset[str]) -> list[PodRow]:
        """Return the pods that are bound to these nodes, in order of uid."""
        return self._current(self.base.pods.bound_to(nodes), lambda row: row.node in nodes)

    def pods_of(self, namespace: str, prefix: str, owned: Callable[[Owner], bool]) -> list[PodRow]:
        """Return the pods of a namespace whose owner passes a test, in order of uid.

        Args:
            namespace: where.
            prefix: how the name of the owner begins; most pods are told apart by it.
            owned: the test.
        """
        found = (
            block.row(index)
            for block in self.base.pods.blocks
            if namespace in block.namespaces
            for index, owner in enumerate(block.owners)
            if owner is not None
            and owner.name.startswith(prefix)
            and block.namespaces[index] == namespace
            and owned(owner)
        )
        return self._current(
            found,
            lambda row: row.namespace == namespace and row.owner is not None and owned(row.owner),
        )

    def put_pod(self, row: PodRow) -> None:
        """Add or replace a pod."""
        self._touch(row.uid, row)

    def remove_pod(self, uid: str) -> None:
        """Take a pod away."""
        self._touch(uid, None)

    def count_added(self, noun: str, count: int, field: str) -> None:
        """Refuse more than any cluster has.

        Raises:
            InvalidRequest: so many are too many, together with what was added before.
        """
        self._added[noun] += count
        if self._added[noun] > MOST_ADDED:
            raise InvalidRequest(f"a scenario adds at most {MOST_ADDED} {noun}", field=field)

    def new_shape_id(self) -> int:
        """Return an id that no shape has."""
        self._shape += 1
        return self._shape

    def touched_pods(self) -> Iterator[tuple[str, PodRow | None]]:
        """Yield the pods that were put or removed: uid, and what is there now."""
        yield from watched(sorted(self._rows.items(), key=itemgetter(0)), self._cancelled)

    def touched(self, collection: str) -> Iterator[tuple[Any, Any]]:
        """Yield the same of a collection: key, and what is there now."""
        yield from sorted(self._items[collection].items(), key=itemgetter(0))

    def snapshot(self) -> ClusterSnapshot:
        """Return the snapshot after all changes.

        Raises:
            Unavailable: nobody waits any more, as for all that goes through pods here.
        """
        update = self._update()
        if update is None:
            return self.base
        before = watched(map(self.before, self._rows), self._cancelled)
        gone = [row for row in before if row is not None]
        come = watched((row for row in self._rows.values() if row is not None), self._cancelled)
        return replace(apply(update, self.base), pods=exchanged(self.base.pods, gone, come))

    def _update(self) -> SnapshotUpdate | None:
        """Return what, but for pods, makes the base the edited snapshot; None if nothing does."""
        if not self._rows and not any(self._items.values()):
            return None
        upserts = {
            name: tuple(item for item in touched.values() if item is not None)
            for name, touched in self._items.items()
        }
        removals = {
            name: tuple(key for key, item in touched.items() if item is None)
            for name, touched in self._items.items()
        }
        return SnapshotUpdate(
            id=self.base.id,
            base_revision=self.base.id.revision,
            observed_at=self.base.observed_at,
            upserts=upserts,
            removals=removals,
        )

    def _touch(self, uid: str, row: PodRow | None) -> None:
        self._rows[uid] = row
        if len(self._rows) % PODS_BETWEEN == 0:
            look(self._cancelled)

    def _current(self, there: Iterable[PodRow], wanted: Callable[[PodRow], bool]) -> list[PodRow]:
        """Return those of the base that were not touched, and those touched that are wanted."""
        there = list(there)
        self._before.update((row.uid, row) for row in there)
        found = [row for row in there if row.uid not in self._rows]
        found += [row for row in self._rows.values() if row is not None and wanted(row)]
        return sorted(found, key=lambda row: row.uid)


def unknown(noun: str, name: str, known: Iterable[str], field: str) -> InvalidRequest:
    """Return the error that says that a name is not there, and which is that was perhaps meant."""
    names = sorted(known)
    if guesses := nearest(name, names, _GUESSES):
        told = f"; perhaps {_listed(guesses)}"
    elif 0 < len(names) <= _SHOWN:
        told = f"; there is {_listed(names)}"
    else:
        told = ""
    return InvalidRequest(f'there is no {noun} "{name}"{told}', field=field)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
