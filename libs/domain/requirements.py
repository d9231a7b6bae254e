"""`Requirements`: requirements by label key, all of which must hold.

Apart because it is the question asked a million times per solve: can this pod run on that node,
claim or type? Equal sets are equal and hash alike (the hash is computed once: it is the interning
key).

Laws:
    - `a.intersection(b).allows(labels)` exactly if both allow the labels.
    - `a.contains(b)` implies that whatever `b` allows, `a` allows.

Source: `docs/sources.md` A2. Karpenter forgives an empty intersection where both operators are
`NotIn` or `DoesNotExist`; here that is no exception, since both accept the absence of the key.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from libs.domain import labels as label_keys
from libs.domain.errors import InvalidRequest
from libs.domain.requirement import Entry, Operator, Requirement


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Why an incoming requirement cannot be met: the key is not defined, or shares no value."""

    incoming: Requirement
    existing: Requirement | None
    """What is there for the key; `None` if nothing is known of it."""
    hint: str | None = None
    """A key that was probably meant."""

    def __str__(self) -> str:
        if self.existing is not None:
            return f"{self.incoming} is asked for, {self.existing.condition} is there"
        meant = f' (typo of "{self.hint}"?)' if self.hint else ""
        return f'label "{self.incoming.key}" does not have known values{meant}'


class Requirements:
    """An immutable set of requirements, one per key; several given for a key are intersected."""

    __slots__ = ("_by_key", "_hash")

    def __init__(self, requirements: Iterable[Requirement] = ()) -> None:
        by_key: dict[str, Requirement] = {}
        for one in requirements:
            known = by_key.get(one.key)
            by_key[one.key] = one if known is None else known.intersection(one)
        self._by_key = dict(sorted(by_key.items()))
        self._hash = hash(tuple(self._by_key.values()))

    @classmethod
    def of(cls, entries: Iterable[Entry], *, resolve_aliases: bool = True) -> "Requirements":
        """Return the set that a list of entries states.

        Raises:
            InvalidRequest: an entry is not legal; the field path begins with its index.
        """
        parsed: list[Requirement] = []
        for index, entry in enumerate(entries):
            try:
                one = Requirement.of(
                    entry.key,
                    entry.operator,
                    entry.values,
                    entry.min_values,
                    resolve_alias=resolve_aliases,
                )
            except InvalidRequest as error:
                raise error.under(f"[{index}]") from None
            parsed.append(one)
        return cls(parsed)

    @classmethod
    def from_labels(cls, labels: Mapping[str, str]) -> "Requirements":
        """Return the set that demands these labels (a node selector, or a node's own labels)."""
        return cls(Requirement.of(key, Operator.IN, (value,)) for key, value in labels.items())

    @property
    def satisfiable(self) -> bool:
        """False if some key accepts nothing at all."""
        return all(one.satisfiable for one in self._by_key.values())

    def get(self, key: str) -> Requirement | None:
        """Return the requirement of a key; `None` means that anything goes, absence too."""
        return self._by_key.get(key)

    def keys(self) -> Iterable[str]:
        """Return the keys in order."""
        return self._by_key.keys()

    def intersection(self, other: "Requirements") -> "Requirements":
        """Return the set that demands both."""
        if not other._by_key or self is other:
            return self
        if not self._by_key:
            return other
        return Requirements((*self._by_key.values(), *other._by_key.values()))

    def without(self, keys: Iterable[str]) -> "Requirements":
        """Return the set without these keys."""
        dropped = frozenset(keys)
        return Requirements(one for one in self if one.key not in dropped)

    def has_intersection(self, other: "Requirements") -> bool:
        """Tell whether every key that both sides mention has something in common."""
        if len(other._by_key) < len(self._by_key):
            return other.has_intersection(self)
        theirs = other._by_key
        for key, mine in self._by_key.items():
            their = theirs.get(key)
            if their is not None and not mine.has_intersection(their):
                return False
        return True

    def is_compatible(
        self, incoming: "Requirements", *, allow_undefined: frozenset[str] = frozenset()
    ) -> bool:
        """Tell whether what `self` describes (a pool, claim, type, node) can meet what comes in.

        Args:
            incoming: what a pod asks for.
            allow_undefined: keys that need not be mentioned here: none for an existing node, the
                well-known ones for a node that is yet to be made.
        """
        mine = self._by_key
        for key, asked in incoming._by_key.items():
            known = mine.get(key)
            if known is None:
                if not asked.absent and key not in allow_undefined:
                    return False
            elif not known.has_intersection(asked):
                return False
        return True

    def conflicts(
        self, incoming: "Requirements", *, allow_undefined: frozenset[str] = frozenset()
    ) -> tuple[Conflict, ...]:
        """Return why `is_compatible` says no, in order of the key; empty if it says yes."""
        found: list[Conflict] = []
        for asked in incoming:
            known = self._by_key.get(asked.key)
            if known is None:
                if not asked.absent and asked.key not in allow_undefined:
                    meant = label_keys.hint(asked.key, allow_undefined, self._by_key)
                    found.append(Conflict(incoming=asked, existing=None, hint=meant))
            elif not known.has_intersection(asked):
                found.append(Conflict(incoming=asked, existing=known))
        return tuple(found)

    def contains(self, other: "Requirements") -> bool:
        """Tell whether all labels that `other` allows are allowed here too (min_values apart)."""
        if not other.satisfiable:
            return True
        theirs = other._by_key
        return all(
            key in theirs and mine.contains(theirs[key]) for key, mine in self._by_key.items()
        )

    def allows(self, labels: Mapping[str, str]) -> bool:
        """Tell whether an object with exactly these labels (aliases resolved) meets everything."""
        for key, one in self._by_key.items():
            value = labels.get(key)
            if not (one.absent if value is None else one.has(value)):
                return False
        return True

    def single_values(self) -> dict[str, str]:
        """Return the labels that leave no choice: what a node made for this carries."""
        return {
            one.key: next(iter(one.values))
            for one in self
            if one.operator is Operator.IN and len(one.values) == 1
        }

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries of a Kubernetes object, in order of the key."""
        return tuple(entry for one in self for entry in one.entries())

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self._by_key.values())

    def __len__(self) -> int:
        return len(self._by_key)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Requirements):
            return NotImplemented
        return self._hash == other._hash and self._by_key == other._by_key

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        shown = (str(one) for one in self if one.key not in label_keys.RESTRICTED_LABELS)
        return ", ".join(sorted(shown))

    def __repr__(self) -> str:
        return f"Requirements({self})"


ANYTHING = Requirements()
