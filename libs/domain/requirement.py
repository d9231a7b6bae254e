"""`Requirement`: which values of one label key are acceptable, and whether its absence is.

Apart from `requirements.py` because one key's algebra is a subject of its own.
A requirement is the set of situations it accepts: the key is absent, or present with some value. It
is kept in one canonical form, so two requirements that accept the same are equal and hash alike:
they can be interned. (`min_values` is part of what equals: it changes what may be launched, though
not what is accepted.)

Laws:
    - Intersection commutes, associates, is idempotent; it accepts exactly what both sides accept.
    - `has_intersection` agrees with `intersection` and allocates nothing.
    - The entries of a requirement intersect to the requirement again.

Source: `docs/sources.md` A1. Differences on purpose, each because kube-scheduler would refuse the
node that Karpenter then buys:
    - Absence is a part of the state, not guessed from the operator: `Exists` with `NotIn [a]` still
      wants the key, and `In [a]` with `In [b]` accepts nothing, rather than a node without the key.
    - Exclusions survive bounds in the entries (Karpenter writes the bounds and forgets the
      exclusions).
    - `any_value` is the smallest accepted value, not a random one, and honours exclusions.
Bounds compare label values, which cannot be negative: a lower bound below zero is zero.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count

from libs.domain.errors import InvalidRequest
from libs.domain.labels import canonical_key

MOST_MIN_VALUES = 50
_LARGEST = 2**63 - 1
_LONGEST_INTEGER = 64
_VALUES_SHOWN = 5


class Operator(StrEnum):
    """How a requirement's values are meant; `Gte` and `Lte` are Karpenter's own."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"
    GTE = "Gte"
    LTE = "Lte"


