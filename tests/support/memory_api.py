"""A line to Kubernetes that tells a test of mutations, and the API server of a cluster in memory.

`CountingKubeApi` lets a test end a service just before or just after any of its mutations.
"""

import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import cache
from typing import Any

from libs.kube.api import JSON, KubeApi
from libs.kube.crd_files import read_crds
from libs.runtime.app import new_id
from libs.runtime.clock import Clock
from libs.runtime.randomness import Random
from services.simulator.core.api.server import ApiServer
from services.simulator.memory_api import MemoryKubeApi

__all__ = ["MUTATIONS", "CountingKubeApi", "MemoryKubeApi", "new_server"]

MUTATIONS = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class CountingKubeApi:
    """Another port, whose every mutation happens within `noted(what)`; `what` is method and path.

    Entered just before it is sent, left just after it was carried out and before its answer is
    seen. What is raised there is raised in the caller's place.
    """

    def __init__(
        self, api: KubeApi, noted: Callable[[str], contextlib.AbstractContextManager[None]]
    ) -> None:
        self._api = api
        self._noted = noted

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        """Pass on one request."""
        mutates = method in MUTATIONS
        with self._noted(f"{method} {path}") if mutates else contextlib.nullcontext():
            return await self._api.request(
                method, path, query=query, body=body, content_type=content_type
            )

    def watch(self, path: str, *, query: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        """Pass on a watch."""
        return self._api.watch(path, query=query)


@cache
def _crds() -> tuple[dict[str, Any], ...]:
    return tuple(read_crds().values())


def new_server(clock: Clock, seed: int = 0, plugins: frozenset[str] = frozenset()) -> ApiServer:
    """Return an API server on simulated time, with our CRDs, that makes the same ids each run."""
    random = Random(seed)
    server = ApiServer(
        clock.now,
        lambda: new_id(random),
        lambda: f"{random.randrange(36**5):05x}"[-5:],
        plugins=plugins,
    )
    for crd in _crds():
        server.direct.create("customresourcedefinitions.apiextensions.k8s.io", crd)
    return server
