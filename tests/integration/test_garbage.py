"""Garbage to every method of every service: refused as bad input, and the loop goes on."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from google.protobuf.descriptor import MethodDescriptor
from joiner.solver.v1.solver_pb2 import SolveRequest
from joiner.watcher.v1.watcher_pb2 import GetSnapshotRequest
from joiner.watcher.v1.watcher_pb2_grpc import WatcherServiceStub

from libs.domain.errors import InvalidRequest, JoinerError, Unsupported
from libs.runtime.virtual import run_virtual
from tests.integration.story import NODES, in_a_cluster, live, scale_down, scale_up
from tests.support.cluster import Cluster, a_cluster
from tests.support.garbage import methods_of, mutant, noise, nonsense
from tests.support.sockets import SocketNetwork, run_hurried

SERVED = {
    "watcher-1": ("joiner.watcher.v1.WatcherService",),
    "solver-1": ("joiner.solver.v1.SolverService", "joiner.snapshot.v1.SnapshotSinkService"),
    "lifecycle-1": ("joiner.lifecycle.v1.LifecycleService",),
    "disruption-1": (
        "joiner.disruption.v1.DisruptionService",
        "joiner.snapshot.v1.SnapshotSinkService",
    ),
    "provider_kwok-1": ("joiner.provider.v1.CloudProviderService",),
}
METHODS = [
    (process, method)
    for process, services in SERVED.items()
    for service in services
    for method in methods_of(service)
]
_IDS = [f"{process}/{method.name}" for process, method in METHODS]

_REFUSED = (InvalidRequest, Unsupported)
"""The KWOK provider has no events, whatever is sent."""


@pytest.mark.parametrize(
    "sockets",
    [
        pytest.param(False, id="in memory"),
        pytest.param(True, id="over sockets", marks=pytest.mark.integration),
    ],
)
def test_bytes_that_are_no_message_are_refused_as_bad_input(sockets: bool) -> None:
    async def scenario() -> None:
        async with a_cluster(network=SocketNetwork() if sockets else None) as cluster:
            await cluster.start_all()
            for process, method in METHODS:
                for number in range(3):
                    with pytest.raises(_REFUSED):
                        await ask(cluster, process, method, noise(number, 40 * 30**number))

    if sockets:
        run_hurried(scenario())
    else:
        run_virtual(scenario())


@pytest.mark.parametrize(("process", "method"), METHODS, ids=_IDS)
def test_messages_without_sense_are_never_an_internal_error(
    process: str, method: MethodDescriptor
) -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.passed(10)
        for seed in range(60):
            answer = await answer_to(cluster, process, method, nonsense(method, seed))
            assert answer is not JoinerError, f"seed {seed}"

    in_a_cluster(scenario)


def test_a_field_gone_wrong_is_never_an_internal_error() -> None:
    async def scenario(cluster: Cluster) -> None:
        cluster.add_pool()
        await scale_up(cluster)
        await scale_down(cluster)
        for process, method in METHODS:
            honest = cluster.mutations.sent.get(path_of(method))
            has_fields = honest is not None and method.input_type.fields
            for seed in range(100 if has_fields else 0):
                answer = await answer_to(cluster, process, method, mutant(honest, seed))
                assert answer is not JoinerError, f"{method.full_name}, seed {seed}"

    in_a_cluster(scenario)


def test_a_snapshot_with_a_field_gone_wrong_is_never_an_internal_error() -> None:
    """Anyone may ask the solver about a cluster of their own, as they describe it."""

    async def scenario(cluster: Cluster) -> None:
        cluster.add_pool()
        await scale_up(cluster)
        await cluster.world.kill("lifecycle-1")  # so that pods still wait in the snapshot
        cluster.scale("new", 3)
        await cluster.passed(3)
        question = SolveRequest()
        question.snapshot.inline.CopyFrom(await newest_snapshot(cluster))
        solve = next(method for _, method in METHODS if method.name == "Solve")
        assert await answer_to(cluster, "solver-1", solve, question.SerializeToString()) is None

        for seed in range(300):
            answer = await answer_to(cluster, "solver-1", solve, mutant(question, seed))
            assert answer is not JoinerError, f"seed {seed}"

    in_a_cluster(scenario)


async def newest_snapshot(cluster: Cluster) -> Any:
    channel = cluster.world.network.seen_by("stranger").channel("watcher-1:1")
    answer = await WatcherServiceStub(channel).GetSnapshot(GetSnapshotRequest())
    return answer.snapshot


def test_the_loop_goes_on_under_garbage() -> None:
    async def scenario(cluster: Cluster) -> None:
        for process, method in METHODS:
            for seed in range(5):
                await answer_to(cluster, process, method, noise(seed, 50))
                await answer_to(cluster, process, method, nonsense(method, seed))

        await live(cluster)

        assert len(cluster.history().claims) == NODES

    in_a_cluster(scenario)


async def answer_to(
    cluster: Cluster, process: str, method: MethodDescriptor, request: bytes
) -> type[JoinerError] | None:
    """Return what kind of refusal a request meets, None if it is taken."""
    try:
        await ask(cluster, process, method, request)
    except JoinerError as error:
        return type(error)
    return None


async def ask(cluster: Cluster, process: str, method: MethodDescriptor, request: bytes) -> None:
    """Send one request, and end a stream at its first answer or after a while."""
    channel: Any = cluster.world.network.seen_by("stranger").channel(f"{process}:1")
    path = path_of(method)
    if method.client_streaming:
        await first(channel.stream_stream(path)(once(request), timeout=5))
    elif method.server_streaming:
        await first(channel.unary_stream(path)(request, timeout=5))
    else:
        await channel.unary_unary(path)(request, timeout=20)


async def once(request: bytes) -> AsyncIterator[bytes]:
    yield request


async def first(call: Any) -> None:
    async for _ in call:
        break
    call.cancel()


def path_of(method: MethodDescriptor) -> str:
    return f"/{method.containing_service.full_name}/{method.name}"
