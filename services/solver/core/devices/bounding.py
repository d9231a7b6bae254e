"""How many devices a request could get at most, so that hopeless searches end before they begin.

Apart from the search because it never decides: what it says is possible may still not be.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence

from services.solver.core.devices.constraints import Constraint
from services.solver.core.devices.offer import Candidate
from services.solver.core.devices.usage import CounterId


def most_devices(
    candidates: Sequence[Candidate],
    names: tuple[str, ...],
    constraints: Sequence[Constraint],
    left: Callable[[Candidate, CounterId], int],
) -> int:
    """Return an upper bound.

    Args:
        candidates: each of which the request could get if it were the only one.
        names: of the request.
        constraints: of its claim.
        left: gives how much of a counter is left.
    """
    bounds = [one.most(names, candidates) for one in constraints]
    return min([*bounds, _by_counters(candidates, left)])


def _by_counters(
    candidates: Sequence[Candidate], left: Callable[[Candidate, CounterId], int]
) -> int:
    """Return how many devices the counters allow, each set looked at alone."""
    free = 0
    sharing: dict[tuple[bool, str, str], list[Candidate]] = defaultdict(list)
    for one in candidates:
        # A shared device that somebody has a part of takes no counters any more.
        if one.device.counters and not one.device.shared:
            first = one.device.counters[0].counter_set
            sharing[one.template, one.pool.key, first].append(one)
        else:
            free += 1
    return free + sum(_of_set(own, left) for own in sharing.values())


def _of_set(candidates: list[Candidate], left: Callable[[Candidate, CounterId], int]) -> int:
    """Return how many of the devices that take of one set its counters allow."""
    # Of a counter that some device does not take, any number of such devices is possible.
    uses = [dict(one.device.counters[0].amounts.items()) for one in candidates]
    bound = len(candidates)
    for name in set.intersection(*(set(use) for use in uses)):
        least = min(use[name] for use in uses)
        first = candidates[0]
        counter = (*first.id[:2], first.device.counters[0].counter_set, name)
        if least > 0:
            bound = min(bound, left(first, counter) // least)
    return max(bound, 0)
