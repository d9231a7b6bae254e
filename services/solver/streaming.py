"""Results of several pieces of work, or of several streams, as they come.

Apart from the servicers because it is about waiting alone: what is asked for at once by a stranger
must not be begun at once, and whoever leaves leaves nothing running.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
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


async def merged(streams: Sequence[AsyncGenerator[T, None]]) -> AsyncGenerator[T, None]:
    """Yield what the streams yield in the order in which it comes, at most one ahead of each.

    Raises:
        Exception: what the first of them raised that failed; the others are closed.
    """
    running: dict[asyncio.Future[tuple[T, ...]], AsyncGenerator[T, None]] = {}
    try:
        for stream in streams:
            running[asyncio.ensure_future(_next(stream))] = stream
        while running:
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for one in [future for future in running if future in done]:
                stream = running.pop(one)
                for result in one.result():
                    running[asyncio.ensure_future(_next(stream))] = stream
                    yield result
    finally:
        for one in running:
            one.cancel()
        # Their errors, if they have any, come too late to be told.
        await asyncio.gather(*running, return_exceptions=True)
        for stream in streams:
            await stream.aclose()


async def _next(stream: AsyncGenerator[T, None]) -> tuple[T, ...]:
    """Return the next of a stream, or nothing where it has ended."""
    async for result in stream:
        return (result,)
    return ()
