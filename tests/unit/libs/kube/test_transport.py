"""The HTTP door: against the simulator's own HTTP edge, and against servers that misbehave."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from aiohttp import web

from libs.domain.errors import (
    AlreadyExists,
    Forbidden,
    InvalidRequest,
    JoinerError,
    NotFound,
    RevisionGone,
    StaleRevision,
    Unavailable,
)
from libs.kube import documents
from libs.kube.answers import refusal
from libs.kube.api import NODES
from libs.kube.credentials import Credentials
from libs.kube.transport import HttpKubeApi, Timeouts, connect
from libs.runtime.clock import SystemClock
from services.simulator.http import new_runner
from tests.support.memory_api import new_server

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]

QUICK = Timeouts(
    connect=timedelta(seconds=1),
    read=timedelta(milliseconds=100),
    write=timedelta(milliseconds=100),
    silence=timedelta(milliseconds=100),
)


def write_kubeconfig(folder: Path, url: str, user: dict[str, object] | None = None) -> Path:
    """Write the kubeconfig of a server at `url` and return its path."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {"server": url}}],
        "users": [{"name": "me", "user": user or {}}],
    }
    file = folder / "kubeconfig"
    file.write_text(yaml.safe_dump(document))
    return file


@asynccontextmanager
async def serving(app: web.Application) -> AsyncIterator[str]:
    runner = web.AppRunner(app, shutdown_timeout=0.05, handler_cancellation=True)
    async with running(runner) as url:
        yield url


