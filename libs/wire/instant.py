"""Instants and spans, to the microsecond; finer parts that a peer sends are cut off."""

from datetime import UTC, datetime, timedelta

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from libs.domain.errors import InvalidRequest

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_MICROSECOND = timedelta(microseconds=1)
_NANOS = 10**9


def decode_instant(message: Timestamp) -> datetime:
    """Return the instant, in UTC."""
    if not 0 <= message.nanos < _NANOS:
        raise InvalidRequest(f"{message.nanos} nanoseconds are not within a second", field="nanos")
    try:
        return _EPOCH + timedelta(seconds=message.seconds, microseconds=message.nanos // 1000)
    except OverflowError:
        raise InvalidRequest("is not within the years 1 to 9999", field="seconds") from None


def encode_instant(instant: datetime | None) -> Timestamp | None:
    """Return the message, None for None."""
    if instant is None:
        return None
    seconds, rest = divmod(instant - _EPOCH, _SECOND)
    return Timestamp(seconds=seconds, nanos=rest // _MICROSECOND * 1000)


def decode_span(message: Duration) -> timedelta:
    """Return the span, which must not be negative."""
    if message.seconds < 0 or not 0 <= message.nanos < _NANOS:
        raise InvalidRequest("is negative or not normalized")
    try:
        return timedelta(seconds=message.seconds, microseconds=message.nanos // 1000)
    except OverflowError:
        raise InvalidRequest("is longer than two million years", field="seconds") from None


def encode_span(span: timedelta | None) -> Duration | None:
    """Return the message, None for None."""
    if span is None:
        return None
    seconds, rest = divmod(span, _SECOND)
    return Duration(seconds=seconds, nanos=rest // _MICROSECOND * 1000)
