"""Kinds: shapes that differ in what they request alone, so that all rules are the same for them.

Apart because requests are what pods differ in most: ten thousand unlike pods may come to a hundred
kinds, and what other pods, nodes and pools mean for a pod is found out once for each.

Laws:
    - Told by identity: shapes that were decoded together share what is equal in them. Of shapes
      that share nothing each is a kind of its own, which takes longer and comes to the same.
"""

from collections.abc import Iterable
from dataclasses import fields
from operator import attrgetter

from libs.domain.pod import PodShape

_OWN = frozenset({"id", "requests", "request_fields"})
_rules = attrgetter(*(one.name for one in fields(PodShape) if one.name not in _OWN))


def kinds(shapes: Iterable[PodShape]) -> dict[int, PodShape]:
    """Return for each shape, by its id, the first one of its kind."""
    first: dict[tuple[int, ...], PodShape] = {}
    return {one.id: first.setdefault(tuple(map(id, _rules(one))), one) for one in shapes}
