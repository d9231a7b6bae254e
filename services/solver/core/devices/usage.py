"""What is taken of devices: whole ones, parts of shared ones, counters.

Apart because a search adds and takes back thousands of times on top of what is fixed, and because
what a planned claim takes depends on what it becomes.

Law: the counters of a device are taken once, however many share it; who takes the first part
counts them.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import TypeVar

from libs.domain.device import Device

DeviceId = tuple[str, str, str]
"""Driver, pool, device."""
CounterId = tuple[str, str, str, str]
"""Driver, pool, counter set, counter."""
_Counted = TypeVar("_Counted")


@dataclass(slots=True)
class Ledger:
    """What somebody holds."""

    whole: set[DeviceId] = field(default_factory=set)
    """Devices that nobody else may have."""
    parts: dict[DeviceId, dict[str, int]] = field(default_factory=dict)
    """Shared devices in use, with what is taken of each dimension."""
    counters: dict[CounterId, int] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Return whether nothing is held."""
        return not self.whole and not self.parts

    def has(self, device: DeviceId) -> bool:
        """Tell whether the device is in use in any way."""
        return device in self.whole or device in self.parts

    def is_whole(self, device: DeviceId) -> bool:
        """Tell whether all of the device is held."""
        return device in self.whole

    def is_shared(self, device: DeviceId) -> bool:
        """Tell whether a part of the device is held."""
        return device in self.parts

    def part(self, device: DeviceId, dimension: str) -> int:
        """Return how much of a dimension is held."""
        return self.parts[device].get(dimension, 0) if device in self.parts else 0

    def counter(self, counter: CounterId) -> int:
        """Return how much of a counter is held."""
        return self.counters.get(counter, 0)

    def take(self, device: DeviceId, part: Mapping[str, int] | None = None) -> None:
        """Take a device, or a part of a shared one."""
        if part is None:
            self.whole.add(device)
            return
        there = self.parts.setdefault(device, {})
        for name, amount in part.items():
            there[name] = there.get(name, 0) + amount

    def count(self, device: DeviceId, known: Device, sign: int = 1) -> None:
        """Add what a device takes of its pool's counters, or with -1 take it back."""
        for use in known.counters:
            for name, amount in use.amounts.items():
                key = (*device[:2], use.counter_set, name)
                self.counters[key] = self.counters.get(key, 0) + sign * amount


_NOTHING = Ledger()


class Total:
    """What many hold together, each of whom may come to hold less.

    Added up as it changes: who looks for devices would otherwise ask each holder of each device.
    """

    def __init__(self) -> None:
        self._held: dict[Hashable, Ledger] = {}
        self.whole: Counter[DeviceId] = Counter()
        self.sharers: Counter[DeviceId] = Counter()
        self.parts: Counter[tuple[DeviceId, str]] = Counter()
        self.counters: Counter[CounterId] = Counter()

    def put(self, holder: Hashable, held: Ledger) -> None:
        """Note what somebody holds now."""
        self._add(self._held.pop(holder, _NOTHING), -1)
        if not held.empty:
            self._held[holder] = held
            self._add(held, 1)

    def of_others(self, holder: Hashable) -> "OfOthers":
        """Return what all but one hold, whatever that will be."""
        return OfOthers(self, self._held.get(holder, _NOTHING))

    def _add(self, held: Ledger, sign: int) -> None:
        for device in held.whole:
            _add_to(self.whole, device, sign)
        for device, part in held.parts.items():
            _add_to(self.sharers, device, sign)
            for name, amount in part.items():
                _add_to(self.parts, (device, name), sign * amount)
        for counter, amount in held.counters.items():
            _add_to(self.counters, counter, sign * amount)


@dataclass(frozen=True, slots=True)
class OfOthers:
    """What many hold together, but for one of them."""

    total: Total
    own: Ledger
    """What that one holds."""

    @property
    def whole(self) -> Set[DeviceId]:
        """Return the devices that nobody else may have."""
        return (
            self.total.whole.keys() - self.own.whole if self.own.whole else self.total.whole.keys()
        )

    def is_whole(self, device: DeviceId) -> bool:
        """Tell whether somebody has all of the device."""
        return self.total.whole.get(device, 0) > (device in self.own.whole)

    def is_shared(self, device: DeviceId) -> bool:
        """Tell whether somebody has a part of the device."""
        return self.total.sharers.get(device, 0) > (device in self.own.parts)

    def part(self, device: DeviceId, dimension: str) -> int:
        """Return how much of a dimension is taken."""
        return self.total.parts.get((device, dimension), 0) - self.own.part(device, dimension)

    def counter(self, counter: CounterId) -> int:
        """Return how much of a counter is taken."""
        return self.total.counters.get(counter, 0) - self.own.counter(counter)


@dataclass(frozen=True, slots=True)
class View:
    """Several ledgers at once: what is taken, by whomever."""

    ledgers: tuple[Ledger | OfOthers, ...]

    @property
    def wholes(self) -> list[Set[DeviceId]]:
        """Return the devices that somebody has all of, in several sets."""
        return [whole for one in self.ledgers if (whole := one.whole)]

    def is_whole(self, device: DeviceId) -> bool:
        """Tell whether somebody has all of the device."""
        return any(one.is_whole(device) for one in self.ledgers)

    def is_shared(self, device: DeviceId) -> bool:
        """Tell whether somebody has a part of the device."""
        return any(one.is_shared(device) for one in self.ledgers)

    def part(self, device: DeviceId, dimension: str) -> int:
        """Return how much of a dimension is taken."""
        return sum(one.part(device, dimension) for one in self.ledgers)

    def counter(self, counter: CounterId) -> int:
        """Return how much of a counter is taken."""
        return sum(one.counter(counter) for one in self.ledgers)


def filled(ledger: Ledger) -> tuple[Ledger, ...]:
    """Return a ledger if anything is in it: each one in a view is asked about each device."""
    return () if ledger.empty else (ledger,)


def most(ledgers: Iterable[Ledger]) -> Ledger:
    """Return what is held at most by somebody of whom one of these will turn out to be true."""
    found = Ledger()
    for one in ledgers:
        found.whole |= one.whole
        for device, part in one.parts.items():
            there = found.parts.setdefault(device, {})
            for name, amount in part.items():
                there[name] = max(there.get(name, 0), amount)
        for counter, amount in one.counters.items():
            found.counters[counter] = max(found.counters.get(counter, 0), amount)
    return found


def _add_to(counted: Counter[_Counted], one: _Counted, amount: int) -> None:
    """Add to a count, of which nothing is kept that is zero."""
    counted[one] += amount
    if not counted[one]:
        del counted[one]
