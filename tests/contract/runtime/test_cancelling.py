"""Whoever waits for a peer can be stopped, however far the call has come."""

import asyncio

import grpc
import pytest

from libs.runtime.channel import DomainCall


class OpeningCall:
    """As aio's call while its stream is being opened: what cancels the reader ends the opening."""

    def __init__(self, failure: Exception | None) -> None:
        self.waits = asyncio.Event()
        self._failure = failure

    async def read(self) -> object:
        self.waits.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if self._failure is not None:
                raise self._failure from None
        return grpc.aio.EOF


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(None, id="the stream ends"),
        pytest.param(
            grpc.aio.AioRpcError(
                grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata()
            ),
            id="the peer is away",
        ),
    ],
)
async def test_a_reader_lets_itself_be_cancelled_while_its_stream_is_opened(
    failure: Exception | None,
) -> None:
    opening = OpeningCall(failure)
    reading = asyncio.create_task(DomainCall(opening, "/x/Y").read())
    await opening.waits.wait()

    reading.cancel()
    await asyncio.wait([reading], timeout=10)

    assert reading.cancelled()
