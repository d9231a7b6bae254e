"""A cluster whose gate is closed, and the hands of whoever asks."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

from services.simulator.core.api.access.audit import Level
from services.simulator.core.api.access.gate import Access, Mode
from services.simulator.core.api.access.users import ADMIN, AUTHENTICATED, User
from services.simulator.core.api.messages import Request, Response
from services.simulator.core.api.server import ApiServer

START = datetime(2030, 1, 1, tzinfo=UTC)
JANE = User(name="jane", uid="7", groups=("staff", AUTHENTICATED))
RBAC = "/apis/rbac.authorization.k8s.io/v1"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
AUTHENTICATION = "/apis/authentication.k8s.io/v1"
PODS = "/api/v1/namespaces/default/pods"


class Gated:
    """An API server with RBAC: `admin` may do everything, `jane` what she is given."""

    def __init__(self, mode: Mode = Mode.RBAC, level: Level = Level.METADATA) -> None:
        numbers = count(1)
        self.now = START
        self.log: list[dict[str, Any]] = []
        self.server = ApiServer(
            lambda: self.now,
            lambda: str(UUID(int=next(numbers))),
            lambda: f"{next(numbers):05d}",
            access=Access(
                mode=mode,
                tokens={"admin": ADMIN, "jane": JANE},
                audit=self.log.append,
                level=level,
            ),
        )

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str = "admin",
        as_: tuple[tuple[str, str], ...] = (),
        query: Mapping[str, str] | None = None,
    ) -> Response:
        types = {"PATCH": "application/merge-patch+json"}
        headers = {"content-type": types.get(method, "application/json"), "user-agent": "test/1"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        return self.server.handle(
            Request(
                method=method,
                path=path,
                query={name: (value,) for name, value in (query or {}).items()},
                headers=headers,
                body=b"" if body is None else json.dumps(body).encode(),
                impersonation=as_,
                source="192.0.2.1",
            )
        )

    def ask(self, method: str, path: str, body: Any = None, **how: Any) -> Any:
        """Return the decoded answer, which must be a success."""
        answer = self.send(method, path, body, **how)
        assert answer.status < 300, answer.body
        return json.loads(answer.body)

    def refusal(self, method: str, path: str, body: Any = None, **how: Any) -> str:
        """Return the message of an answer that must be a 403."""
        answer = self.send(method, path, body, **how)
        assert answer.status == 403, answer.body
        return str(json.loads(answer.body)["message"])

    def grant(self, user: str, *rules: Mapping[str, Any], namespace: str = "") -> None:
        """Give a user a role of its own, everywhere or in a namespace."""
        place, prefix = (f"/namespaces/{namespace}", "") if namespace else ("", "cluster")
        name = f"of-{user}"
        self.ask(
            "POST", f"{RBAC}{place}/{prefix}roles", {"metadata": {"name": name}, "rules": rules}
        )
        kind = "Role" if namespace else "ClusterRole"
        self.bind(name, user, kind=kind, namespace=namespace)

    def bind(self, role: str, user: str, *, kind: str = "ClusterRole", namespace: str = "") -> None:
        """Bind a role to a user, everywhere or in a namespace."""
        place, prefix = (f"/namespaces/{namespace}", "") if namespace else ("", "cluster")
        body = {
            "metadata": {"name": f"{role}-to-{user}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
            "subjects": [{"kind": "User", "name": user}],
        }
        self.ask("POST", f"{RBAC}{place}/{prefix}rolebindings", body)


def may(verb: str, resource: str, *names: str, group: str = "") -> dict[str, Any]:
    """Return a rule."""
    rule: dict[str, Any] = {"verbs": [verb], "apiGroups": [group], "resources": [resource]}
    return {**rule, "resourceNames": list(names)} if names else rule
