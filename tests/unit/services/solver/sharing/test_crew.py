"""When peers come and go, and who is taken for a question; on simulated time, peers in memory."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from libs.domain.snapshot import ClusterSnapshot, full
from libs.runtime.authorization import LOCAL
from libs.runtime.child import Child
from libs.runtime.virtual import run_virtual
from libs.snapshots.holder import SnapshotHolder
from services.solver.config import Settings
from services.solver.metrics import CrewMetrics
from services.solver.peer import build_peer
from services.solver.sharing.crew import Crew, CrewPolicy, Peer
from tests.support.builders import a_snapshot, pods
from tests.support.world import World, a_runtime

MADE = a_snapshot(pods=pods(3))
SNAPSHOT = replace(MADE, id=replace(MADE.id, cluster_id="home"))
MIB = 2**20
SECOND = timedelta(seconds=1)


class Peers:
    """Starts peers as services of a world; the first so many cannot be started."""

    def __init__(self, world: World, failing: int = 0) -> None:
        self._world = world
        self._failing = failing
        self.tried = 0
        self.running: list[str] = []

    @contextlib.asynccontextmanager
    async def spawn(self, module: str) -> AsyncIterator[Child]:
        self.tried += 1
        if self.tried <= self._failing:
            raise OSError("no room for a socket")
        name = f"peer-{self.tried}"
        await self._world.start(name, build_peer, Settings(), f"{name}:1")
        self.running.append(name)
        channel = self._world.network.seen_by(LOCAL).channel(f"{name}:1")
        try:
            yield Child(pid=self.tried, channel=channel, ended=asyncio.Event().wait)
        finally:
            self.running.remove(name)
            self._world.strike(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    world: World
    crew: Crew
    peers: Peers
    holder: SnapshotHolder

    async def push(self, snapshot: ClusterSnapshot) -> None:
        await self.holder.accept(LOCAL, full(snapshot), 1)

    async def until(self, holds: Callable[[], bool]) -> None:
        await self.world.until(holds, within=timedelta(hours=1), every=SECOND)


def play(act: Callable[[Scene], Coroutine[Any, Any, None]], failing: int = 0, **how: Any) -> None:
    """Let a crew that holds the snapshot work on simulated time."""
    policy = CrewPolicy(
        **{"processes": 2, "spare_bytes": lambda: None, "resident_bytes": lambda: MIB, **how}
    )

    async def scene() -> None:
        async with World() as world:
            runtime = a_runtime("solver", clock=world.clock)
            holder, peers = SnapshotHolder(clock=world.clock), Peers(world, failing)
            crew = Crew(peers.spawn, holder, runtime, policy, CrewMetrics(runtime.metrics))
            working = asyncio.create_task(crew.run(), name="crew")
            made = Scene(world=world, crew=crew, peers=peers, holder=holder)
            await made.push(SNAPSHOT)
            try:
                await act(made)
            finally:
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)
            assert peers.running == []

    run_virtual(scene())


@contextlib.contextmanager
def overlapping(crew: Crew, questions: int = 2) -> Any:
    with contextlib.ExitStack() as stack:
        for _ in range(questions):
            stack.enter_context(crew.turns(SNAPSHOT.id))
        yield


def test_who_is_alone_needs_nobody() -> None:
    async def act(scene: Scene) -> None:
        for _ in range(5):
            with scene.crew.turns(SNAPSHOT.id) as taken:
                assert taken == (None,)
                await scene.world.sleep(SECOND)
        assert scene.peers.tried == 0

    play(act)


def test_an_overlap_that_is_soon_over_is_worth_nobody() -> None:
    async def act(scene: Scene) -> None:
        for _ in range(5):
            with overlapping(scene.crew):
                await scene.world.sleep(SECOND / 20)
            await scene.world.sleep(SECOND)
        assert scene.peers.tried == 0

    play(act)


@pytest.mark.parametrize("processes", [2, 3, 5])
def test_there_are_never_more_than_the_setting_allows(processes: int) -> None:
    async def act(scene: Scene) -> None:
        for _ in range(60):
            with overlapping(scene.crew, questions=20):
                await scene.world.sleep(SECOND)
        assert len(scene.crew.peers) == scene.peers.tried == processes - 1

    play(act, processes=processes)


def test_a_question_with_parts_for_more_wants_more() -> None:
    async def act(scene: Scene) -> None:
        with scene.crew.turns(SNAPSHOT.id, 10) as taken:
            assert taken == (None,)
            await scene.until(lambda: len(scene.crew.peers) == 1)
        with scene.crew.turns(SNAPSHOT.id, 10) as taken:
            assert taken == (None, *scene.crew.peers)
        with scene.crew.turns(SNAPSHOT.id, 1) as taken:
            assert taken == (None,)

    play(act)


def test_who_has_least_to_do_is_taken_and_this_process_first() -> None:
    async def act(scene: Scene) -> None:
        with overlapping(scene.crew):
            await scene.until(lambda: len(scene.crew.peers) == 1)
        (peer,) = scene.crew.peers
        met: list[Peer | None] = []
        with contextlib.ExitStack() as stack:
            for _ in range(5):
                met += stack.enter_context(scene.crew.turns(SNAPSHOT.id))
        assert met == [None, peer, None, peer, None]
        assert peer.calls == 0

    play(act)


def test_a_peer_is_asked_only_about_what_it_holds() -> None:
    async def act(scene: Scene) -> None:
        with overlapping(scene.crew):
            await scene.until(lambda: len(scene.crew.peers) == 1)
        (peer,) = scene.crew.peers
        newer = replace(SNAPSHOT, id=replace(SNAPSHOT.id, revision=2))
        with scene.crew.turns(SNAPSHOT.id):
            for about, able in ((newer.id, None), (SNAPSHOT.id, peer), (None, peer)):
                with scene.crew.turns(about) as taken:
                    assert taken == (able,)
            await scene.push(newer)
            await scene.until(lambda: newer.id in peer.held)
            with scene.crew.turns(newer.id) as taken:
                assert taken == (peer,)
        assert scene.peers.tried == 1

    play(act)


def test_a_peer_that_is_not_asked_for_long_is_ended_and_comes_again() -> None:
    async def act(scene: Scene) -> None:
        for times in (1, 2):
            with overlapping(scene.crew):
                await scene.until(lambda: len(scene.crew.peers) == 1)
                with scene.crew.computing(scene.crew.peers[0]):
                    await scene.world.sleep(timedelta(hours=2))
            await scene.world.sleep(timedelta(minutes=9))
            assert len(scene.crew.peers) == 1
            await scene.until(lambda: not scene.crew.peers)
            assert (scene.peers.running, scene.peers.tried) == ([], times)

    play(act)


@pytest.mark.parametrize(("spare", "tried"), [(2 * MIB, 1), (MIB, 0), (0, 0), (None, 1)], ids=str)
def test_there_is_no_peer_where_memory_is_short(spare: int | None, tried: int) -> None:
    async def act(scene: Scene) -> None:
        with overlapping(scene.crew):
            await scene.world.sleep(SECOND)
            assert scene.peers.tried == tried

    play(act, spare_bytes=lambda: spare)


def test_what_cannot_be_started_is_tried_again_less_and_less_often() -> None:
    async def act(scene: Scene) -> None:
        with overlapping(scene.crew):
            await scene.world.sleep(timedelta(minutes=10))
            assert 5 <= scene.peers.tried <= 20
            assert scene.crew.peers == ()
            await scene.until(lambda: len(scene.crew.peers) == 1)

    play(act, failing=21)


def test_without_a_cluster_a_peer_answers_what_brings_its_own() -> None:
    async def act(scene: Scene) -> None:
        with overlapping(scene.crew):
            await scene.until(lambda: len(scene.crew.peers) == 1)
            with scene.crew.turns(None) as (peer,):
                assert peer is not None

    async def scene() -> None:
        async with World() as world:
            runtime = a_runtime("solver", clock=world.clock)
            holder, peers = SnapshotHolder(clock=world.clock), Peers(world)
            policy = CrewPolicy(processes=2, spare_bytes=lambda: None)
            crew = Crew(peers.spawn, holder, runtime, policy, CrewMetrics(runtime.metrics))
            working = asyncio.create_task(crew.run(), name="crew")
            await act(Scene(world=world, crew=crew, peers=peers, holder=holder))
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    run_virtual(scene())
