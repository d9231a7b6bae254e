"""`Retries`: when what failed is tried again, thing by thing.

Apart from the work queue's own backoff, which a change of the object cuts short: a cloud that
refuses and a budget that refuses are not asked again sooner because something else changed.
"""

from datetime import datetime, timedelta

from libs.runtime.backoff import Backoff, BackoffPolicy
from libs.runtime.clock import Clock
from libs.runtime.randomness import Random

_NOW = timedelta(0)
_MANY = 1000
_LONG = timedelta(hours=1)


class Retries:
    """Backoffs by name; what succeeded, or is gone, is forgotten."""

    def __init__(self, policy: BackoffPolicy, clock: Clock) -> None:
        self._policy = policy
        self._clock = clock
        self._random = Random(0)  # spreads the things among each other; only the leader retries
        self._waits: dict[str, tuple[Backoff, datetime]] = {}

    def left(self, name: str) -> timedelta:
        """Return how long to wait before the next try, zero if it is due."""
        found = self._waits.get(name)
        return _NOW if found is None else max(_NOW, found[1] - self._clock.now())

    def failed(self, name: str) -> timedelta:
        """Count one failure and return how long to wait."""
        found = self._waits.get(name)
        backoff = found[0] if found else Backoff(self._policy, self._clock, self._random)
        wait = backoff.next_wait()
        self._forget_old()
        self._waits[name] = (backoff, self._clock.now() + wait)
        return wait

    def forget(self, name: str) -> None:
        """Begin anew."""
        self._waits.pop(name, None)

    def _forget_old(self) -> None:
        """Forget what was not tried again for long, such as pods that went by themselves."""
        if len(self._waits) < _MANY:
            return
        limit = self._clock.now() - _LONG
        self._waits = {name: one for name, one in self._waits.items() if one[1] > limit}
