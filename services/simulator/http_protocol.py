"""What is refused before it is a request, and how much of one is taken.

aiohttp answers what it cannot read in plain text and logs it as an error; here it gets the Status
that a client of Kubernetes reads, and the log tells only of faults of our own. It is apart from
`http`, which serves what can be read.
"""

import asyncio
import logging
import re

import msgspec
from aiohttp import web
from aiohttp.http_exceptions import BadHttpMethod

from services.simulator.core.api import errors
from services.simulator.core.api.errors import ApiError

BODY_LIMIT = 3 * 1024 * 1024
"""Bytes of a request body; Kubernetes' own limit."""

LINE_LIMIT = 1 << 20
"""Bytes of a request line or of one header; what Go's server takes of all headers together."""

_HEADERS = 10_000
_NO_LOG = logging.Logger("requests", logging.CRITICAL)
"""aiohttp logs each request unless its log is above that."""

_UNKNOWN_METHOD = re.compile(r"b[\"'][!-~]+ \S+ HTTP/1\.[01][\"']")
_CHUNKS = "chunk size"


class Server(web.Server):
    """Makes a connection's protocol with the limits and refusals of Kubernetes."""

    def __call__(self) -> web.RequestHandler:
        """Return the protocol of a new connection."""
        return _Connection(
            self,
            loop=asyncio.get_running_loop(),
            access_log=_NO_LOG,
            max_line_size=LINE_LIMIT,
            max_field_size=LINE_LIMIT,
            max_headers=_HEADERS,
            auto_decompress=False,  # bodies are never packed in Kubernetes, whatever they claim
        )


class _Connection(web.RequestHandler):
    """One connection; what cannot be read on it ends it."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the Status of what could not be read, or of a fault of ours."""
        if request.writer.output_size > 0:
            raise ConnectionError("an answer was begun and cannot be taken back")
        refusal = _refusal(status, exc, message or "")
        if refusal.code == 500 and status == 500:
            self.log_exception("a request failed", exc_info=exc)
        return status_response(refusal)


def _refusal(status: int, exc: BaseException | None, message: str) -> ApiError:
    if status == 500:
        return ApiError(500, "InternalError", "Internal error occurred: this is a fault of ours")
    if isinstance(exc, BadHttpMethod) and _UNKNOWN_METHOD.search(message):
        return errors.method_not_allowed()
    if _CHUNKS in message:
        return errors.internal("invalid byte in chunk length")
    return ApiError(status, "BadRequest", "the request cannot be read as HTTP")


def too_large() -> ApiError:
    """Return the 413 of a body."""
    message = f"Request entity too large: limit is {BODY_LIMIT}"
    return ApiError(413, "RequestEntityTooLarge", message)


def status_response(refusal: ApiError) -> web.Response:
    """Return a refusal as the last answer on its connection."""
    body = msgspec.json.encode(refusal.status)
    response = web.Response(status=refusal.code, body=body, content_type="application/json")
    response.force_close()
    return response


async def meet_expectation(request: web.BaseRequest) -> web.Response | None:
    """Tell a client that waits before it sends its body to go on; None if there is no refusal."""
    expected = request.headers.get("Expect")
    if expected is None:
        return None
    if expected.lower() != "100-continue":
        return web.Response(status=417)
    await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    request.writer.output_size = 0  # the answer itself has not begun
    return None
