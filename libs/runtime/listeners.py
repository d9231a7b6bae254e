"""The gRPC listeners that the settings ask for: main always, public if it is switched on.

Main: mutual TLS and the authorization table, or plaintext on loopback. Public: server TLS, only the
app's read-only methods, callers known by bearer token or by client certificate.
"""

from pathlib import Path

from libs.domain.errors import InvalidRequest
from libs.runtime import authorization, server, tls
from libs.runtime.app import App, Runtime
from libs.runtime.authorization import ANYONE, Authenticate, AuthorizationTable
from libs.runtime.guard import Guard
from libs.runtime.metrics import ServerMetrics
from libs.runtime.runtime_settings import RuntimeSettings
from libs.runtime.serving import Listener
from libs.runtime.timeouts import CallDeadlines

_HEALTH = "/grpc.health.v1.Health/*"


def open_listeners(
    app: App, runtime: Runtime, certificates: tls.CertificateFiles | None
) -> tuple[Listener, ...]:
    """Bind every listener of the process; none is started.

    Raises:
        InvalidRequest: a file that the settings name cannot be used.
        RuntimeError: an address cannot be bound.
    """
    metrics = ServerMetrics(runtime.metrics)
    main = _main(app, runtime, certificates, metrics)
    if not runtime.settings.public_listen:
        return (main,)
    if not app.public_methods:
        raise InvalidRequest("this service has no public methods", field="public_listen")
    return main, _public(app, runtime, certificates, metrics)


def incoming_deadlines(settings: RuntimeSettings) -> CallDeadlines:
    """Return what an incoming call gets that brings no deadline."""
    return CallDeadlines(unary=settings.call_limit, stream=settings.stream_lifetime)


def outgoing_deadlines(settings: RuntimeSettings) -> CallDeadlines:
    """Return what an outgoing call gets that names no deadline."""
    return CallDeadlines(unary=settings.call_timeout, stream=settings.stream_lifetime)


def _main(
    app: App, runtime: Runtime, certificates: tls.CertificateFiles | None, metrics: ServerMetrics
) -> Listener:
    settings = runtime.settings
    table = authorization.LOOPBACK_ONLY
    if settings.authorization_file is not None:
        table = authorization.parse_table(_text(settings.authorization_file, "authorization_file"))
    guard = Guard(table=table, deadlines=incoming_deadlines(settings), metrics=metrics)
    grpc_server = server.new_server(guard)
    services = server.register(grpc_server, app.servicers, runtime.health)
    server.add_introspection(grpc_server, services)
    port = server.bind(
        grpc_server, settings.listen, tls.server_credentials(certificates) if certificates else None
    )
    return Listener(server=grpc_server, guard=guard, services=services, port=port)


def _public(
    app: App, runtime: Runtime, certificates: tls.CertificateFiles | None, metrics: ServerMetrics
) -> Listener:
    settings = runtime.settings
    files = certificates
    if settings.public_tls_dir is not None:
        files = tls.CertificateFiles(settings.public_tls_dir)
    if files is None:  # RuntimeSettings refuses this
        raise InvalidRequest("must be set for a public listener", field="public_tls_dir")
    authenticate: Authenticate = authorization.by_certificate
    if settings.public_tokens_file is not None:
        tokens = _text(settings.public_tokens_file, "public_tokens_file")
        authenticate = authorization.by_token(authorization.parse_tokens(tokens))
    guard = Guard(
        authenticate=authenticate,
        table=AuthorizationTable(rows={ANYONE: app.public_methods | {_HEALTH}}),
        deadlines=incoming_deadlines(settings),
        metrics=metrics,
    )
    grpc_server = server.new_server(guard)
    services = server.register(grpc_server, app.servicers, runtime.health)
    credentials = tls.server_credentials(files, require_client=settings.public_tokens_file is None)
    port = server.bind(grpc_server, settings.public_listen, credentials)
    return Listener(server=grpc_server, guard=guard, services=services, port=port)


def _text(path: Path, field: str) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"{path} cannot be read: {error}", field=field) from error
