"""`HttpKubeApi`: the port to Kubernetes over HTTP, bytes in and bytes out.

Laws, besides the port's:
- Every request ends within its timeout. A watch that has begun and on which nothing is heard for
  `Timeouts.silence` ends as if the server had ended it: a connection that is open on our side only
  looks just like a kind to which nothing happens.
- A request that the server did not authenticate is sent once more with fresh credentials. That is
  no retry of a mutation: nothing was done.
- Nothing is connected, read or loaded before the first request, so that an app can be built
  without a server.
"""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import aiohttp
from yarl import URL

from libs.domain.errors import Unavailable
from libs.kube.answers import checked_event, refusal
from libs.kube.api import JSON
from libs.kube.credentials import Credentials

_UNAUTHENTICATED = 401
_REFUSED = 300  # the API server never redirects; a proxy that does is not one

_NO_QUERY: Mapping[str, str] = MappingProxyType({})

# Compressing and inflating costs more than it saves between neighbours.
_HEADERS = {"Accept": JSON, "Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Longest waits of one connection."""

    connect: timedelta = timedelta(seconds=5)
    read: timedelta = timedelta(seconds=60)
    """A whole read; pages of lists are large."""
    write: timedelta = timedelta(seconds=5)
    """A whole mutation; not longer than what a leader takes off its lease."""
    silence: timedelta = timedelta(minutes=2)
    """Between two events of a watch. Servers send bookmarks about every minute, but not of a kind
    to which nothing has happened since they started, unless their etcd reports its progress."""


class HttpKubeApi:
    """One API server over HTTP, with one identity; keeps the laws of `libs.kube.api.KubeApi`."""

    def __init__(
        self, credentials: Credentials, timeouts: Timeouts | None = None, agent: str = "joiner"
    ) -> None:
        self._credentials = credentials
        self._timeouts = timeouts or Timeouts()
        self._agent = agent
        self._session: aiohttp.ClientSession | None = None
        self._identity: _Identity | None = None
        self._loading = asyncio.Lock()

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        """Send one request and return the body of the answer."""
        options = {
            "params": query or _NO_QUERY,
            "data": body,
            "headers": {} if body is None else {"Content-Type": content_type},
            "timeout": self._request_timeout(method),
        }
        with _translated(f"{method} {path}"):
            async with self._opened(method, path, options) as answer:
                content = await answer.read()
                if answer.status >= _REFUSED:
                    raise refusal(answer.status, content, retry_after=_retry_after(answer))
                return content

    async def watch(self, path: str, *, query: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        """Stream the events of a collection."""
        options = {
            "params": {**query, "watch": "true"},
            "headers": {},
            "timeout": aiohttp.ClientTimeout(
                sock_connect=self._timeouts.connect.total_seconds(),
                sock_read=self._timeouts.silence.total_seconds(),
            ),
        }
        with _translated(f"watch {path}"):
            async with self._opened("GET", path, options) as answer:
                if answer.status >= _REFUSED:
                    content = await answer.read()
                    raise refusal(answer.status, content, retry_after=_retry_after(answer))
                async for line in _lines(answer.content):
                    yield checked_event(line)

    async def close(self) -> None:
        """Close all connections; a later request opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    @contextlib.asynccontextmanager
    async def _opened(
        self, method: str, path: str, options: Mapping[str, Any]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        identity = await self._identified(None)
        async with self._send(identity, method, path, options) as answer:
            if answer.status != _UNAUTHENTICATED:
                yield answer
                return
        identity = await self._identified(identity)
        async with self._send(identity, method, path, options) as answer:
            yield answer

    def _send(
        self, identity: "_Identity", method: str, path: str, options: Mapping[str, Any]
    ) -> contextlib.AbstractAsyncContextManager[aiohttp.ClientResponse]:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                headers={**_HEADERS, "User-Agent": self._agent},
            )
        headers = {**options["headers"], **self._credentials.headers()}
        return self._session.request(
            method,
            URL(self._credentials.server + path, encoded=True),
            **{**options, "headers": headers},
            ssl=identity.tls,
            proxy=self._credentials.proxy,
            server_hostname=self._credentials.server_name,
            allow_redirects=False,
        )

    async def _identified(self, refused: "_Identity | None") -> "_Identity":
        """Return an identity that was loaded after `refused`; several callers load it once."""
        async with self._loading:
            if self._identity is None or self._identity is refused:
                await self._credentials.load()
                self._identity = _Identity(self._credentials.tls())
            return self._identity

    def _request_timeout(self, method: str) -> aiohttp.ClientTimeout:
        total = self._timeouts.read if method == "GET" else self._timeouts.write
        return aiohttp.ClientTimeout(
            total=total.total_seconds(), sock_connect=self._timeouts.connect.total_seconds()
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Identity:
    """What was loaded at one time; connections are shared only where `tls` is the same object."""

    tls: ssl.SSLContext | bool


@contextlib.asynccontextmanager
async def connect(kubeconfig: str = "") -> AsyncIterator[HttpKubeApi]:
    """Give a connection that is closed at the end: for commands; services close theirs as apps.

    Args:
        kubeconfig: a path; empty: the pod's service account, the usual files elsewhere.
    """
    api = HttpKubeApi(Credentials(kubeconfig))
    try:
        yield api
    finally:
        await api.close()


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Yield whole lines of any length until silence; a last one that was cut off is dropped."""
    parts: list[bytes] = []
    with contextlib.suppress(TimeoutError):
        async for chunk in content.iter_any():
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                parts.append(line)
                if event := b"".join(parts):
                    yield event
                parts.clear()
            if rest:
                parts.append(rest)


@contextlib.contextmanager
def _translated(what: str) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise Unavailable(f"{what}: no answer in time") from error
    except aiohttp.ClientConnectorError as error:  # its own words hold the address of an object
        where = f"{error.host}:{error.port}"
        raise Unavailable(f"{what}: cannot connect to {where}: {error.os_error}") from error
    except (aiohttp.ClientError, OSError) as error:
        raise Unavailable(f"{what}: {error or type(error).__name__}") from error


def _retry_after(answer: aiohttp.ClientResponse) -> timedelta | None:
    text = answer.headers.get("Retry-After", "")
    return timedelta(seconds=int(text)) if text.isascii() and text.isdigit() else None
