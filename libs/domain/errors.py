"""The one tree of errors; `libs/runtime/errors.py` maps each leaf to one gRPC status and back.

    JoinerError
    ├── InvalidRequest   bad input, never retried; names the object and the field path
    ├── NotFound         the named thing does not exist; for a deletion that is success
    ├── AlreadyExists    with the same idempotency key that is success
    ├── StaleRevision    the premise is gone: read the newest snapshot and decide again
    ├── RevisionGone     the revision is no longer held: resync from a full snapshot
    ├── NotReady         wait until the state is fixed (not synced, class not ready)
    ├── Unsupported      an optional ability is absent: use the documented fallback
    ├── Forbidden        this identity may not do this; never retried
    └── Unavailable      retry this call with backoff and jitter

Expected outcomes (no capacity, a pod that fits nowhere) are data, never exceptions. Messages are
for people: lower case, no full stop, naming the object and the values.
"""

from datetime import timedelta


class JoinerError(Exception):
    """Root of everything that this project raises on purpose."""


class InvalidRequest(JoinerError):
    """Bad input; `field` is the path of what is wrong (`pods[3].requests.cpu`), if known."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.detail = message

    def under(self, parent: str) -> "InvalidRequest":
        """Return the same error with its field path put below `parent`."""
        separator = "" if not self.field or self.field.startswith("[") else "."
        return InvalidRequest(self.detail, field=f"{parent}{separator}{self.field}")


class NotFound(JoinerError):
    """The named object, revision or instance does not exist."""


class AlreadyExists(JoinerError):
    """The object exists; a caller that used the same idempotency key counts it as success."""


class StaleRevision(JoinerError):
    """The decision's premise no longer holds; decide again on a newer snapshot."""


class RevisionGone(JoinerError):
    """The revision asked for is not held any more (or not yet)."""


class NotReady(JoinerError):
    """The state that the call needs is not there yet; wait for it, do not retry blindly."""


class Unsupported(JoinerError):
    """The peer does not have this optional ability."""


class Forbidden(JoinerError):
    """The caller's identity may not call this method."""


class Unavailable(JoinerError):
    """The peer cannot answer now; the same call may succeed later.

    `retry_after` is the shortest wait that the peer asked for, None if it asked for none.
    """

    def __init__(self, message: str = "", *, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
