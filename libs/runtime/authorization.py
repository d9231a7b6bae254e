"""Who calls, and which methods that identity may call: identity by method, default deny.

The identity of a client certificate is its first subject alternative name that is no IP address,
or else its common name. A caller on a plaintext listener, which exists on loopback only, is
`local`. Servicers read the identity of the call they are in with `caller()`.
"""

import contextvars
import hmac
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import grpc

from libs.domain.errors import Forbidden, InvalidRequest

LOCAL = "local"
ANYONE = "*"

Authenticate = Callable[["grpc.aio.ServicerContext[Any, Any]"], str]

_caller: contextvars.ContextVar[str] = contextvars.ContextVar("joiner_caller")


def caller() -> str:
    """Return the identity of the call that is being served."""
    return _caller.get()


def set_caller(identity: str) -> None:
    """Record the identity for the rest of the current call; used by the guard alone."""
    _caller.set(identity)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationTable:
    """Rows of identity → methods: `/package.Service/Method`, `/package.Service/*` or `*`.

    The row `*` holds for every authenticated identity.
    """

    rows: Mapping[str, frozenset[str]]

    def permits(self, identity: str, method: str) -> bool:
        """Return whether a row of this identity names the full method."""
        service = method.rpartition("/")[0]
        wanted = {method, f"{service}/*", "*"}
        return any(not wanted.isdisjoint(self.rows.get(row, ())) for row in (identity, ANYONE))


LOOPBACK_ONLY = AuthorizationTable(rows={LOCAL: frozenset({"*"})})
"""The table of a plaintext listener: whoever is on this machine may call everything."""


def parse_table(text: str) -> AuthorizationTable:
    """Read a table from YAML.

    Raises:
        InvalidRequest: with the row that is not an identity with a list of methods.
    """
    rows: dict[str, frozenset[str]] = {}
    for identity, methods in _mapping(text).items():
        if not isinstance(methods, list):
            raise InvalidRequest("must be a list of methods", field=identity)
        for index, method in enumerate(methods):
            if not isinstance(method, str) or not (method == "*" or _is_method(method)):
                raise InvalidRequest(
                    f"{method!r} is not /package.Service/Method, /package.Service/* or *",
                    field=f"{identity}[{index}]",
                )
        rows[identity] = frozenset(methods)
    return AuthorizationTable(rows=rows)


def parse_tokens(text: str) -> Mapping[str, str]:
    """Read identity → bearer token from YAML; a token shorter than 16 characters is refused."""
    tokens = _mapping(text)
    for identity, token in tokens.items():
        if not isinstance(token, str) or len(token) < 16:
            raise InvalidRequest("must be a token of at least 16 characters", field=identity)
    return tokens


def by_certificate(context: "grpc.aio.ServicerContext[Any, Any]") -> str:
    """Return the identity that the transport has proved.

    Raises:
        Forbidden: TLS without a client certificate that names anyone.
    """
    proof = context.auth_context()
    for key in ("x509_subject_alternative_name", "x509_common_name"):
        for name in proof.get(key, ()):
            text = name.decode(errors="replace")
            if not _is_address(text):
                return text
    if list(proof.get("transport_security_type", ())) == [b"insecure"]:
        return LOCAL
    raise Forbidden("the client certificate names nobody")


def by_token(tokens: Mapping[str, str]) -> Authenticate:
    """Return an authentication by `authorization: Bearer …` metadata."""

    def authenticate(context: "grpc.aio.ServicerContext[Any, Any]") -> str:
        metadata = dict(context.invocation_metadata() or ())
        scheme, _, given = str(metadata.get("authorization", "")).partition(" ")
        found = [
            identity
            for identity, token in tokens.items()
            if hmac.compare_digest(token.encode(), given.encode())
        ]
        if scheme.lower() != "bearer" or not found:
            raise Forbidden("a bearer token of this service is needed")
        return found[0]

    return authenticate


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_method(text: str) -> bool:
    parts = text.split("/")
    return len(parts) == 3 and parts[0] == "" and all(parts[1:])


def _mapping(text: str) -> dict[str, Any]:
    import yaml  # noqa: PLC0415  # a process without such a file starts sooner

    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidRequest(f"is not YAML: {error}") from error
    if not isinstance(document, dict) or not all(isinstance(key, str) for key in document):
        raise InvalidRequest("must be a mapping with an identity for each key")
    return document
