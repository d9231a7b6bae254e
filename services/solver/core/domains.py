"""Topology domains as bit sets: which values of a label key a node has or could have.

Apart because claims, standing nodes and tallies speak of domains in the same numbers.
`kubernetes.io/hostname` has none: there every bin is a domain of its own.

Laws:
    - Bit 0 of every set stands for "the node does not have the key".
    - Numbers say nothing about order; whoever chooses among domains sorts them by value.
"""

from collections.abc import Iterable

import joiner_kernel
import numpy as np

from libs.domain import labels as label_keys
from libs.domain.requirements import Requirements
from services.solver.core.vectors import Bools

ABSENT = 1


class Domains:
    """Values by topology key, numbered as they are met; the kernel knows the same numbers."""

    __slots__ = ("_keys", "_numbers", "_values", "native")

    def __init__(self) -> None:
        self.native = joiner_kernel.Domains()
        self._keys: dict[str, int] = {}
        self._numbers: dict[str, dict[str, int]] = {}
        self._values: dict[str, list[str]] = {}

    def key(self, key: str) -> int:
        """Return the number of a key."""
        found = self._keys.get(key)
        if found is None:
            found = self._keys[key] = self.native.key(key)
        return found

    def bits(self, key: str, values: Iterable[str]) -> int:
        """Return the set of these values."""
        numbers = self._numbers.setdefault(key, {})
        known = self._values.setdefault(key, [""])
        found = 0
        for value in values:
            number = numbers.get(value)
            if number is None:
                number = numbers[value] = self.native.number(self.key(key), value)
                known.append(value)
            found |= 1 << number
        return found

    def number(self, key: str, value: str) -> int:
        """Return the number of a value, which is new if nobody has met it."""
        return members(self.bits(key, (value,)))[0]

    def count(self, key: str) -> int:
        """Return how many numbers are in use, that of absence included."""
        return len(self._values.get(key, ("",)))

    def values(self, key: str, bits: int) -> tuple[str, ...]:
        """Return the values of a set in order of value, absence apart."""
        known = self._values.get(key, [""])
        return tuple(sorted(known[number] for number in members(bits) if number))

    def value(self, key: str, number: int) -> str:
        """Return the value of one number."""
        return self._values[key][number]

    def mask(self, key: str, bits: int) -> Bools:
        """Return (count,): whether each number is in the set."""
        return np.array([bits >> number & 1 for number in range(self.count(key))], np.bool_)


def apart_from_hostname(asked: Requirements) -> Requirements | None:
    """Return what is asked of a new node besides its name; None if no new name can meet it."""
    own = asked.get(label_keys.HOSTNAME)
    if own is None:
        return asked
    if not own.complement or own.gte is not None or own.lte is not None:
        return None
    return asked.without(frozenset({label_keys.HOSTNAME}))


def members(bits: int) -> list[int]:
    """Return the numbers in a set, ascending."""
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def is_single(bits: int) -> bool:
    """Tell whether the set has exactly one member."""
    return bits != 0 and bits & (bits - 1) == 0
