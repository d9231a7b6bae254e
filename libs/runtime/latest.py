"""One immutable value, shared by replacement: writers set, readers wait for something newer.

Nothing queues: a reader that is slow skips versions. That is what makes the consumers
level-triggered.
"""

import asyncio
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Versioned(Generic[T]):
    """A value and its version; versions start at 1 and grow by one with each `set`."""

    version: int
    value: T


class LatestValue(Generic[T]):
    """Holds the newest value of one event loop; not for use from other threads."""

    def __init__(self) -> None:
        self._current: Versioned[T] | None = None
        self._changed = asyncio.Event()

    @property
    def current(self) -> Versioned[T] | None:
        """The newest value, `None` if nothing was set yet."""
        return self._current

    @property
    def version(self) -> int:
        """The newest version, 0 if nothing was set yet."""
        return self._current.version if self._current else 0

    def set(self, value: T) -> int:
        """Replace the value, wake every waiting reader and return the new version."""
        self._current = Versioned(self.version + 1, value)
        self._changed.set()
        self._changed = asyncio.Event()
        return self._current.version

    async def newer_than(self, version: int) -> Versioned[T]:
        """Wait for a version above `version` and return the newest one."""
        while self._current is None or self._current.version <= version:
            await self._changed.wait()
        return self._current
