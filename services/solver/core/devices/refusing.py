"""Why claims get no devices at a place, in words and numbers.

Apart from the search because it is asked only of those who are left over, and looks at each request
alone: how many devices there are, how many are meant, how many of those are free.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from libs.domain import quantity_text
from libs.domain.device import MOST_DEVICES_OF_CLAIM, DeviceClaim, DeviceRequest, DeviceSubRequest
from libs.domain.taint import HARD_EFFECTS, untolerated
from services.solver.core.devices import capacity
from services.solver.core.devices.constraints import Constraint
from services.solver.core.devices.offer import Candidate
from services.solver.core.devices.search import Found, search
from services.solver.core.devices.selecting import Selectors, shown
from services.solver.core.devices.sharing import described
from services.solver.core.devices.ways import Seen

_MOST_STEPS = 5_000
"""Devices that are tried for one sentence; who waits for words waits for few."""


@dataclass(slots=True)
class _Count:
    """How many devices of a place come how far."""

    seen: int = 0
    meant: int = 0
    selector: str = ""
    """The first that refused one."""
    free: int = 0
    tainted: list[str] = field(default_factory=list)
    """In words what keeps each off that is free but for a taint."""
    short: list[str] = field(default_factory=list)
    """In words what each lacks that is shared and has too little left."""

    countless: list[str] = field(default_factory=list)
    """In words what each lacks whose counters others have used up."""

    @property
    def in_use(self) -> int:
        """How many are meant and are none of the others."""
        told = len(self.tainted) + len(self.short) + len(self.countless)
        return self.meant - self.free - told


def why_not(
    claims: Sequence[DeviceClaim], seen: Seen, selectors: Selectors, problem: str = ""
) -> str:
    """Return why a search found nothing.

    Args:
        claims: what was looked for.
        seen: where.
        selectors: judge of devices.
        problem: what the search itself said.
    """
    if problem:
        return problem
    for claim in claims:
        for request in claim.requests:
            alone = DeviceClaim(requests=(request,))
            if not _is_found(alone, seen, selectors):
                return _request(claim, request, seen, selectors)
        if _only_constraints_refuse(claim, seen, selectors):
            named = " and ".join(str(Constraint(one)) for one in claim.constraints)
            return f"{described(claim)}: no free devices satisfy {named}"
    return "there are devices for each of its requests, but not for all of them together"


def _only_constraints_refuse(claim: DeviceClaim, seen: Seen, selectors: Selectors) -> bool:
    loose = DeviceClaim(requests=claim.requests)
    return _is_found(loose, seen, selectors) and not _is_found(claim, seen, selectors)


def _is_found(claim: DeviceClaim, seen: Seen, selectors: Selectors) -> bool:
    return isinstance(search((claim,), seen, selectors, _MOST_STEPS), Found)


def _request(claim: DeviceClaim, request: DeviceRequest, seen: Seen, selectors: Selectors) -> str:
    ways = [_way(sub, seen, selectors) for sub in request.alternatives]
    return f"{described(claim)}, request {request.name!r}: " + "; ".join(ways)


def _way(sub: DeviceSubRequest, seen: Seen, selectors: Selectors) -> str:
    name = f"way {sub.name!r}: " if sub.name else ""
    if problem := selectors.not_compiled(sub):
        return f"{name}{problem}"
    if sub.all and seen.offer.unusable:
        return f"{name}all devices are asked for, and {seen.offer.unusable[0]}"
    found = _count(sub, seen, selectors)
    wanted = found.meant if sub.all else sub.count
    if wanted > MOST_DEVICES_OF_CLAIM:
        return f"{name}{wanted} devices are asked for, a claim gets at most {MOST_DEVICES_OF_CLAIM}"
    if found.meant < max(wanted, 1):
        refusing = f"; selector {shown(found.selector)} refuses others" if found.selector else ""
        pools = f"; {'; '.join(seen.offer.unusable)}" if seen.offer.unusable else ""
        asked = "all" if sub.all else str(wanted)
        match = "device matches" if found.seen == 1 else "devices match"
        there = f"{found.meant} of {found.seen} {match}" if found.seen else "no device is there"
        return f"{name}{asked} of class {sub.device_class!r} asked, {there}{refusing}{pools}"
    return f"{name}{wanted} of class {sub.device_class!r} asked, {_left(found, wanted)}"


def _left(found: _Count, wanted: int) -> str:
    """Return how many of the devices that are meant can be had, and what is with the others."""
    meant = "matching devices" if found.seen > found.meant else "devices"
    of_all = f"{found.free} of {found.meant} {meant}"
    if found.free >= wanted:
        return f"{of_all} are free, but not {wanted} of them together"
    if found.in_use == found.meant - found.free:
        return f"{of_all} are free"
    return f"{of_all} can be had: {', '.join(_others(found))}"


def _others(found: _Count) -> Iterator[str]:
    if found.tainted:
        yield f"{len(found.tainted)} tainted ({found.tainted[0]})"
    if found.short:
        yield f"{len(found.short)} with too little left ({found.short[0]})"
    if found.countless:
        yield f"{len(found.countless)} with counters used up ({found.countless[0]})"
    if found.in_use:
        yield f"{found.in_use} in use"


def _count(sub: DeviceSubRequest, seen: Seen, selectors: Selectors) -> _Count:
    found = _Count()
    single = DeviceRequest(name="one", alternatives=(replace(sub, all=False, count=1),))
    for candidate in seen.offer.candidates:
        found.seen += 1
        driver, device = candidate.pool.driver, candidate.device
        if selectors.match(sub, driver, device) is not True:
            found.selector = found.selector or selectors.refusing(sub, driver, device)
            continue
        found.meant += 1
        only = replace(seen, offer=replace(seen.offer, candidates=(candidate,)))
        alone = DeviceClaim(requests=(single,))
        if _is_found(alone, only, selectors):
            found.free += 1
        elif taints := untolerated(sub.tolerations, device.taints, HARD_EFFECTS):
            found.tainted.append(f"{device.name} has {taints[0]}")
        elif lack := _lack(sub, candidate, seen):
            found.short.append(f"{device.name}: {lack}")
        elif counter := _used_up(candidate, seen):
            found.countless.append(f"{device.name}: {counter}")
    return found


def _lack(sub: DeviceSubRequest, one: Candidate, seen: Seen) -> str:
    """Return which part of a shared device does not suffice; empty if that is not it."""
    if not one.device.shared:
        return ""
    asked = {each.name: each.amount for each in sub.capacity}
    taken = capacity.taken(one.device, asked)
    if taken is None:
        return "not to be had in such parts"
    view = seen.template if one.template else seen.cluster
    for each in one.device.capacity:
        left = each.amount - view.part(one.id, each.name)
        if taken[each.name] > left:
            return (
                f"{_amount(left)} of {_amount(each.amount)} {each.name}, "
                f"{_amount(taken[each.name])} asked"
            )
    return ""


def _used_up(one: Candidate, seen: Seen) -> str:
    """Return a counter of which less is left than a device takes that nobody has; else empty."""
    view = seen.template if one.template else seen.cluster
    if view.is_whole(one.id):
        return ""
    budgets = seen.offer.template_budgets if one.template else seen.offer.budgets
    for use in one.device.counters:
        for name, amount in use.amounts.items():
            counter = (*one.id[:2], use.counter_set, name)
            if amount > budgets.get(counter, 0) - view.counter(counter):
                return f"{use.counter_set}/{name}"
    return ""


def _amount(thousandths: int) -> str:
    whole, rest = divmod(thousandths, 1000)
    if rest:
        return quantity_text.canonical(f"{thousandths}m")
    return quantity_text.canonical(f"{whole // 1024}Ki" if not whole % 1024 else f"{whole}")
