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
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.snapshot import SnapshotId

_BYTES = 12


def plan_id(snapshot: SnapshotId, plan: Plan) -> str:
    """Return the id of the decision to carry out this plan for this snapshot."""
    digest = blake2b(digest_size=_BYTES)
    for part in _parts((snapshot, plan)):
        text = part.encode()
        digest.update(len(text).to_bytes(8, "big"))
        digest.update(text)
    return "p" + base64.b32encode(digest.digest()).decode().rstrip("=").lower()[:19]


def _parts(value: object) -> Iterable[str]:
    if isinstance(value, Resources):
        yield repr(value)
    elif isinstance(value, Requirements):
        yield from _parts(value.entries())
    elif isinstance(value, tuple):
        yield f"({len(value)}"
        for item in value:
            yield from _parts(item)
    elif is_dataclass(value):
        yield type(value).__name__
        for field in fields(value):
            yield from _parts(getattr(value, field.name))
    else:
        yield repr(value)
