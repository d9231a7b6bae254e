"""Domain errors ↔ gRPC status, one to one, so that an error crosses a hop as the same type.

`to_status` is used by the one server interceptor (`guard.py`), `from_status` by the one client
wrapper (`channel.py`); servicers raise, clients catch, and neither sees a status code. The field
path of an `InvalidRequest` travels as a `google.rpc.BadRequest` in the standard
`grpc-status-details-bin` trailer, so that tools which know gRPC's richer error model show it as
well.

Codes that only gRPC itself produces are read here too: a deadline that ran out and a cancelled
call mean "this call may be tried again"; everything that has no meaning of ours becomes a plain
`JoinerError`.
"""

import dataclasses
from collections.abc import Iterable

import grpc
from google.rpc import (  # type: ignore[import-untyped]  # the package has stubs but no py.typed
    error_details_pb2,
    status_pb2,
)

from libs.domain import errors

INTERNAL_MESSAGE = "internal error; the server's log has it"

DETAILS_TRAILER = "grpc-status-details-bin"

# HTTP/2 header blocks are limited to 8 KiB by default, and a message travels percent-encoded and
# twice.
_MAX_MESSAGE_BYTES = 1024

_CODES: dict[type[errors.JoinerError], grpc.StatusCode] = {
    errors.InvalidRequest: grpc.StatusCode.INVALID_ARGUMENT,
    errors.NotFound: grpc.StatusCode.NOT_FOUND,
    errors.AlreadyExists: grpc.StatusCode.ALREADY_EXISTS,
    errors.StaleRevision: grpc.StatusCode.ABORTED,
    errors.RevisionGone: grpc.StatusCode.OUT_OF_RANGE,
    errors.NotReady: grpc.StatusCode.FAILED_PRECONDITION,
    errors.Unsupported: grpc.StatusCode.UNIMPLEMENTED,
    errors.Forbidden: grpc.StatusCode.PERMISSION_DENIED,
    errors.Unavailable: grpc.StatusCode.UNAVAILABLE,
}

_ERRORS: dict[grpc.StatusCode, type[errors.JoinerError]] = {
    **{code: error for error, code in _CODES.items()},
    grpc.StatusCode.UNAUTHENTICATED: errors.Forbidden,
    grpc.StatusCode.DEADLINE_EXCEEDED: errors.Unavailable,
    grpc.StatusCode.CANCELLED: errors.Unavailable,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Status:
    """What a call ends with: code, message for people, trailing metadata."""

    code: grpc.StatusCode
    message: str
    trailers: tuple[tuple[str, str | bytes], ...] = ()


def to_status(error: BaseException) -> Status:
    """Return the status that `error` crosses the wire as; of an unknown one no text is leaked."""
    code = _code_of(error)
    if code is None:
        return Status(grpc.StatusCode.INTERNAL, INTERNAL_MESSAGE)
    message = _shortened(str(error))
    if isinstance(error, errors.InvalidRequest) and error.field:
        return Status(code, message, ((DETAILS_TRAILER, _field_details(message, error)),))
    return Status(code, message)


def from_status(
    code: grpc.StatusCode, message: str, trailers: Iterable[tuple[str, str | bytes]] = ()
) -> errors.JoinerError:
    """Return the domain error that a peer's status stands for."""
    error = _ERRORS.get(code)
    if error is errors.InvalidRequest:
        return _invalid_request(message, trailers)
    if error is None:
        return errors.JoinerError(f"peer answered {code.name}: {message}")
    return error(message)


def _code_of(error: BaseException) -> grpc.StatusCode | None:
    return next((_CODES[kind] for kind in type(error).__mro__ if kind in _CODES), None)


def _shortened(text: str) -> str:
    encoded = text.encode(errors="replace")
    if len(encoded) <= _MAX_MESSAGE_BYTES:
        return encoded.decode()
    return encoded[: _MAX_MESSAGE_BYTES - 3].decode(errors="ignore") + "..."


def _field_details(message: str, error: errors.InvalidRequest) -> bytes:
    violation = error_details_pb2.BadRequest.FieldViolation(
        field=_shortened(error.field), description=_shortened(error.detail)
    )
    status = status_pb2.Status(code=grpc.StatusCode.INVALID_ARGUMENT.value[0], message=message)
    status.details.add().Pack(error_details_pb2.BadRequest(field_violations=[violation]))
    return bytes(status.SerializeToString())


def _invalid_request(
    message: str, trailers: Iterable[tuple[str, str | bytes]]
) -> errors.InvalidRequest:
    for key, value in trailers:
        if key == DETAILS_TRAILER and isinstance(value, bytes):
            return _from_details(message, value)
    return errors.InvalidRequest(message)


def _from_details(message: str, encoded: bytes) -> errors.InvalidRequest:
    bad_request = error_details_pb2.BadRequest()
    try:
        for detail in status_pb2.Status.FromString(encoded).details:
            if detail.Unpack(bad_request) and bad_request.field_violations:
                violation = bad_request.field_violations[0]
                return errors.InvalidRequest(violation.description, field=violation.field)
    except Exception:  # a foreign peer's malformed detail must not hide its message
        return errors.InvalidRequest(message)
    return errors.InvalidRequest(message)
