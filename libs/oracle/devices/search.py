"""The search for devices: every request of every claim, one device after the other.

Devices are tried in the order of their pools, slices and places therein; the first way that serves
all claims is taken.

Source: kube-scheduler's structured allocator, whose order decides which devices are taken; the API
documentation of `DeviceRequest`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from libs.domain.errors import InvalidRequest
from libs.oracle.cluster import Node
from libs.oracle.devices.amounts import consumed_by, fits
from libs.oracle.devices.attributes import attribute_of, is_selected
from libs.oracle.devices.claims import (
    MOST_DEVICES,
    Ask,
    Held,
    constraints_of,
    requests_of,
    selectors_of,
)
from libs.oracle.devices.inventory import Amounts, Counter, Device, DeviceId, Pool, reaches
from libs.oracle.objects import KubeObject, key_of, spec_of

_HARD_EFFECTS = ("NoSchedule", "NoExecute")
_NOTHING: Amounts = {}

_MOST_TRIALS = 100_000
"""Devices tried before a search is given up, as kube-scheduler gives it up after ten seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A device that a request gets."""

    ask: Ask
    device: Device
    consumed: Mapping[str, Fraction]
    """What it takes of a shared device's capacities; empty for a device of its own."""
    counters: Amounts
    """What it takes of the pool's counters; nothing if an earlier share has taken that."""


