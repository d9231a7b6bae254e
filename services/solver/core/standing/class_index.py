"""Which classes of standing bins suit a pod, by taints and by labels, found without asking each.

Apart because it is a matter of size alone: where every node has a taint or a label of its own,
there are as many classes as nodes, and asking each class for each pod would take their product in
steps of Python. Here a pod costs what it names, and one look at a column per key that it names.

Law: the answers are those of `bears` and `StandingClass.allows` for each class.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from libs.domain.pod import PodShape
from libs.domain.requirement import Requirement, parse_bound
from libs.domain.requirements import Requirements
from libs.domain.taint import Effect, Taint
from services.solver.core.pods.bearing import bears, not_borne
from services.solver.core.standing.standing import UNSCHEDULABLE, StandingClass
from services.solver.core.vectors import Bools, Ints

_NO_NUMBER = -1
"""Stands for what bounds never accept: absence, and values that are no numbers from zero on."""


class ClassIndex:
    """The classes of standing bins, by taint and by label; the answers are (n_classes,)."""

    def __init__(self, classes: Sequence[StandingClass]) -> None:
        self._classes = classes
        self._open = [index for index, one in enumerate(classes) if one.possible is not None]
        """Claims that are not launched: what they become is asked one by one."""
        self._columns: dict[str, _Column] = {}
        self._taints: _Taints | None = None
        self.every = np.ones(len(classes), np.bool_)
        self.every.flags.writeable = False

    def tolerated(
        self, shape: PodShape, effects: frozenset[Effect], *, cordons: bool = True
    ) -> Bools:
        """Tell of which classes a pod bears the taints; a cordon is one unless told otherwise."""
        if self._taints is None:
            self._taints = _Taints(self._classes)
        return self._taints.tolerated(shape, effects, cordons=cordons)

    def allowing(self, requirements: Requirements) -> Bools:
        """Tell which classes meet requirements, whatever their claims become."""
        if not requirements:
            return self.every
        found = self.every.copy()
        for one in requirements:
            found &= self._column(one.key).meets(one)
        for index in self._open:
            found[index] = self._classes[index].allows(requirements)
        return found

    def _column(self, key: str) -> "_Column":
        found = self._columns.get(key)
        if found is None:
            found = self._columns[key] = _Column([one.labels.get(key) for one in self._classes])
        return found


class _Column:
    """The values of one label key."""

    def __init__(self, values: Sequence[str | None]) -> None:
        self._ids: dict[str | None, int] = {None: 0}
        self._of = np.array([self._ids.setdefault(one, len(self._ids)) for one in values], np.int64)
        self._numbers: Ints | None = None

    def meets(self, asked: Requirement) -> Bools:
        """Tell whose value meets a requirement, (n,)."""
        accepted = np.full(len(self._ids), asked.complement)
        for value in asked.values:
            known = self._ids.get(value)
            if known is not None:
                accepted[known] = not asked.complement
        if asked.gte is not None or asked.lte is not None:
            accepted &= self._within(asked.gte, asked.lte)
        accepted[0] = asked.absent
        return accepted[self._of]

    def _within(self, gte: int | None, lte: int | None) -> Bools:
        if self._numbers is None:
            self._numbers = np.array([_number(value) for value in self._ids], np.int64)
        found: Bools = self._numbers >= (gte or 0)
        return found if lte is None else found & (self._numbers <= lte)


def _number(value: str | None) -> int:
    number = parse_bound(value) if value is not None else None
    return _NO_NUMBER if number is None or number < 0 else number


class _Taints:
    """The taints of classes: which there are, and who has each."""

    def __init__(self, classes: Sequence[StandingClass]) -> None:
        owners: dict[Taint, list[int]] = defaultdict(list)
        for index, one in enumerate(classes):
            for taint in dict.fromkeys(one.taints):
                owners[taint].append(index)
        self._owners = {taint: np.array(found, np.int64) for taint, found in owners.items()}
        self._by_key: dict[str, list[Taint]] = defaultdict(list)
        for taint in self._owners:
            self._by_key[taint.key].append(taint)
        self._cordoned = np.array([one.cordoned for one in classes], np.bool_)
        self._counts: dict[frozenset[Effect], Ints] = {}

    def tolerated(self, shape: PodShape, effects: frozenset[Effect], *, cordons: bool) -> Bools:
        count = self._count(effects)
        if shape.tolerations and self._owners:
            count = count.copy()
            for taint in self._borne(shape, effects):
                count[self._owners[taint]] -= 1
        found: Bools = count == 0
        if cordons and not bears(shape, (UNSCHEDULABLE,), effects):
            found &= ~self._cordoned
        return found

    def _borne(self, shape: PodShape, effects: frozenset[Effect]) -> list[Taint]:
        """Return the taints with one of the effects that a pod bears."""
        keys = dict.fromkeys(one.key for one in shape.tolerations)
        named: list[Taint] = []
        for key in self._by_key if "" in keys else keys:
            named.extend(self._by_key.get(key, ()))
        counted = tuple(taint for taint in named if taint.effect in effects)
        away = set(not_borne(shape, counted, effects))
        return [taint for taint in counted if taint not in away]

    def _count(self, effects: frozenset[Effect]) -> Ints:
        """Return (n_classes,): how many taints with one of the effects each has."""
        found = self._counts.get(effects)
        if found is None:
            found = np.zeros(len(self._cordoned), np.int64)
            for taint, owners in self._owners.items():
                if taint.effect in effects:
                    found[owners] += 1
            self._counts[effects] = found
        return found
