"""An event loop whose time jumps to the next timer when nothing is ready.

Deterministic: time moves only when every task waits, and then exactly to the earliest timer. Work
given to a thread pool runs inline, at one virtual instant, because a thread's duration would be
real time. When nothing is ready and no timer is set, no task can ever go on: that is reported with
the place where each task waits.

Not for tasks that wait for real sockets; join services by `libs/runtime/memory` instead.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from datetime import timedelta
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualTimeError(Exception):
    """The simulated run cannot go on: every task waits for ever, or the limit is passed."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """A selector loop with simulated time, starting at zero seconds."""

    def __init__(self, limit: timedelta = timedelta(days=7)) -> None:
        self._now = 0.0
        self._limit = limit.total_seconds()
        super().__init__(_JumpingSelector(self._jump))

    def time(self) -> float:
        """Return the simulated seconds since the loop was made."""
        return self._now

    def run_in_executor(  # type: ignore[override]  # typeshed asks for the variadic form of Python 3.14
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> "asyncio.Future[T]":
        """Run `func` at once on this thread, in zero virtual time."""
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # whatever it raises belongs to whoever awaits the future
            future.set_exception(error)
        return future

    def _jump(self, timeout: float | None) -> None:
        if timeout is None:
            raise VirtualTimeError("every task waits and no timer is set:\n" + self._waiting())
        self._now += timeout
        if self._now > self._limit:
            raise VirtualTimeError(
                f"virtual time passed its limit of {self._limit:.0f} s:\n{self._waiting()}"
            )

    def _waiting(self) -> str:
        lines = []
        for task in asyncio.all_tasks(self):
            frames = task.get_stack()
            place = f"{frames[-1].f_code.co_filename}:{frames[-1].f_lineno}" if frames else "?"
            lines.append(f"  {task.get_name()}: {place}")
        return "\n".join(sorted(lines))


def run_virtual(main: Coroutine[Any, Any, T], *, limit: timedelta = timedelta(days=7)) -> T:
    """Run `main` to its end on a loop with simulated time and return its result.

    Raises:
        VirtualTimeError: no task can go on, or more than `limit` of virtual time passed.
    """
    with asyncio.Runner(loop_factory=lambda: VirtualLoop(limit)) as runner:
        return runner.run(main)


class _JumpingSelector(selectors.SelectSelector):
    """Polls without blocking; instead of waiting it lets the loop's time jump."""

    def __init__(self, jump: Callable[[float | None], None]) -> None:
        super().__init__()
        self._jump = jump

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if not events and (timeout is None or timeout > 0):
            self._jump(timeout)
        return events
