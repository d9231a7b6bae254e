"""Where other services are found: a channel for a target, and the addresses behind a name.

`Network` is the port; `GrpcNetwork` speaks gRPC over sockets, `libs/runtime/memory` has the one
without. Laws: `channel` never fails because a peer is down (its calls do), asks for no connection
before the first call, and reconnects by itself; the same target gives the same channel.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import Any, Protocol

import grpc

from libs.domain.errors import InvalidRequest, Unavailable
from libs.runtime.channel import DomainChannel
from libs.runtime.runtime_settings import is_loopback
from libs.runtime.server import MAX_MESSAGE_BYTES
from libs.runtime.timeouts import CallDeadlines
from libs.runtime.tls import CertificateFiles, Certificates, channel_credentials

OPTIONS: tuple[tuple[str, Any], ...] = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.keepalive_time_ms", 30_000),  # a peer whose node vanished is noticed within 40 s
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 500),  # the default of 2 minutes outlasts a restart by far
    ("grpc.enable_http_proxy", 0),  # services are neighbours; a proxy variable must not divert them
)


class Network(Protocol):
    """Reaches the other services."""

    def channel(self, target: str) -> grpc.aio.Channel:
        """Return the channel to `host:port`."""

    async def resolve(self, target: str) -> tuple[str, ...]:
        """Return the sorted addresses behind a headless service's `host:port`, as `ip:port`.

        A channel to one of them expects the certificate of `host`: addresses of pods are in none.

        Raises:
            Unavailable: the name has no addresses now.
        """

    async def close(self) -> None:
        """Close all channels."""


class GrpcNetwork:
    """Real channels: mutual TLS with certificates that are reloaded, plaintext on loopback only."""

    def __init__(self, certificates: CertificateFiles | None, deadlines: CallDeadlines) -> None:
        self._certificates = certificates
        self._deadlines = deadlines
        self._channels: dict[str, DomainChannel] = {}
        self._hosts: dict[str, str] = {}
        """Name by which each resolved address was asked for."""

    def channel(self, target: str) -> grpc.aio.Channel:
        """Return the channel to `host:port`.

        Raises:
            InvalidRequest: plaintext would leave this machine.
        """
        if target not in self._channels:
            self._channels[target] = DomainChannel(self._source(target), self._deadlines)
        return self._channels[target]

    async def resolve(self, target: str) -> tuple[str, ...]:
        """Ask the name service for all addresses behind `host:port`."""
        host, _, port = target.rpartition(":")
        try:
            found = await asyncio.get_running_loop().getaddrinfo(
                host.strip("[]"), port, type=socket.SOCK_STREAM
            )
        except OSError as error:
            raise Unavailable(f"{target} has no addresses: {error}") from error
        addresses = {_joined(address[0], address[1]) for *_, address in found}
        self._hosts |= dict.fromkeys(addresses, host)
        return tuple(sorted(addresses))

    async def close(self) -> None:
        """Close all channels; their calls are cancelled."""
        for channel in self._channels.values():
            await channel.close()
        self._channels.clear()

    def _source(self, target: str) -> Callable[[], grpc.aio.Channel]:
        if self._certificates is not None:
            return _SecureSource(target, self._certificates, self._hosts.get(target)).channel
        if not is_loopback(target):
            raise InvalidRequest(
                f"{target} is plaintext beyond loopback; set JOINER_CFG_TLS_DIR", field="target"
            )
        channel = grpc.aio.insecure_channel(target, options=OPTIONS)
        return lambda: channel


class _SecureSource:
    """A channel that is replaced when the certificates have changed.

    Calls in progress stay on the channel that they began on; it closes when the last reference to
    it goes, which is the end of those calls or the change after next.
    """

    def __init__(self, target: str, files: CertificateFiles, host: str | None) -> None:
        self._target = target
        self._files = files
        self._options = OPTIONS
        if host is not None:
            self._options = (*OPTIONS, ("grpc.ssl_target_name_override", host))
        self._certificates: Certificates | None = None
        self._channels: list[grpc.aio.Channel] = []

    def channel(self) -> grpc.aio.Channel:
        newest = self._files.current()
        if newest is not self._certificates:
            self._certificates = newest
            fresh = grpc.aio.secure_channel(
                self._target, channel_credentials(newest), options=self._options
            )
            self._channels = [*self._channels[-1:], fresh]
        return self._channels[-1]


def _joined(host: Any, port: Any) -> str:
    return f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}"
