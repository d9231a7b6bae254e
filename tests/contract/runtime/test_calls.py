"""Calls of all four kinds mean the same over sockets and in memory."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from libs.domain import errors
from libs.runtime.authorization import AuthorizationTable
from libs.runtime.timeouts import CallDeadlines
from tests.contract.runtime.echo import SERVICE
from tests.contract.runtime.transports import Options, Transport, error_of, on_both, outcome

TYPES = (
    errors.NotFound,
    errors.AlreadyExists,
    errors.StaleRevision,
    errors.RevisionGone,
    errors.NotReady,
    errors.Unsupported,
    errors.Forbidden,
    errors.Unavailable,
)


@on_both
async def test_all_four_kinds_carry_their_messages(transport: Transport) -> None:
    async with transport(Options()) as world:
        assert await world.stub.One(b"hello") == b"hello"
        assert [item async for item in world.stub.Many(b"3")] == [b"0", b"1", b"2"]
        assert await world.stub.Collect(iter([b"a", b"b"])) == b"a,b"
        assert [item async for item in world.stub.Chat(iter([b"x", b"y"]))] == [b"x", b"y"]


@on_both
async def test_a_bidirectional_call_is_written_and_read_in_turns(transport: Transport) -> None:
    async with transport(Options()) as world:
        call = world.stub.Chat()
        await call.write(b"ping")
        first = await call.read()
        await call.done_writing()

        assert first == b"ping"
        assert await call.read() is grpc.aio.EOF
        assert await call.code() is grpc.StatusCode.OK


@on_both
@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
async def test_a_domain_error_arrives_as_itself(
    transport: Transport, kind: type[errors.JoinerError]
) -> None:
    async with transport(Options()) as world:
        calls: tuple[Callable[[], Awaitable[Any]], ...] = (
            lambda: world.stub.One(b""),
            lambda: world.stub.Collect(iter([b""])),
            lambda: anext(aiter(world.stub.Many(b"2"))),
            lambda: anext(aiter(world.stub.Chat(iter([b"a"])))),
        )
        for call in calls:
            world.echo.fail_next(kind('node "a" says no'))
            error = await error_of(call())

            assert type(error) is kind
            assert str(error) == 'node "a" says no'


@on_both
async def test_the_field_of_bad_input_arrives_too(transport: Transport) -> None:
    async with transport(Options()) as world:
        world.echo.fail_next(errors.InvalidRequest("must be ≥ 0", field="pods[3].requests.cpu"))
        error = await error_of(world.stub.One(b""))

        assert isinstance(error, errors.InvalidRequest)
        assert error.field == "pods[3].requests.cpu"
        assert error.detail == "must be ≥ 0"


@on_both
async def test_a_stream_that_fails_midway_gives_what_came_before(transport: Transport) -> None:
    async with transport(Options()) as world:
        seen = []

        async def read() -> None:
            async for message in world.stub.Chat(iter([b"good", b"bad", b"never"])):
                seen.append(message)  # noqa: PERF401  # what was seen before the error matters

        error = await error_of(read())

        assert seen == [b"good"]
        assert isinstance(error, errors.InvalidRequest)


@on_both
async def test_writing_to_a_failed_call_raises_its_error(transport: Transport) -> None:
    async with transport(Options()) as world:
        call = world.stub.Chat()
        await call.write(b"bad")
        await error_of(call.read())

        assert isinstance(await error_of(call.write(b"more")), errors.InvalidRequest)


@on_both
async def test_an_unexpected_failure_is_logged_once_and_not_leaked(
    transport: Transport, caplog: pytest.LogCaptureFixture
) -> None:
    async with transport(Options()) as world:
        world.echo.fail_next(KeyError("password"))
        error = await error_of(world.stub.One(b""))

        assert type(error) is errors.JoinerError
        assert "password" not in str(error)
        logged = [record for record in caplog.records if record.levelname == "ERROR"]
        assert [record.getMessage() for record in logged] == ["call failed"]
        assert logged[0].exc_info is not None


@on_both
async def test_garbage_is_bad_input(transport: Transport) -> None:
    async with transport(Options()) as world:
        error = await error_of(world.stub.One(b"garbage"))

        assert isinstance(error, errors.InvalidRequest)
        assert "no readable message" in str(error)


@on_both
async def test_an_unknown_method_is_unsupported(transport: Transport) -> None:
    async with transport(Options()) as world:
        call: Any = world.channel.unary_unary(f"/{SERVICE}/Nothing")

        assert isinstance(await error_of(call(b"")), errors.Unsupported)


@on_both
async def test_an_identity_without_a_row_may_call_nothing(transport: Transport) -> None:
    table = AuthorizationTable(rows={"watcher": frozenset({"*"})})
    async with transport(Options(table=table)) as world:
        for call in (world.stub.One(b""), anext(aiter(world.stub.Many(b"1")))):
            error = await error_of(call)

            assert isinstance(error, errors.Forbidden)


@on_both
async def test_a_method_outside_the_row_is_forbidden(transport: Transport) -> None:
    table = AuthorizationTable(rows={"local": frozenset({f"/{SERVICE}/One"})})
    async with transport(Options(table=table)) as world:
        assert await world.stub.One(b"who") == b"local"
        assert isinstance(await error_of(world.stub.Collect(iter([]))), errors.Forbidden)


@on_both
async def test_every_call_has_a_deadline(transport: Transport) -> None:
    deadlines = CallDeadlines(unary=timedelta(seconds=7), stream=timedelta(seconds=70))
    async with transport(Options(outgoing=deadlines)) as world:
        await world.stub.One(b"")
        await world.stub.Collect(iter([]))
        await world.stub.One(b"", timeout=3)
        remaining = [span for span in world.echo.remaining if span is not None]

        assert [round(span) for span in remaining] == [7, 70, 3]


@on_both
async def test_a_call_that_hangs_ends_at_its_deadline(transport: Transport) -> None:
    async with transport(Options()) as world:
        error = await error_of(world.stub.One(b"hang", timeout=0.05))
        await world.echo.cancelled.wait()

        assert isinstance(error, errors.Unavailable)
        assert "/joiner.test.Echo/One" in str(error)


@on_both
async def test_the_server_bounds_a_call_without_a_deadline(transport: Transport) -> None:
    incoming = CallDeadlines(unary=timedelta(seconds=0.05))
    outgoing = CallDeadlines(unary=timedelta(hours=1))
    async with transport(Options(incoming=incoming, outgoing=outgoing)) as world:
        inner = world.channel._source()  # type: ignore[attr-defined]  # a client with no default
        call = inner.unary_unary(f"/{SERVICE}/One")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(b"hang")

        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


@on_both
async def test_cancelling_the_call_cancels_the_servicer(transport: Transport) -> None:
    async with transport(Options()) as world:
        task = asyncio.ensure_future(world.stub.One(b"hang"))
        await world.echo.entered.wait()
        task.cancel()
        await world.echo.cancelled.wait()

        with pytest.raises(asyncio.CancelledError):
            await task


@on_both
async def test_a_stopped_server_is_unavailable(transport: Transport) -> None:
    async with transport(Options()) as world:
        await world.server.stop(None)

        assert isinstance(await error_of(world.stub.One(b"")), errors.Unavailable)


@on_both
async def test_draining_ends_streams_and_lets_unary_calls_finish(transport: Transport) -> None:
    async with transport(Options()) as world:
        stream = world.stub.Many(b"1")
        assert await stream.read() == b"0"
        world.guard.drain()

        assert isinstance(await error_of(stream.read()), errors.Unavailable)
        assert await world.stub.One(b"still") == b"still"
        assert isinstance(await error_of(world.stub.Many(b"2").read()), errors.Unavailable)


@on_both
async def test_draining_ends_a_stream_even_in_the_middle_of_its_first_message(
    transport: Transport,
) -> None:
    async with transport(Options()) as world:
        world.echo.on_begin = world.guard.drain
        call = world.stub.Many(b"1", timeout=5)
        messages = [await outcome(call.read()) for _ in range(2)]

        assert messages[0] == b"0"
        assert isinstance(messages[1], errors.Unavailable)
        assert str(messages[1]) == "the server is stopping"


@on_both
async def test_calls_are_counted_by_method_and_code(transport: Transport) -> None:
    async with transport(Options()) as world:
        await world.stub.One(b"")
        world.echo.fail_next(errors.StaleRevision("old"))
        await error_of(world.stub.One(b""))

        for code in ("OK", "ABORTED"):
            labels = {"method": f"/{SERVICE}/One", "code": code}
            assert world.registry.get_sample_value("joiner_grpc_served_total", labels) == 1.0


@on_both
async def test_health_names_follow_the_board(transport: Transport) -> None:
    async with transport(Options()) as world:
        stub: Any = health_pb2_grpc.HealthStub(world.channel)
        await world.health.set("snapshot/home", True)
        answer = await stub.Check(health_pb2.HealthCheckRequest(service="snapshot/home"))
        error = await error_of(stub.Check(health_pb2.HealthCheckRequest(service="other")))

        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        assert isinstance(error, errors.NotFound)


@on_both
async def test_a_health_watch_sees_a_change(transport: Transport) -> None:
    async with transport(Options()) as world:
        stub: Any = health_pb2_grpc.HealthStub(world.channel)
        await world.health.set("x", False)
        watch = stub.Watch(health_pb2.HealthCheckRequest(service="x"))
        before = await watch.read()
        await world.health.set("x", True)
        after = await watch.read()

        assert before.status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert after.status == health_pb2.HealthCheckResponse.SERVING
