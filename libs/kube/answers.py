"""What an API server's refusals mean: its Status objects → domain errors.

Apart from the transport because the in-memory server of the tests answers with the same Status
objects, and both doors must raise the same errors.
"""

from datetime import timedelta

import msgspec

from libs.domain.errors import (
    AlreadyExists,
    Forbidden,
    InvalidRequest,
    JoinerError,
    NotFound,
    RevisionGone,
    StaleRevision,
    Unavailable,
)

_ERROR_EVENT = b'"type":"ERROR"'
_EVENT_HEAD = 64  # the type stands first in every event that Kubernetes writes


class _Cause(msgspec.Struct):
    field: str = ""


class _Details(msgspec.Struct):
    causes: list[_Cause] | None = None
    retryAfterSeconds: int | None = None  # noqa: N815 - the name on the wire


class _Status(msgspec.Struct):
    message: str = ""
    reason: str = ""
    code: int = 0
    details: _Details | None = None


class _ErrorEvent(msgspec.Struct):
    type: str
    object: _Status


def refusal(code: int, body: bytes, *, retry_after: timedelta | None = None) -> JoinerError:
    """Return the error that an answer with an HTTP status of 300 or more stands for.

    Args:
        code: the HTTP status.
        body: a Status object, or whatever a proxy on the way had to say.
        retry_after: of the header of that name.
    """
    return _error(code, _status(body), retry_after)


def checked_event(line: bytes) -> bytes:
    """Return an event of a watch; an event of type ERROR is raised.

    Raises:
        JoinerError: what the server ended the watch with.
    """
    if _ERROR_EVENT not in line[:_EVENT_HEAD].replace(b" ", b""):
        return line
    try:
        status = msgspec.json.decode(line, type=_ErrorEvent).object
    except msgspec.MsgspecError as error:
        raise Unavailable(f"watch ended with an unreadable error: {error}") from error
    raise _error(status.code, status, None)


def _status(body: bytes) -> _Status:
    try:
        return msgspec.json.decode(body, type=_Status)
    except msgspec.MsgspecError:
        return _Status(message=body[:200].decode(errors="replace").strip())


def _error(code: int, status: _Status, retry_after: timedelta | None) -> JoinerError:
    message = status.message or f"the API server answered {code}"
    if code == 409:
        return (
            AlreadyExists(message) if status.reason == "AlreadyExists" else StaleRevision(message)
        )
    if code in _BY_CODE:
        return _BY_CODE[code](message)
    if code == 429 or not 400 <= code < 500:
        return Unavailable(message, retry_after=retry_after or _asked_wait(status))
    return InvalidRequest(message, field=_first_field(status))


_BY_CODE: dict[int, type[JoinerError]] = {
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    410: RevisionGone,
}


def _asked_wait(status: _Status) -> timedelta | None:
    seconds = status.details.retryAfterSeconds if status.details else None
    return None if seconds is None else timedelta(seconds=seconds)


def _first_field(status: _Status) -> str:
    causes = (status.details.causes if status.details else None) or ()
    return next((cause.field for cause in causes if cause.field), "")