@asynccontextmanager
async def running(runner: web.BaseRunner) -> AsyncIterator[str]:
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def answering(answer: Answer, folder: Path, **user: object) -> AsyncIterator[HttpKubeApi]:
    """Give a door to a server that answers everything in one way."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with serving(app) as url:
        api = HttpKubeApi(Credentials(str(write_kubeconfig(folder, url, user))), QUICK)
        try:
            yield api
        finally:
            await api.close()


async def test_objects_and_watches_cross_real_sockets(tmp_path: Path) -> None:
    clock = SystemClock()
    async with (
        running(new_runner(new_server(clock), clock)) as url,
        connect(str(write_kubeconfig(tmp_path, url))) as api,
    ):
        made = await documents.create(api, NODES, {"metadata": {"name": "a"}})
        query = {"resourceVersion": made["metadata"]["resourceVersion"]}
        async with aclosing(api.watch(NODES.path(), query=query)) as events:
            await documents.create(api, NODES, {"metadata": {"name": "b"}})
            event = await anext(events)
        assert b'"name":"b"' in event.replace(b" ", b"")
        with pytest.raises(AlreadyExists):
            await documents.create(api, NODES, {"metadata": {"name": "a"}})
        with pytest.raises(NotFound):
            await documents.get(api, documents.Target(NODES, "c"))


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        (400, "BadRequest", InvalidRequest),
        (401, "Unauthorized", Forbidden),
        (403, "Forbidden", Forbidden),
        (404, "NotFound", NotFound),
        (405, "MethodNotAllowed", InvalidRequest),
        (409, "AlreadyExists", AlreadyExists),
        (409, "Conflict", StaleRevision),
        (410, "Expired", RevisionGone),
        (422, "Invalid", InvalidRequest),
        (429, "TooManyRequests", Unavailable),
        (500, "InternalError", Unavailable),
        (503, "ServiceUnavailable", Unavailable),
        (302, "", Unavailable),
    ],
)
def test_a_refusal_is_the_domain_error_of_its_code_and_reason(
    code: int, reason: str, expected: type[JoinerError]
) -> None:
    error = refusal(code, b'{"message": "no", "reason": "%s"}' % reason.encode())
    assert type(error) is expected
    assert str(error) == "no"


def test_an_invalid_object_names_its_first_field() -> None:
    body = b'{"message": "no", "details": {"causes": [{"field": "spec.replicas"}]}}'
    error = refusal(422, body)
    assert isinstance(error, InvalidRequest)
    assert error.field == "spec.replicas"


def test_an_answer_that_is_no_status_is_quoted() -> None:
    assert str(refusal(502, b"<html>bad gateway</html>")) == "<html>bad gateway</html>"


async def test_the_wait_that_a_server_asks_for_is_kept(tmp_path: Path) -> None:
    async def busy(request: web.Request) -> web.Response:
        return web.Response(status=429, headers={"Retry-After": "7"})

    async with answering(busy, tmp_path) as api:
        with pytest.raises(Unavailable) as caught:
            await api.request("GET", "/api/v1/nodes")
    assert caught.value.retry_after == timedelta(seconds=7)


async def silent(request: web.Request) -> web.Response:
    await asyncio.Event().wait()
    return web.Response()


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_server_that_does_not_answer_is_unavailable(tmp_path: Path, method: str) -> None:
    async with answering(silent, tmp_path) as api:
        with pytest.raises(Unavailable):
            await api.request(method, "/api/v1/nodes")


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_server_that_is_not_there_is_unavailable(tmp_path: Path, scheme: str) -> None:
    async with connect(str(write_kubeconfig(tmp_path, f"{scheme}://127.0.0.1:1"))) as api:
        with pytest.raises(Unavailable) as caught:
            await api.request("GET", "/api/v1/nodes")
    assert "cannot connect to 127.0.0.1:1" in str(caught.value)
    assert " object at 0x" not in str(caught.value)


def stream(*chunks: bytes, then_silent: bool = False) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk)
        if then_silent:
            await asyncio.Event().wait()
        return response

    return answer


async def watched(api: HttpKubeApi) -> list[bytes]:
    return [event async for event in api.watch("/api/v1/nodes", query={})]


async def test_events_are_whole_however_the_stream_is_cut(tmp_path: Path) -> None:
    long = b'{"type":"ADDED","object":"' + b"x" * 300_000 + b'"}'
    chunks = stream(b'{"type":', b'"A"}\n{"type":"B"}\n\n', long, b'\n{"trunc')
    async with answering(chunks, tmp_path) as api:
        assert await watched(api) == [b'{"type":"A"}', b'{"type":"B"}', long]


async def test_a_watch_on_which_nothing_more_is_heard_ends(tmp_path: Path) -> None:
    async with answering(stream(b'{"type":"A"}\n', then_silent=True), tmp_path) as api:
        assert await watched(api) == [b'{"type":"A"}']


async def test_a_watch_that_never_begins_is_unavailable(tmp_path: Path) -> None:
    async with answering(silent, tmp_path) as api:
        with pytest.raises(Unavailable):
            await watched(api)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        pytest.param(
            b'{"type":"ERROR","object":{"code":410,"message":"too old"}}\n',
            RevisionGone,
            id="revision gone",
        ),
        pytest.param(
            b'{"type": "ERROR", "object": {"code": 500}}\n', Unavailable, id="with blanks"
        ),
        pytest.param(b'{"type":"ERROR","object":7}\n', Unavailable, id="unreadable"),
    ],
)
async def test_an_error_event_is_raised(
    tmp_path: Path, event: bytes, expected: type[JoinerError]
) -> None:
    async with answering(stream(event), tmp_path) as api:
        with pytest.raises(expected):
            await watched(api)


async def test_an_expired_token_is_read_anew_once(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    tried: list[str] = []

    async def guarded(request: web.Request) -> web.Response:
        tried.append(request.headers.get("Authorization", ""))
        if tried[-1] == "Bearer new":
            return web.Response(body=b"{}")
        token.write_text("new")
        return web.Response(status=401)

    async with answering(guarded, tmp_path, tokenFile=str(token)) as api:
        assert await api.request("POST", "/api/v1/nodes", body=b"{}") == b"{}"
    assert tried == ["Bearer old", "Bearer new"]


async def test_an_identity_that_stays_refused_is_forbidden(tmp_path: Path) -> None:
    async def closed(request: web.Request) -> web.Response:
        return web.Response(status=401)

    async with answering(closed, tmp_path, token="wrong") as api:
        with pytest.raises(Forbidden):
            await api.request("GET", "/api/v1/nodes")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("contexts: [", id="no YAML"),
        pytest.param("current-context: nowhere\ncontexts: []\n", id="no such context"),
    ],
)
async def test_a_kubeconfig_that_cannot_be_used_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(text)
    with pytest.raises(InvalidRequest, match="kubeconfig"):
        await Credentials(str(file)).load()


async def test_a_kubeconfig_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="no such file"):
        await Credentials(str(tmp_path / "absent")).load()
