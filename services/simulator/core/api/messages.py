"""Requests and responses without a transport.

What the HTTP edge and the in-memory transport of tests hand over.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import msgspec

from services.simulator.core.api.access.users import ADMIN, User
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.storage import Version, WatchEvent
from services.simulator.core.api.watching import Watch

JSON = "application/json"


def _no_query() -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({})


def _no_headers() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request; header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, tuple[str, ...]] = field(default_factory=_no_query)
    headers: Mapping[str, str] = field(default_factory=_no_headers)
    body: bytes = b""
    takes_parts: bool = False
    """Whether the transport can send an answer while it is still being made."""

    impersonation: tuple[tuple[str, str], ...] = ()
    """The headers that begin with `impersonate-`, each as often as it was sent."""

    source: str = ""
    """Address of the client, where there is one."""

    user: User = ADMIN
    """Who asks, once that is known."""

    def by(self, user: User) -> "Request":
        """Return the request as made by a user."""
        return Request(
            method=self.method,
            path=self.path,
            query=self.query,
            headers=self.headers,
            body=self.body,
            takes_parts=self.takes_parts,
            impersonation=self.impersonation,
            source=self.source,
            user=user,
        )

    def parameter(self, name: str) -> str:
        """Return the first value of a query parameter, empty if it is absent."""
        values = self.query.get(name)
        return values[0] if values else ""

    def flag(self, name: str) -> bool:
        """Tell whether a boolean parameter is set, as Go parses booleans."""
        values = self.query.get(name)
        return values is not None and values[0].lower() not in ("", "0", "f", "false")


EncodeEvent = Callable[[WatchEvent], bytes]


class Stream:
    """An open watch as the transport sees it: chunks of JSON lines."""

    def __init__(
        self, watch: Watch, encode: EncodeEvent, *, timeout_seconds: int | None, bookmarks: bool
    ) -> None:
        self.watch = watch
        self.timeout_seconds = timeout_seconds
        self.bookmarks = bookmarks
        """Whether the client wants bookmarks now and then; the transport asks for them by the
        clock."""

        self.on_close: Callable[[], None] | None = None
        """Called once the watch has ended."""

        self._encode = encode

    def poll(self) -> bytes:
        """Return the lines of all news, empty if there are none."""
        return b"".join([self._encode(event) for event in self.watch.poll()])

    def bookmark(self, revision: int) -> bytes:
        """Return the line of a bookmark."""
        return self._encode(self.watch.bookmark(revision))

    @property
    def closed(self) -> bool:
        """Tell whether nothing more will come."""
        return self.watch.closed

    def on_news(self, wake: Callable[[], None]) -> None:
        """Have `wake` called, from the writer, whenever `poll` may have news."""
        self.watch.wake = wake

    def close(self) -> None:
        """End the watch."""
        self.watch.close()
        if self.on_close is not None:
            self.on_close()
            self.on_close = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One answer; with a stream or parts, the body is what these yield."""

    status: int = 200
    body: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=_no_headers)
    warnings: tuple[str, ...] = ()
    stream: Stream | None = None
    parts: Iterator[bytes] | None = None


def head_of(resource: Resource) -> bytes:
    """Return how the JSON of an object of this resource begins."""
    return b'{"kind":"%s","apiVersion":"%s",' % (
        resource.kind.encode(),
        resource.group_version.encode(),
    )


def encode_version(resource: Resource, version: Version) -> bytes:
    """Return the JSON of a stored object, made once."""
    return head_of(resource) + version.members


def to_json(value: object) -> bytes:
    """Return any JSON value as text."""
    return msgspec.json.encode(value)
