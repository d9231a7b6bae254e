"""gRPC servers as every service runs them: guarded, with limits, health, reflection and channelz.

`register` is shared with the in-memory transport, which lacks only what needs a socket.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import grpc
from grpc_channelz.v1 import channelz
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from libs.runtime.guard import Guard, GuardInterceptor, Handler
from libs.runtime.health import Health

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
"""Both ways. gRPC's default of 4 MiB is less than one full snapshot of a large cluster (about 20 MB
for 150,000 pods); this leaves an order of magnitude, and still bounds what one caller can make us
hold."""

Registration = Callable[[grpc.aio.Server], None]
"""Puts one servicer on a server: `partial(add_SolverServiceServicer_to_server, servicer)`."""

OPTIONS: Sequence[tuple[str, Any]] = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.so_reuseport", 0),  # a second process on the same port must fail, not share its calls
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),  # our clients ping each 30 s
    ("grpc.keepalive_permit_without_calls", 1),
)


def new_server(guard: Guard) -> grpc.aio.Server:
    """Return a server without address or servicers, all of whose methods will be guarded."""
    return grpc.aio.server(interceptors=[GuardInterceptor(guard)], options=OPTIONS)


def bind(server: grpc.aio.Server, address: str, credentials: grpc.ServerCredentials | None) -> int:
    """Bind `host:port` and return the port; without credentials the listener is plaintext.

    Raises:
        RuntimeError: the address cannot be bound.
    """
    if credentials is None:
        return server.add_insecure_port(address)
    return server.add_secure_port(address, credentials)


def register(
    server: grpc.aio.Server, registrations: Sequence[Registration], health: Health
) -> tuple[str, ...]:
    """Put the servicers and the health service on a server; return the names of all services."""
    recorder = _NameRecorder(server)
    for registration in registrations:
        registration(cast(grpc.aio.Server, recorder))
    health_pb2_grpc.add_HealthServicer_to_server(health.servicer, cast(grpc.aio.Server, recorder))
    return tuple(recorder.names)


def add_introspection(server: grpc.aio.Server, names: Sequence[str]) -> None:
    """Add reflection of the named services, and channelz."""
    reflection.enable_server_reflection((*names, reflection.SERVICE_NAME), server)
    channelz.add_channelz_servicer(server)


class _NameRecorder:
    """Passes registrations on and notes the services' names, which generated code does not give."""

    def __init__(self, server: grpc.aio.Server) -> None:
        self._server = server
        self.names: list[str] = []

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        self._server.add_generic_rpc_handlers(handlers)

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Handler]) -> None:
        self.names.append(service)
        self._server.add_registered_method_handlers(service, handlers)
