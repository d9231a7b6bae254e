"""A simulated cluster for tests: fixed time that moves by hand, countable identifiers."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

from services.simulator.core.api.messages import Request, Response
from services.simulator.core.api.server import ApiServer

START = datetime(2030, 1, 1, tzinfo=UTC)


@dataclass
class Cluster:
    """An API server with the hands of a test on its clock."""

    plugins: frozenset[str] = frozenset()
    now: datetime = START
    server: ApiServer = field(init=False)

    def __post_init__(self) -> None:
        numbers = count(1)
        self.server = ApiServer(
            lambda: self.now,
            lambda: str(UUID(int=next(numbers))),
            lambda: f"{next(numbers):05d}",
            plugins=self.plugins,
        )

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def send(
        self, method: str, path: str, body: Any = None, *, accept: str = "", **query: str
    ) -> Response:
        types = {"PATCH": "application/merge-patch+json"}
        return self.server.handle(
            Request(
                method=method,
                path=path,
                query={name: (value,) for name, value in query.items()},
                headers={"content-type": types.get(method, "application/json"), "accept": accept},
                body=b""
                if body is None
                else body
                if isinstance(body, bytes)
                else json.dumps(body).encode(),
            )
        )


def a_pod(name: str = "p", **spec: Any) -> dict[str, Any]:
    labels = spec.pop("labels", {})
    owners = spec.pop("owners", [])
    meta = {"name": name, "namespace": "default", "labels": labels, "ownerReferences": owners}
    return {"metadata": meta, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


def a_config_map(name: str = "c", **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}, "data": data}
