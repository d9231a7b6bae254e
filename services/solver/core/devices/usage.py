"""What is taken of devices: whole ones, parts of shared ones, counters.

Apart because a search adds and takes back thousands of times on top of what is fixed, and because
what a planned claim takes depends on what it becomes.

Law: the counters of a device are taken once, however many share it; who takes the first part
counts them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from libs.domain.device import Device

DeviceId = tuple[str, str, str]
"""Driver, pool, device."""
CounterId = tuple[str, str, str, str]
"""Driver, pool, counter set, counter."""


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


@dataclass(frozen=True, slots=True)
class View:
    """Several ledgers at once: what is taken, by whomever."""

    ledgers: tuple[Ledger, ...]

    def is_whole(self, device: DeviceId) -> bool:
        """Tell whether somebody has all of the device."""
        return any(device in one.whole for one in self.ledgers)

    def is_shared(self, device: DeviceId) -> bool:
        """Tell whether somebody has a part of the device."""
        return any(device in one.parts for one in self.ledgers)

    def part(self, device: DeviceId, dimension: str) -> int:
        """Return how much of a dimension is taken."""
        return sum(
            one.parts[device].get(dimension, 0) for one in self.ledgers if device in one.parts
        )

    def counter(self, counter: CounterId) -> int:
        """Return how much of a counter is taken."""
        return sum(one.counters.get(counter, 0) for one in self.ledgers)


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
