"""Why claims get no devices at a place, in words and numbers.

Apart from the search because it is asked only of those who are left over, and looks at each request
alone: how many devices there are, how many are meant, how many of those are free.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from libs.domain.device import MOST_DEVICES_OF_CLAIM, DeviceClaim, DeviceRequest, DeviceSubRequest
from services.solver.core.devices.constraints import Constraint
from services.solver.core.devices.search import Found, Seen, search
from services.solver.core.devices.selecting import Selectors
from services.solver.core.devices.sharing import described


@dataclass(slots=True)
class _Count:
    """How many devices of a place come how far."""

    seen: int = 0
    meant: int = 0
    selector: str = ""
    """The first that refused one."""
    free: int = 0


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
            if not isinstance(search((alone,), seen, selectors), Found):
                return _request(claim, request, seen, selectors)
        if _only_constraints_refuse(claim, seen, selectors):
            named = " and ".join(str(Constraint(one)) for one in claim.constraints)
            return f"{described(claim)}: no free devices satisfy {named}"
    return "there are devices for each of its requests, but not for all of them together"


def _only_constraints_refuse(claim: DeviceClaim, seen: Seen, selectors: Selectors) -> bool:
    loose = DeviceClaim(requests=claim.requests)
    return isinstance(search((loose,), seen, selectors), Found) and not isinstance(
        search((claim,), seen, selectors), Found
    )


def _request(claim: DeviceClaim, request: DeviceRequest, seen: Seen, selectors: Selectors) -> str:
    ways = [_way(sub, seen, selectors) for sub in request.alternatives]
    return f"{described(claim)}, request {request.name!r}: " + "; ".join(ways)


def _way(sub: DeviceSubRequest, seen: Seen, selectors: Selectors) -> str:
    name = f"way {sub.name!r}: " if sub.name else ""
    if sub.all and seen.offer.unusable:
        return f"{name}all devices are asked for, and {seen.offer.unusable[0]}"
    found = _count(sub, seen, selectors)
    wanted = found.meant if sub.all else sub.count
    if wanted > MOST_DEVICES_OF_CLAIM:
        return f"{name}{wanted} devices are asked for, a claim gets at most {MOST_DEVICES_OF_CLAIM}"
    if found.meant < max(wanted, 1):
        refusing = f"; selector {found.selector!r} refuses others" if found.selector else ""
        pools = f"; {'; '.join(seen.offer.unusable)}" if seen.offer.unusable else ""
        asked = "all" if sub.all else str(wanted)
        there = f"{found.meant} of {found.seen} devices match" if found.seen else "there are none"
        return f"{name}{asked} of class {sub.device_class!r} asked, {there}{refusing}{pools}"
    together = f", but not {wanted} of them together" if found.free >= wanted else ""
    return (
        f"{name}{wanted} of class {sub.device_class!r} asked, {found.free} of {found.meant} "
        f"devices are free{together}"
    )


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
        found.free += isinstance(search((alone,), only, selectors), Found)
    return found
