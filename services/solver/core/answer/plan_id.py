"""The id of a decision: equal decisions have equal ids, and claims are named from it.

Laws:
    - A DNS label: lower-case letters and digits, beginning with a letter, 20 characters.
    - Derived from the snapshot's id and the whole plan, and from nothing else.
"""

import base64
from collections.abc import Collection, Iterable
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from itertools import chain
from operator import attrgetter
from typing import Any

from libs.domain.plan import Plan
from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from libs.domain.snapshot import SnapshotId

_BYTES = 12
_LONG = 256
_PLAIN = frozenset({str, int, bool, type(None)})


def plan_id(snapshot: SnapshotId, plan: Plan) -> str:
    """Return the id of the decision to carry out this plan for this snapshot."""
    text = _Reader().text((snapshot, plan))
    digest = blake2b(text.encode(), digest_size=_BYTES).digest()
    return "p" + base64.b32encode(digest).decode().lower()[:19]


class _Reader:
    """Writes nested values as texts that tell them apart.

    Objects that come many times are read once, and long lists that may do so are written as their
    digests. Things of one kind are written field by field, not one by one: a plan has thousands.
    """

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def text(self, value: object) -> str:
        """Return the text of a value."""
        found = self._known.get(id(value))
        if found is None:
            # The plan holds every one of its parts, so that identities stay true while it is read.
            found = self._known[id(value)] = self._read(value)
        return found

    def _read(self, value: object) -> str:
        if isinstance(value, Requirements):
            return _shortened("|".join(map(_requirement, value)))
        if isinstance(value, tuple):
            return _shortened(self._many(value))
        if is_dataclass(value):
            return self._records(type(value), (value,))
        return repr(value)

    def _many(self, values: Collection[object]) -> str:
        kinds = {*map(type, values)}
        if kinds <= _PLAIN:
            return repr(values)
        (kind, *others) = kinds
        if others:
            return self._each(values)
        if is_dataclass(kind):
            return self._records(kind, values)
        return self._tuples(values) if kind is tuple else self._each(values)

    def _each(self, values: Iterable[object]) -> str:
        return f"({','.join(map(self.text, values))})"

    def _tuples(self, values: Collection[Any]) -> str:
        """Return the text of tuples: lists of pods, say, of which none comes twice."""
        once = len({*map(id, values)}) == len(values)
        if once and {*map(type, chain.from_iterable(values))} <= _PLAIN:
            return f"({','.join(map(_shortened, map(repr, values)))})"
        return self._each(values)

    def _records(self, kind: type, values: Collection[object]) -> str:
        columns = (self._many([*map(attrgetter(one.name), values)]) for one in fields(kind))
        return f"{kind.__name__}({';'.join(columns)})"


def _requirement(one: Requirement) -> str:
    values = sorted(one.values)
    return repr((one.key, one.complement, values, one.absent, one.gte, one.lte, one.min_values))


def _shortened(text: str) -> str:
    if len(text) <= _LONG:
        return text
    return f"#{blake2b(text.encode(), digest_size=_BYTES).hexdigest()}"
