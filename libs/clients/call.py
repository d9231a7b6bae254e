"""What clients do with calls: deadlines in gRPC's seconds, streams that end when left."""

from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from typing import Any, TypeVar

T = TypeVar("T")


def seconds(deadline: timedelta | None) -> float | None:
    """Return the deadline as gRPC takes it; None for the channel's own."""
    return None if deadline is None else deadline.total_seconds()


async def responses(call: Any, decode: Callable[[Any], T]) -> AsyncGenerator[T, None]:
    """Yield what a call streams, decoded; the call is cancelled when the consumer leaves early."""
    try:
        async for message in call:
            yield decode(message)
    finally:
        call.cancel()
