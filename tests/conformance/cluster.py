"""How tests talk to a cluster: plain HTTP where bytes matter, the official client, raw sockets.

An answer is a value; a refusal is an answer like any other. Waiting is in one place, with a
deadline.
"""

import contextlib
import json
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import kubernetes
import urllib3

from tests.conformance.targets import Target

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

Object = dict[str, Any]

PATIENCE_SECONDS = 30
_POLL_SECONDS = 0.03
_READ_SECONDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server answered: its status, its headers in lower case, its decoded body."""

    status: int
    headers: Mapping[str, str]
    body: Any

    @property
    def causes(self) -> list[tuple[str, str]]:
        """Return reason and field of each cause of a refusal, sorted."""
        causes = (self.body.get("details") or {}).get("causes") or []
        return sorted((cause["reason"], cause["field"]) for cause in causes)

    @property
    def message(self) -> str:
        """Return the message of a Status."""
        return str(self.body["message"])

    def ok(self) -> Any:
        """Return the body of an answer that must be a success."""
        assert self.status < 300, (self.status, self.body)
        return self.body


class Cluster:
    """One target, as a test uses it."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.patience_seconds = PATIENCE_SECONDS
        """How long one waits for what must come."""
        self.official: kubernetes.client.ApiClient = kubernetes.config.new_client_from_config(
            config_file=str(target.kubeconfig)
        )
        self._pool: urllib3.PoolManager = self.official.rest_client.pool_manager
        self._host: str = self.official.configuration.host
        self._credentials: dict[str, str] = {}
        self.official.update_params_for_auth(self._credentials, [], ["BearerToken"])

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()
        self.official.close()

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, object] | None = None,
    ) -> Answer:
        """Send a request and return the answer, whatever it is.

        Args:
            method: of HTTP.
            path: as it goes on the wire.
            body: sent as JSON unless it is text or bytes.
            headers: on top of the credentials; a body is JSON unless they say otherwise.
            query: parameters; None leaves one out.
        """
        raw = self._open(method, path, body, headers or {}, query or {})
        return Answer(
            status=raw.status,
            headers={name.lower(): value for name, value in raw.headers.items()},
            body=_decoded(raw.data, raw.headers.get("Content-Type", "")),
        )

    def get(self, path: str, **query: object) -> Answer:
        """Read an object or a list."""
        return self.send("GET", path, query=query)

    def post(self, path: str, body: object, **query: object) -> Answer:
        """Create an object."""
        return self.send("POST", path, body, query=query)

    def put(self, path: str, body: object, **query: object) -> Answer:
        """Replace an object."""
        return self.send("PUT", path, body, query=query)

    def patch(
        self, path: str, body: object, media_type: str = MERGE_PATCH, **query: object
    ) -> Answer:
        """Patch an object; a merge patch unless told otherwise."""
        return self.send("PATCH", path, body, headers={"Content-Type": media_type}, query=query)

    def apply(self, path: str, body: object, manager: str, **query: object) -> Answer:
        """Apply a configuration as a manager."""
        return self.patch(path, body, APPLY_PATCH, fieldManager=manager, **query)

    def delete(self, path: str, body: object = None, **query: object) -> Answer:
        """Delete an object or a collection."""
        return self.send("DELETE", path, body, query=query)

    def table(self, path: str, **query: object) -> Object:
        """Read what `kubectl get` shows."""
        accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
        found: Object = self.send("GET", path, headers={"Accept": accept}, query=query).ok()
        return found

    def change(self, path: str, alter: Callable[[Object], object]) -> Object:
        """Read, alter and replace an object; again if somebody else was quicker."""
        while True:
            found = self.get(path).ok()
            alter(found)
            answer = self.put(path, found)
            if answer.status != 409:
                changed: Object = answer.ok()
                return changed

    def until(self, path: str, holds: Callable[[Any], Any], **query: object) -> Any:
        """Read until what is found holds; return it.

        Raises:
            AssertionError: it did not in time; with what was found last.
        """
        for _ in range(int(self.patience_seconds / _POLL_SECONDS)):
            answer = self.get(path, **query)
            if answer.status == 200 and holds(answer.body):
                return answer.body
            time.sleep(_POLL_SECONDS)
        raise AssertionError(f"not in {self.patience_seconds} s: {answer.status} {answer.body}")

    def until_gone(self, path: str) -> None:
        """Wait until an object does not exist any more."""
        for _ in range(int(self.patience_seconds / _POLL_SECONDS)):
            if self.get(path).status == 404:
                return
            time.sleep(_POLL_SECONDS)
        raise AssertionError(f"{path} is still there after {self.patience_seconds} s")

    @contextlib.contextmanager
    def watch(self, path: str, **query: object) -> Iterator[Iterator[Object]]:
        """Watch; the events come as they arrive, and end with the block or the timeout."""
        query = {"watch": "1", "timeoutSeconds": 10, **query}
        raw = self._open("GET", path, None, {}, query, stream=True)
        try:
            assert raw.status == 200, raw.data
            yield (json.loads(line) for line in _lines(raw))
        finally:
            raw.close()

    def raw(self, request: bytes) -> bytes:
        """Send bytes as they are on a connection of their own; return all that comes back.

        `%AUTH%` in the bytes stands for the header lines of our credentials.
        """
        lines = "".join(f"{name}: {value}\r\n" for name, value in self._credentials.items())
        place = urlsplit(self._host)
        address = (place.hostname or "", place.port or 443)
        with contextlib.ExitStack() as held:
            plain = held.enter_context(socket.create_connection(address, timeout=_READ_SECONDS))
            connection = (
                held.enter_context(self._tls().wrap_socket(plain, server_hostname=place.hostname))
                if place.scheme == "https"
                else plain
            )
            connection.sendall(request.replace(b"%AUTH%", lines.encode()))
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def _tls(self) -> ssl.SSLContext:
        configuration = self.official.configuration
        context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
        if configuration.cert_file:
            context.load_cert_chain(configuration.cert_file, configuration.key_file)
        return context

    def _open(
        self,
        method: str,
        path: str,
        body: object,
        headers: Mapping[str, str],
        query: Mapping[str, object],
        *,
        stream: bool = False,
    ) -> urllib3.BaseHTTPResponse:
        given = {name: value for name, value in query.items() if value is not None}
        target = f"{self._host}{path}" + (f"?{urlencode(given)}" if given else "")
        data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        typed = {} if data is None else {"content-type": "application/json"}
        special = {name.lower(): value for name, value in headers.items()}
        return self._pool.request(
            method,
            target,
            body=data,
            headers={"accept": "application/json", **self._credentials, **typed, **special},
            preload_content=not stream,
            redirect=False,
            retries=False,
            timeout=_READ_SECONDS,
        )


def _lines(raw: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    for chunk in raw.stream(amt=None):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole


def _decoded(data: bytes, media_type: str) -> Any:
    """Return JSON as a value, the events of a watch as a list, anything else as text."""
    if not data or not media_type.startswith("application/json"):
        return data.decode()
    try:
        return json.loads(data)
    except ValueError:
        return [json.loads(line) for line in data.splitlines()]
