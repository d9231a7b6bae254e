"""What is taken from a cluster, page by page, whatever goes wrong."""

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import pytest

from libs.domain.errors import Forbidden, JoinerError, NotFound, RevisionGone, Unavailable
from libs.kube.api import JSON
from libs.kube.dump.capturing import PAGE, Captured, Wish, capture

CORE = {"pods": "Pod", "nodes": "Node", "secrets": "Secret", "configmaps": "ConfigMap"}
CORE |= {"namespaces": "Namespace", "events": "Event"}
GROUPS = {
    "apps/v1": {"deployments": "Deployment"},
    "rbac.authorization.k8s.io/v1": {"clusterroles": "ClusterRole"},
    "karpenter.k8s.aws/v1": {"ec2nodeclasses": "EC2NodeClass"},
    "shop.example.com/v1": {"orders": "Order"},
    "apiextensions.k8s.io/v1": {"customresourcedefinitions": "CustomResourceDefinition"},
}


class Server:
    """A server whose answers are given; notes what it is asked for."""

    def __init__(self, **items: list[dict[str, Any]]) -> None:
        self.items = items
        self.asked: list[str] = []
        self.errors: dict[str, JoinerError] = {}
        self.forgets_after = -1
        """How many pages a list has before the server forgets where it began."""

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        assert (method, body, content_type) == ("GET", None, JSON)
        self.asked.append(path)
        if path in self.errors:
            raise self.errors[path]
        return json.dumps(self._answer(path, query or {})).encode()

    def watch(self, path: str, *, query: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        raise NotImplementedError

    def _answer(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        if path == "/version":
            return {"gitVersion": "v1.36.2"}
        if path == "/apis":
            return {"groups": [{"preferredVersion": {"groupVersion": one}} for one in GROUPS]}
        served = {"/api/v1": CORE, **{f"/apis/{one}": kinds for one, kinds in GROUPS.items()}}
        if path in served:
            return {"resources": [_announced(*one) for one in served[path].items()]}
        found = self.items.get(path.rpartition("/")[2], [])
        start = int(query.get("continue", 0))
        end = start + int(query["limit"]) if "limit" in query else len(found)
        if start and self.forgets_after >= 0:
            raise RevisionGone("the provided continue parameter is too old")
        more = {"continue": str(end)} if end < len(found) else {}
        return {"metadata": more, "items": found[start:end]}


def _announced(plural: str, kind: str) -> dict[str, Any]:
    return {"name": plural, "kind": kind, "namespaced": True, "verbs": ["get", "list", "watch"]}


def items(*names: str) -> list[dict[str, Any]]:
    return [{"metadata": {"name": name, "uid": name}} for name in names]


async def captured(server: Server, **wish: Any) -> Captured:
    return await capture(server, Wish(**wish))


def kinds(found: Captured) -> list[str]:
    return [one["kind"] for one in found.objects]


async def test_only_what_an_autoscaler_sees_is_asked_for() -> None:
    server = Server(pods=items("a"), nodes=items("n"), namespaces=items("default"))

    found = await captured(server)

    assert kinds(found) == ["Namespace", "Node", "Pod"]
    assert found.counts == {"namespaces": 1, "nodes": 1, "pods": 1}
    assert found.server_version == "v1.36.2"
    assert [one["apiVersion"] for one in found.objects] == ["v1"] * 3
    asked = {path.rpartition("/")[2] for path in server.asked}
    assert not asked & {"secrets", "configmaps", "events", "clusterroles", "orders"}
    assert "ec2nodeclasses" in asked


async def test_definitions_are_those_of_what_is_taken() -> None:
    groups = ("karpenter.sh", "shop.example.com", "karpenter.k8s.aws", "other.example.com")
    crds = [{"metadata": {"name": one, "uid": one}, "spec": {"group": one}} for one in groups]
    server = Server(customresourcedefinitions=crds, orders=items("o"))

    plain = await captured(server)
    more = await captured(server, also=frozenset({"shop.example.com"}))

    assert [one["metadata"]["name"] for one in plain.objects] == [
        "karpenter.sh",
        "karpenter.k8s.aws",
    ]
    assert kinds(more) == ["CustomResourceDefinition"] * 3 + ["Order"]


async def test_long_lists_are_read_page_by_page() -> None:
    names = [f"p{number}" for number in range(2 * PAGE + 1)]
    server = Server(pods=items(*names))

    found = await captured(server)

    assert [one["metadata"]["name"] for one in found.objects] == names
    assert server.asked.count("/api/v1/pods") == 3


async def test_a_list_whose_beginning_is_forgotten_is_read_anew() -> None:
    names = [f"p{number}" for number in range(PAGE + 1)]
    server = Server(pods=items(*names))
    server.forgets_after = 1

    found = await captured(server)

    assert [one["metadata"]["name"] for one in found.objects] == names


@pytest.mark.parametrize(
    ("error", "missing"),
    [
        pytest.param(Forbidden("not yours"), {"pods": "not yours"}, id="forbidden"),
        pytest.param(Unavailable("busy"), {"pods": "busy"}, id="unavailable"),
        pytest.param(NotFound("gone"), {}, id="withdrawn"),
    ],
)
async def test_what_cannot_be_read_costs_nothing_else(
    error: JoinerError, missing: dict[str, str]
) -> None:
    server = Server(pods=items("a"), nodes=items("n"))
    server.errors["/api/v1/pods"] = error

    found = await captured(server)

    assert kinds(found) == ["Node"]
    assert found.missing == missing


async def test_an_api_that_is_down_is_named() -> None:
    server = Server(nodes=items("n"))
    server.errors["/apis/apps/v1"] = Unavailable("no endpoints")

    found = await captured(server)

    assert (kinds(found), found.missing) == (["Node"], {"apps/v1": "no endpoints"})


async def test_without_discovery_there_is_no_dump() -> None:
    server = Server()
    server.errors["/apis"] = Forbidden("who are you")

    with pytest.raises(Forbidden):
        await captured(server)
