"""Ways: how each request of a claim can be satisfied at a place, before anything is chosen.

Apart from the search because this depends on nothing that a search tries.

Source: kube-scheduler's structured allocator of 1.36.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from libs.domain.device import DeviceRequest, DeviceSubRequest
from services.solver.core.devices import capacity
from services.solver.core.devices.offer import Candidate, Offer
from services.solver.core.devices.selecting import Broken, Selectors
from services.solver.core.devices.usage import View


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFound:
    """Why the claims get nothing; empty if the devices are simply too few."""

    problem: str = ""
    steps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A place as the search sees it."""

    offer: Offer
    cluster: View
    """What is taken of devices in the cluster."""
    template: View
    """What is taken of devices that come with the node."""
    narrow: Callable[[Sequence[Candidate]], bool] = lambda chosen: True
    """Tells whether one node could use all of these devices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to satisfy a request."""

    names: tuple[str, ...]
    """Of the request, and of the way as `request/way`; the last one is the result's."""
    sub: DeviceSubRequest
    count: int
    all: tuple[Candidate, ...] | None
    """In mode All the very devices that are needed."""
    asked: dict[str, int]


def ways(request: DeviceRequest, seen: Seen, selectors: Selectors) -> list[Way] | NotFound:
    """Return the ways to satisfy a request, in order of preference.

    Args:
        request: its classes are there.
        seen: the place.
        selectors: judge of devices.
    """
    found = []
    for sub in request.alternatives:
        asked = {one.name: one.amount for one in sub.capacity}
        names = (request.name, f"{request.name}/{sub.name}") if sub.name else (request.name,)
        every: tuple[Candidate, ...] | None = None
        if sub.all:
            matching = _all(sub, asked, seen, selectors)
            if isinstance(matching, NotFound):
                return matching
            every = matching
        count = sub.count if every is None else len(every)
        found.append(Way(names=names, sub=sub, count=count, all=every, asked=asked))
    return found


def share(
    candidate: Candidate, asked: dict[str, int], view: View, own: dict[str, int] | None
) -> dict[str, int] | None:
    """Return what a request takes of a device if that much is left; None if it is not.

    Args:
        candidate: the device.
        asked: of its capacities.
        view: what is taken already.
        own: what the same pod takes besides.
    """
    taken = capacity.taken(candidate.device, asked)
    if taken is None:
        return None
    for one in candidate.device.capacity:
        used = view.part(candidate.id, one.name) + (own or {}).get(one.name, 0)
        if used + taken[one.name] > one.amount:
            return None
    return taken


def _all(
    sub: DeviceSubRequest, asked: dict[str, int], seen: Seen, selectors: Selectors
) -> tuple[Candidate, ...] | NotFound:
    """Return all devices that the request is about, taken ones too."""
    if seen.offer.unusable:
        return NotFound(problem=f"it asks for all devices, and {seen.offer.unusable[0]}")
    found = []
    for one in seen.offer.candidates:
        matches = selectors.match(sub, one.pool.driver, one.device)
        if isinstance(matches, Broken):
            return NotFound(problem=matches.problem)
        view = seen.template if one.template else seen.cluster
        if matches and share(one, asked, view, None) is not None:
            found.append(one)
    return tuple(found)
