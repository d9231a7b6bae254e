"""The weather over the API server: what befalls requests on their way, as one frozen value.

Scripts replace it, whoever carries requests to the server reads it. The server itself knows nothing
of it: to the object behind it a request that was refused was never sent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.messages import Request, Response
from services.simulator.core.api.rendering import failure
from services.simulator.core.api.routing import Route

_TOO_MANY = 429
_THROTTLED = b"Too many requests, please try again later.\n"
_REASONS = MappingProxyType(
    {
        400: "BadRequest",
        401: "Unauthorized",
        403: "Forbidden",
        404: "NotFound",
        409: "Conflict",
        410: "Expired",
        422: "Invalid",
        500: "InternalError",
        503: "ServiceUnavailable",
        504: "Timeout",
    }
)
_WORDS = MappingProxyType(
    {
        500: "an error on the server has prevented the request from succeeding",
        503: "the server is currently unable to handle the request",
        504: "the server was unable to return a response in the time allotted",
    }
)
_VERBS: Mapping[tuple[str, bool], str] = MappingProxyType(
    {
        ("GET", True): "get",
        ("GET", False): "list",
        ("POST", True): "create",
        ("POST", False): "create",
        ("PUT", True): "update",
        ("PATCH", True): "patch",
        ("DELETE", True): "delete",
        ("DELETE", False): "delete",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What matters of a request: who asks for what."""

    verb: str = ""
    resource: str = ""
    """`pods`, `nodeclaims.karpenter.sh`; empty for paths that are no resource."""
    client: str = ""
    """The user agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An answer that stands in for the server's own, for a share of some requests."""

    code: int
    share: float = 1.0
    resources: frozenset[str] = frozenset()
    """Empty: all; likewise verbs and clients."""
    verbs: frozenset[str] = frozenset()
    clients: tuple[str, ...] = ()
    """Beginnings of user agents."""
    retry_after: int | None = None
    """Seconds that clients are told to wait."""

    def concerns(self, asked: Asked) -> bool:
        """Tell whether the failure may befall a request."""
        return (
            (not self.resources or asked.resource in self.resources)
            and (not self.verbs or asked.verb in self.verbs)
            and (not self.clients or asked.client.startswith(self.clients))
        )

    def answer(self) -> Response:
        """Return the refusal; of too many requests as the filter says it that stands before all.

        Source: kube-apiserver 1.36, priority and fairness.
        """
        if self.code == _TOO_MANY:
            wait = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
            return Response(
                status=self.code,
                body=_THROTTLED,
                content_type="text/plain; charset=utf-8",
                headers={**wait, "X-Content-Type-Options": "nosniff"},
            )
        message = _WORDS.get(self.code, "the scenario script refuses this request")
        return failure(ApiError(self.code, _REASONS.get(self.code, "Unknown"), message))


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """What befalls requests now."""

    pauses: int = 0
    """How many reasons there are to answer nothing and to tell nothing; what hangs goes on when
    the last is gone."""
    failures: tuple[Failure, ...] = ()
    """The first that befalls a request counts."""

    @property
    def paused(self) -> bool:
        """Tell whether requests and watches hang."""
        return self.pauses > 0


FINE = Weather()


def asked_by(request: Request, route: Route | None) -> Asked:
    """Return what matters of a request; no route: a path that is no resource."""
    client = request.headers.get("user-agent", "")
    if route is None:
        return Asked(client=client)
    verb = _VERBS.get((request.method, bool(route.name)), "")
    if route.watch or (verb == "list" and request.flag("watch")):
        verb = "watch"
    return Asked(verb=verb, resource=route.resource.qualified, client=client)