BOUND_OPERATORS = frozenset({Operator.GT, Operator.LT, Operator.GTE, Operator.LTE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One requirement as Kubernetes objects spell it; several entries may share a key."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()
    min_values: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Requirement:
    """The accepted values of one key.

    Build it with `of`; the constructor takes the state and makes it canonical.
    """

    key: str
    complement: bool
    """True: every value but `values`. False: just `values`."""
    values: frozenset[str]
    absent: bool
    """True if an object without the key is acceptable too."""
    gte: int | None = None
    """Inclusive lower bound; with any bound, values that are not integers are not accepted."""
    lte: int | None = None
    min_values: int | None = None
    """How many values of this key a launch must be able to choose from."""
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.complement:
            self._set(gte=None, lte=None, values=_within(self.values, self.gte, self.lte))
        elif self.gte is not None or self.lte is not None:
            self._make_bounds_canonical()
        state = (self.key, self.complement, self.absent, self.values, self.gte, self.lte)
        self._set(_hash=hash((state, self.min_values)))

    @classmethod
    def of(
        cls,
        key: str,
        operator: str,
        values: Iterable[str] = (),
        min_values: int | None = None,
        *,
        resolve_alias: bool = True,
    ) -> "Requirement":
        """Return the requirement that one entry of a Kubernetes object states.

        Args:
            key: label key; a deprecated one is replaced by its successor.
            operator: one of the eight operators.
            values: as the operator needs them; `NotIn` without any means `Exists`, as in Karpenter.
            min_values: 1 to 50.
            resolve_alias: False for labels of pods, where no key is deprecated.

        Raises:
            InvalidRequest: unknown operator, or values or min_values that do not go with it.
        """
        name = canonical_key(key) if resolve_alias else key
        listed = frozenset(values)
        try:
            known = Operator(operator)
        except ValueError:
            raise InvalidRequest(
                f"unknown operator {operator!r} for {key}", field="operator"
            ) from None
        if min_values is not None and not 1 <= min_values <= MOST_MIN_VALUES:
            raise InvalidRequest(
                f"{min_values} for {key} is not within 1 to {MOST_MIN_VALUES}", field="minValues"
            )
        _check_value_count(key, known, listed)
        gte, lte = _bounds(key, known, listed)
        return cls(
            key=name,
            complement=known not in (Operator.IN, Operator.DOES_NOT_EXIST),
            values=listed if known in (Operator.IN, Operator.NOT_IN) else frozenset(),
            absent=known is Operator.DOES_NOT_EXIST or (known is Operator.NOT_IN and bool(listed)),
            gte=gte,
            lte=lte,
            min_values=min_values,
        )

    @property
    def operator(self) -> Operator:
        """The nearest of `In`, `NotIn`, `Exists`, `DoesNotExist`, whatever the bounds.

        What accepts nothing at all reads as `In` without values.
        """
        if self.complement:
            return Operator.NOT_IN if self.values else Operator.EXISTS
        return Operator.DOES_NOT_EXIST if self.absent and not self.values else Operator.IN

    @property
    def satisfiable(self) -> bool:
        """False if neither absence nor any value is accepted."""
        return self.complement or self.absent or bool(self.values)

    def has(self, value: str) -> bool:
        """Tell whether the key may have this value."""
        return (value in self.values) != self.complement and _in_bounds(value, self.gte, self.lte)

    def intersection(self, other: "Requirement") -> "Requirement":
        """Return what both accept, with this key, the tighter bounds and the larger min_values."""
        if self is other:
            return self
        gte = _larger(self.gte, other.gte)
        lte = _smaller(self.lte, other.lte)
        if self.complement and other.complement:
            values = self.values | other.values
        elif self.complement:
            values = other.values - self.values
        elif other.complement:
            values = self.values - other.values
        else:
            values = self.values & other.values
        return Requirement(
            key=self.key,
            complement=self.complement and other.complement,
            values=values,
            absent=self.absent and other.absent,
            gte=gte,
            lte=lte,
            min_values=_larger(self.min_values, other.min_values),
        )

    def has_intersection(self, other: "Requirement") -> bool:
        """Tell whether anything, a value or absence, is accepted by both."""
        if self.absent and other.absent:
            return True
        if self.complement and other.complement:
            gte, lte = _larger(self.gte, other.gte), _smaller(self.lte, other.lte)
            return gte is None or lte is None or gte <= lte
        if self.complement or (not other.complement and len(other.values) < len(self.values)):
            return _shares_value(other, self)
        return _shares_value(self, other)

    def contains(self, other: "Requirement") -> bool:
        """Tell whether everything that `other` accepts is accepted here (min_values apart)."""
        if other.absent and not self.absent:
            return False
        if not other.complement:
            return all(self.has(value) for value in other.values)
        if not self.complement or any(other.has(value) for value in self.values):
            return False
        if self.gte is None and self.lte is None:
            return True
        if other.gte is None and other.lte is None:
            return False
        return (self.gte or 0) <= (other.gte or 0) and (
            self.lte is None or (other.lte is not None and other.lte <= self.lte)
        )

    def any_value(self) -> str | None:
        """Return the smallest value of a list, else the smallest number; `None` if none."""
        if not self.complement:
            return min(self.values, default=None)
        low = self.gte or 0
        # One number more than there are exclusions; if a narrow window is all excluded, "05" is
        # still not "5".
        high = low + len(self.values) if self.lte is None else min(self.lte, low + len(self.values))
        for width in count(1):
            for number in range(low, high + 1):
                if (value := str(number).zfill(width)) not in self.values:
                    return value
        return None

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries that state this in a Kubernetes object; never `Gt` or `Lt`."""
        return tuple(
            Entry(key=self.key, operator=operator, values=values, min_values=self.min_values)
            for operator, values in self._operators()
        )

    def _operators(self) -> list[tuple[Operator, tuple[str, ...]]]:
        if not self.satisfiable:
            return [(Operator.EXISTS, ()), (Operator.DOES_NOT_EXIST, ())]
        listed = tuple(sorted(self.values))
        if not self.complement:
            # A concrete requirement that also accepts absence has no values: no operator makes
            # another.
            return [(Operator.IN, listed)] if listed else [(Operator.DOES_NOT_EXIST, ())]
        found: list[tuple[Operator, tuple[str, ...]]] = []
        if self.gte is not None:
            found.append((Operator.GTE, (str(self.gte),)))
        if self.lte is not None:
            found.append((Operator.LTE, (str(self.lte),)))
        if not found and not self.absent:
            found.append((Operator.EXISTS, ()))
        if listed:
            found.append((Operator.NOT_IN, listed))
        return found

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Requirement):
            return NotImplemented
        return (
            self._hash == other._hash
            and self.key == other.key
            and self.complement == other.complement
            and self.absent == other.absent
            and self.values == other.values
            and self.gte == other.gte
            and self.lte == other.lte
            and self.min_values == other.min_values
        )

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return f"{self.key} {self.condition}"

    @property
    def condition(self) -> str:
        """What is accepted, in words for people, without the key; bounds are inclusive."""
        bounded = self.gte is not None or self.lte is not None
        parts = [] if bounded and self.operator is Operator.EXISTS else [str(self.operator)]
        if self.operator in (Operator.IN, Operator.NOT_IN):
            parts.append(f"[{_shown(self.values)}]")
        if self.gte is not None:
            parts.append(f">={self.gte}")
        if self.lte is not None:
            parts.append(f"<={self.lte}")
        if self.min_values is not None:
            parts.append(f"minValues {self.min_values}")
        return " ".join(parts)

    def _make_bounds_canonical(self) -> None:
        gte, lte = self.gte, self.lte
        if (lte is not None and lte < max(gte or 0, 0)) or (gte is not None and gte > _LARGEST):
            self._set(complement=False, values=frozenset(), absent=False, gte=None, lte=None)
            return
        lower = max(gte or 0, 0)
        upper = None if lte is None or lte >= _LARGEST else lte
        # A lower bound of zero says no more than "an integer", which the upper bound says already.
        self._set(
            gte=lower if lower or upper is None else None,
            lte=upper,
            absent=False,
            values=_within(self.values, gte, lte),
        )

    def _set(self, **state: object) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)


def _shares_value(concrete: Requirement, other: Requirement) -> bool:
    for value in concrete.values:
        if (value in other.values) != other.complement and _in_bounds(value, other.gte, other.lte):
            return True
    return False


def _check_value_count(key: str, operator: Operator, values: frozenset[str]) -> None:
    if operator is Operator.IN and not values:
        raise InvalidRequest(f"In for {key} needs at least one value", field="values")
    if operator in (Operator.EXISTS, Operator.DOES_NOT_EXIST) and values:
        raise InvalidRequest(f"{operator} for {key} takes no values", field="values")


def _bounds(key: str, operator: Operator, values: frozenset[str]) -> tuple[int | None, int | None]:
    if operator not in BOUND_OPERATORS:
        return None, None
    bound = parse_bound(next(iter(values))) if len(values) == 1 else None
    if bound is None:
        raise InvalidRequest(f"{operator} for {key} needs exactly one integer", field="values")
    match operator:
        case Operator.GT:
            return bound + 1, None
        case Operator.GTE:
            return bound, None
        case Operator.LT:
            return None, bound - 1
        case _:
            return None, bound


def parse_bound(text: str) -> int | None:
    """Return the 64-bit integer that a bound operator's value states, or `None`."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    if len(text) > _LONGEST_INTEGER or not (digits.isascii() and digits.isdigit()):
        return None
    number = int(text)
    return number if -_LARGEST - 1 <= number <= _LARGEST else None


def _in_bounds(value: str, gte: int | None, lte: int | None) -> bool:
    if gte is None and lte is None:
        return True
    number = parse_bound(value)
    if number is None or number < 0:
        return False
    return (gte is None or number >= gte) and (lte is None or number <= lte)


def _within(values: frozenset[str], gte: int | None, lte: int | None) -> frozenset[str]:
    if gte is None and lte is None:
        return values
    return frozenset(value for value in values if _in_bounds(value, gte, lte))


def _larger(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return max(left, right)


def _smaller(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)


def _shown(values: frozenset[str]) -> str:
    listed = sorted(values)
    more = len(listed) - _VALUES_SHOWN
    return " ".join(listed[:_VALUES_SHOWN]) + (f" and {more} others" if more > 0 else "")
