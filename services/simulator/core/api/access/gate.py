"""The gate before every request: who asks, whether they may, and that it is written down.

Where nothing is switched on it costs two look-ups: whoever shows no token is the administrator.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from services.simulator.core.api.access import bootstrap, impersonation, reviews, token_requests
from services.simulator.core.api.access.attributes import Attributes, attributes_of
from services.simulator.core.api.access.audit import AuditLog, Level, Trail, Write
from services.simulator.core.api.access.authorizer import AlwaysAllow, Authorizer
from services.simulator.core.api.access.credentials import Credentials
from services.simulator.core.api.access.escalation import Escalation
from services.simulator.core.api.access.rbac import Rbac
from services.simulator.core.api.access.refusals import forbidden
from services.simulator.core.api.access.reviews import Desk
from services.simulator.core.api.access.users import ADMIN, ANONYMOUS, User
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.messages import Request, Response
from services.simulator.core.api.rendering import failure
from services.simulator.core.api.routing import Route
from services.simulator.core.api.store import Store

Serve = Callable[[Request], Response]
"""Answers a request; raises `ApiError`."""


class Mode(StrEnum):
    """What decides about requests."""

    ALWAYS_ALLOW = "AlwaysAllow"
    RBAC = "RBAC"


def _no_users() -> Mapping[str, User]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may come in, what for, and who is told."""

    mode: Mode = Mode.ALWAYS_ALLOW
    tokens: Mapping[str, User] = field(default_factory=_no_users)
    """Users by bearer token. Without any, and without RBAC, whoever comes is the administrator."""

    audit: Write | None = None
    level: Level = Level.METADATA


OPEN = Access()


class Gate:
    """Lets requests through to the rest of the API."""

    def __init__(self, store: Store, access: Access) -> None:
        """Stand before a store; with RBAC, its first roles and bindings are stored."""
        self._store = store
        self._authorizer: Authorizer = AlwaysAllow()
        stranger: User | None = None if access.tokens else ADMIN
        if access.mode is Mode.RBAC:
            bootstrap.install(store)
            rbac = Rbac(store.storage)
            store.guard = Escalation(store.storage, rbac)
            self._authorizer, stranger = rbac, ANONYMOUS
        self._credentials = Credentials(store, access.tokens, stranger)
        self._audit: AuditLog | None = None
        if access.audit is not None:
            sources = store.sources
            self._audit = AuditLog(access.audit, access.level, sources.now, sources.uids)
        self._open = stranger is ADMIN and self._audit is None
        self._desk = Desk(
            authorizer=self._authorizer,
            credentials=self._credentials,
            timestamp=store.timestamp,
        )

    def handle(self, request: Request, serve: Serve) -> Response:
        """Answer a request by `serve`, or refuse it."""
        if self._open and not request.impersonation and "authorization" not in request.headers:
            return _answered(serve, request)
        asked = attributes_of(request)
        if self._audit is None:
            return _answered(lambda one: serve(self._admit(one, asked, None)), request)
        trail = self._audit.begin(request, asked)
        answer = _answered(lambda one: serve(self._admit(one, asked, trail)), request)
        trail.end(answer)
        return replace(answer, headers={**answer.headers, "Audit-Id": trail.identifier})

    def review(self, request: Request) -> Response | None:
        """Return the answer to a review, None if the request is none."""
        return reviews.answer(self._desk, request)

    def token(self, request: Request, route: Route) -> Response:
        """Answer the request of a service account's token."""
        return token_requests.answer(self._store, self._credentials, request, route)

    def _admit(self, request: Request, asked: Attributes, trail: Trail | None) -> Request:
        """Return the request with its user; raises 400, 401, 403."""
        user = self._credentials.authenticate(request.headers.get("authorization", ""))
        if trail is not None:
            trail.received(user)
        wanted = impersonation.wanted_user(request) if request.impersonation else None
        if wanted is not None:
            authorize = self._authorizer.authorize
            user, constraint = impersonation.impersonated(user, wanted, asked, authorize)
            if trail is not None:
                trail.becomes(user, constraint)
        decision = self._authorizer.authorize(user, asked)
        if trail is not None:
            trail.decided(allowed=decision.allowed, reason=decision.reason)
        if not decision.allowed:
            raise forbidden(user, asked, decision.reason)
        return request if user is request.user else request.by(user)


def _answered(serve: Serve, request: Request) -> Response:
    try:
        return serve(request)
    except ApiError as error:
        return failure(error, request.headers.get("accept", ""))
