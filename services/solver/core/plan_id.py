"""The id of a decision: equal decisions have equal ids, and claims are named from it.

Laws:
    - A DNS label: lower-case letters and digits, beginning with a letter, 20 characters.
    - Derived from the snapshot's id and the whole plan, and from nothing else.
"""

import base64
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from hashlib import blake2b

from libs.domain.plan import Plan
from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.snapshot import SnapshotId

_BYTES = 12
_SHORT = frozenset({str, int, bool, type(None)})


def plan_id(snapshot: SnapshotId, plan: Plan) -> str:
    """Return the id of the decision to carry out this plan for this snapshot."""
    digest = _Digest()
    return "p" + base64.b32encode(digest.of((snapshot, plan))).decode().lower()[:19]


class _Digest:
    """A digest of nested values; objects that come many times are read once."""

    def __init__(self) -> None:
        self._known: dict[int, bytes] = {}
        self._names: dict[type, list[str]] = {}

    def of(self, value: object) -> bytes:
        """Return the digest of a value."""
        found = self._known.get(id(value))
        if found is None:
            # The plan holds every one of its parts, so that identities stay true while it is read.
            found = self._known[id(value)] = self._read(value)
        return found

    def _read(self, value: object) -> bytes:
        if isinstance(value, Requirements):
            return _hash("|".join(map(_requirement, value)))
        if isinstance(value, tuple):
            return _hash(self._text(value))
        if is_dataclass(value) and not isinstance(value, Resources):
            names = self._names.get(type(value))
            if names is None:
                names = self._names[type(value)] = [field.name for field in fields(value)]
            content = self._text(getattr(value, name) for name in names)
            return _hash(type(value).__name__ + content)
        return _hash(repr(value))

    def _text(self, values: Iterable[object]) -> str:
        """Return a text that tells the values apart: what is short as it is, else its digest."""
        return repr([one if type(one) in _SHORT else self.of(one) for one in values])


def _requirement(one: Requirement) -> str:
    values = sorted(one.values)
    return repr((one.key, one.complement, values, one.absent, one.gte, one.lte, one.min_values))


def _hash(content: str) -> bytes:
    return blake2b(content.encode(), digest_size=_BYTES).digest()
