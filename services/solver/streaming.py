"""Results of several pieces of work as they come, a few at a time.

Apart from the servicer because it is about waiting alone: what is asked for at once by a stranger
must not be begun at once, and whoever leaves leaves nothing running.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


async def as_finished(
    work: Iterable[Callable[[], Awaitable[T]]], *, most: int
) -> AsyncGenerator[T, None]:
    """Yield the results in the order in which they come; of those that come together, as begun.

    Args:
        work: begun in its order.
        most: how many run at a time.

    Raises:
        Exception: what the first of them raised that failed; the others are cancelled.
    """
    waiting = iter(work)
    running: dict[asyncio.Future[T], None] = {}
    try:
        while True:
            for begin in islice(waiting, most - len(running)):
                running[asyncio.ensure_future(begin())] = None
            if not running:
                return
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for one in [future for future in running if future in done]:
                del running[one]
                yield one.result()
    finally:
        for one in running:
            one.cancel()
        # Their errors, if they have any, come too late to be told.
        await asyncio.gather(*running, return_exceptions=True)
