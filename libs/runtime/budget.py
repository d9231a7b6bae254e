"""A budget of time for work on a thread, where there is no event loop whose time could be read."""

import time
from collections.abc import Callable
from datetime import timedelta


def spending(budget: timedelta) -> Callable[[], bool]:
    """Return who tells whether the budget is used up; it runs from the first time that it asks."""
    ends: list[float] = []

    def spent() -> bool:
        now = time.monotonic()
        if not ends:
            ends.append(now + budget.total_seconds())
        return now >= ends[0]

    return spent