@dataclass(slots=True, kw_only=True)
class Search:
    """The search on one node."""

    node: Node
    claims: Sequence[KubeObject]
    """Those that are to be allocated."""
    classes: Mapping[str, KubeObject]
    pools: Sequence[Pool]
    """As this node sees them, in order."""
    held: Held
    chosen: list[Chosen] = field(default_factory=list)
    _memory: dict[tuple[str, str, DeviceId], Mapping[str, Fraction] | None] = field(
        default_factory=dict
    )
    """What a claim's request would take of a device, None if that can never serve it."""
    _trials: int = 0

    def run(self) -> bool:
        """Find devices for all claims; `chosen` has them then.

        Raises:
            InvalidRequest: the search cannot be made: a selector fails, all devices of a pool are
                asked for that is incomplete or invalid, a claim asks for too many, or there is no
                end to it.
        """
        for claim in self.claims:
            least = sum(min(map(self._count, asks)) for asks in requests_of(claim))
            if least > MOST_DEVICES:
                raise InvalidRequest(
                    f"claim {key_of(claim)}: number of requested devices {least} exceeds the claim "
                    f"limit of {MOST_DEVICES}"
                )
        return self._serve([asks for claim in self.claims for asks in requests_of(claim)])

    def _serve(self, requests: Sequence[tuple[Ask, ...]]) -> bool:
        """Serve the requests, each by its first alternative that lets all others be served."""
        if not requests:
            return True
        rest = requests[1:]
        for ask in requests[0]:
            given = sum(one.ask.claim == ask.claim for one in self.chosen)
            if given + self._count(ask) > MOST_DEVICES:
                continue
            if self._take_all(ask, rest) if ask.all else self._take(ask, ask.count, 0, rest):
                return True
        return False

    def _take(self, ask: Ask, missing: int, start: int, rest: Sequence[tuple[Ask, ...]]) -> bool:
        """Take as many devices as are missing, from a position in the order on."""
        if not missing:
            return self._serve(rest)
        devices = self._usable()
        for position in range(start, len(devices)):
            pool, device = devices[position]
            chosen = self._choose(ask, pool, device)
            if chosen is None or not self._agrees(chosen):
                continue
            self.chosen.append(chosen)
            if self._take(ask, missing - 1, position + 1, rest):
                return True
            self.chosen.pop()
        return False

    def _take_all(self, ask: Ask, rest: Sequence[tuple[Ask, ...]]) -> bool:
        """Take every device that matches, at least one, or none."""
        before = len(self.chosen)
        for pool, device in self._all(ask):
            chosen = self._choose(ask, pool, device)
            if chosen is None:
                break
            if not self._agrees(chosen):
                raise InvalidRequest(
                    f"claim {ask.claim}, request {ask.name}: cannot add device "
                    f"{'/'.join(device.id)} because a claim constraint would not be satisfied"
                )
            self.chosen.append(chosen)
        else:
            if len(self.chosen) > before and self._serve(rest):
                return True
        del self.chosen[before:]
        return False

    def _count(self, ask: Ask) -> int:
        return len(self._all(ask)) if ask.all else ask.count

    def _all(self, ask: Ask) -> list[tuple[Pool, Device]]:
        for pool in self.pools:
            if pool.problem:
                raise InvalidRequest(
                    f"claim {ask.claim}, request {ask.name}: asks for all devices, but resource "
                    f"pool {'/'.join(pool.name)} {pool.problem}"
                )
        return [
            (pool, device)
            for pool, device in self._usable()
            if (taken := self._wanted(ask, device)) is not None
            and fits(device, taken, self.held.shares.get(device.id, {}))
        ]

    def _usable(self) -> list[tuple[Pool, Device]]:
        return [
            (pool, device) for pool in self.pools if not pool.problem for device in pool.devices
        ]

    def _is_in_use(self, ask: Ask, device: Device) -> bool:
        takers = [one.ask.claim for one in self.chosen if one.device is device]
        if ask.admin:
            return not device.shared and ask.claim in takers
        return device.id in self.held.devices or bool(takers and not device.shared)

    def _wanted(self, ask: Ask, device: Device) -> Mapping[str, Fraction] | None:
        """Return what the request takes of the device's capacities, None if it cannot use it."""
        key = (ask.claim, ask.name, device.id)
        if key not in self._memory:
            matches = self._matches(ask, device)
            self._memory[key] = consumed_by(device, ask.capacity) if matches else None
        return self._memory[key]

    def _matches(self, ask: Ask, device: Device) -> bool:
        """Tell whether class and request select the device, and it can be used on the node."""
        device_class = self.classes.get(ask.device_class)
        if device_class is None:
            raise InvalidRequest(
                f"claim {ask.claim}, request {ask.name}: could not retrieve device class "
                f"{ask.device_class}"
            )
        return (
            is_selected(device, selectors_of(spec_of(device_class)))
            and is_selected(device, ask.selectors)
            and reaches(device.place, self.node)
        )

    def _choose(self, ask: Ask, pool: Pool, device: Device) -> Chosen | None:
        """Return what the request gets of the device, None if it is not to be had."""
        self._trials += 1
        if self._trials > _MOST_TRIALS:
            raise InvalidRequest("timed out trying to allocate devices")
        if self._is_in_use(ask, device):
            return None
        taken = self._wanted(ask, device)
        if taken is None or not fits(device, taken, self._used(device)):
            return None
        if any(_keeps_out(taint, ask) for taint in device.obj.get("taints") or ()):
            return None
        shares = device.shared and (
            bool(self.held.shares.get(device.id)) or any(o.device is device for o in self.chosen)
        )
        counters = _NOTHING if shares else device.counters
        if counters and not self._counters_suffice(pool, counters):
            return None
        return Chosen(
            ask=ask,
            device=device,
            consumed=taken if device.shared else {},
            counters=counters,
        )

    def _used(self, device: Device) -> dict[str, Fraction]:
        used = dict(self.held.shares.get(device.id, {}))
        for one in self.chosen:
            if one.device is device:
                for name, amount in one.consumed.items():
                    used[name] = used.get(name, Fraction(0)) + amount
        return used

    def _counters_suffice(self, pool: Pool, wanted: Amounts) -> bool:
        left = dict(pool.counters)
        allocated = self.held.devices | self.held.shares.keys()
        for device in (*pool.devices, *pool.elsewhere):
            if device.id in allocated:
                _subtract(left, device.counters)
        for one in self.chosen:
            if one.device.id[:2] == pool.name:
                _subtract(left, one.counters)
        _subtract(left, wanted)
        return all(amount >= 0 for amount in left.values())

    def _agrees(self, chosen: Chosen) -> bool:
        """Tell whether the claim's constraints hold with one more device."""
        claim = next(one for one in self.claims if key_of(one) == chosen.ask.claim)
        mine = [*(one for one in self.chosen if one.ask.claim == chosen.ask.claim), chosen]
        return all(_holds(constraint, mine) for constraint in constraints_of(claim))


def _holds(constraint: KubeObject, chosen: Iterable[Chosen]) -> bool:
    names = constraint.get("requests") or ()
    name = constraint.get("matchAttribute") or constraint.get("distinctAttribute") or ""
    values = [
        attribute_of(one.device, name)
        for one in chosen
        if not names or one.ask.request in names or one.ask.name in names
    ]
    if None in values:
        return False
    different = len(set(values))
    return different <= 1 if constraint.get("matchAttribute") else different == len(values)


def _keeps_out(taint: KubeObject, ask: Ask) -> bool:
    return taint.get("effect") in _HARD_EFFECTS and not any(
        _tolerates(toleration, taint) for toleration in ask.tolerations
    )


def _tolerates(toleration: KubeObject, taint: KubeObject) -> bool:
    effect, key = toleration.get("effect"), toleration.get("key")
    if (effect and effect != taint.get("effect")) or (key and key != taint.get("key")):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool((toleration.get("value") or "") == (taint.get("value") or ""))


def _subtract(left: dict[Counter, Fraction], amounts: Amounts) -> None:
    for counter, amount in amounts.items():
        left[counter] -= amount
