"""`--callers N` of `joiner bench solve|simulate`: what many questions at a time get, against one.

One revision is held and every call asks about it. First one caller asks, one question after the
other; then `callers` do, each the same way. Between the two the callers ask until the solver has
all the processes that it is going to have. Answers are received and not read: the client has to
leave the cores to the solver.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, islice
from typing import Any

from benchmarks.documents import decoded
from benchmarks.process import CALL_LIMIT, SolverProcess, solver_process
from benchmarks.record import Record, Sizes, spread
from benchmarks.session import Session, session
from benchmarks.simulate import removals
from benchmarks.solve import Tell, outcome
from benchmarks.workloads.workload import Workload
from libs.domain.question import SimulateQuestion, SnapshotReference, SolveQuestion
from libs.domain.snapshot import ClusterSnapshot
from libs.runtime.machine import cores
from libs.runtime.network import GrpcNetwork
from libs.runtime.timeouts import CallDeadlines
from libs.wire.question import encode_simulate_question, encode_solve_question

_SETTLES_WITHIN = timedelta(minutes=2)
"""Fewer processes than cores are settled, too, where memory is short or they cannot be started."""
_SERVICE = "/joiner.solver.v1.SolverService"
_PROCESSES = re.compile(r"^joiner_solver_processes (\S+)", re.MULTILINE)
_PLACES = re.compile(r'^joiner_solver_calls_total{place="(\w+)"} (\S+)', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a workload is run."""

    callers: int
    repeat: int = 30
    """Calls of each caller."""
    scenarios: int | None = None
    """What-ifs of each call; None: calls of Solve."""
    processes: int = 0
    """Most processes of the solver; 0: its own choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """What one phase took."""

    seconds: Sequence[float]
    """Of each call."""
    wall: float
    calls: int
    cpu: Sequence[float]
    """Seconds that each process of the solver used of the cores."""

    @property
    def rate(self) -> float:
        return self.calls / self.wall


def bench_callers(workload: Workload, course: Course, tell: Tell) -> Record:
    """Ask alone, then together, and return what came of it."""
    return asyncio.run(_ask(workload, course, tell))


async def _ask(workload: Workload, course: Course, tell: Tell) -> Record:
    async with solver_process({"JOINER_CFG_PROCESSES": str(course.processes)}) as solver:
        await solver.wait_listening()
        async with session(solver.address, workload.sold, "callers") as one:
            tell("preparing")
            snapshot = await _held(one, workload)
            message = await one.solve(snapshot, workload.options)
            async with _Callers(solver, one, _question(workload, snapshot, course)) as callers:
                await callers.asked(1, course.repeat)
                tell("one caller")
                alone = await callers.asked(1, course.repeat)
                tell(f"{course.callers} callers: warming")
                ready = await _settled(solver, callers, course)
                tell(f"{course.callers} callers")
                before = await _places(solver)
                together = await callers.asked(course.callers, course.repeat)
                after = await _places(solver)
            processes, peaks = await _processes(solver), solver.peaks()
    kind = "solve" if course.scenarios is None else "simulate"
    return Record(
        name=f"{kind}/{workload.name}/{course.callers}-callers",
        sizes=Sizes(
            pods=message.pods.waiting,
            types=len(workload.sold.instance_types),
            nodes=len(snapshot.nodes),
        ),
        seconds=together.seconds,
        peak_rss_bytes=sum(peaks) or None,
        outcome=outcome(message, None),
        more={
            "callers": course.callers,
            "calls_per_second": round(together.rate, 2),
            "calls_per_second_alone": round(alone.rate, 2),
            "times_alone": round(together.rate / alone.rate, 2),
            "seconds_alone": spread(alone.seconds),
            "cpu_seconds_per_call_alone": round(sum(alone.cpu) / alone.calls, 5),
            "cpu_seconds_per_call": round(sum(together.cpu) / together.calls, 5),
            "cpu_seconds_by_process": [round(one, 2) for one in together.cpu],
            "processes": processes,
            "peak_rss_mib_by_process": [one // 2**20 for one in peaks],
            "ready_seconds": round(ready, 2),
            "calls_by_place": {place: after[place] - before.get(place, 0) for place in after},
        },
    )


async def _held(one: Session, workload: Workload) -> ClusterSnapshot:
    arriving = workload.arriving(0, workload.delta) if workload.delta else ()
    one.ingest(decoded(chain(workload.there(), workload.waiting(), arriving)))
    snapshot = one.snapshot()
    await one.push(snapshot)
    return snapshot


_Ask = Callable[[], tuple[str, bytes]]
"""Gives the next question: method and message."""


class _Callers:
    """Who asks the same kind of question again and again."""

    def __init__(self, solver: SolverProcess, one: Session, ask: _Ask) -> None:
        self.clock = one.clock
        self._solver = solver
        self._network = GrpcNetwork(None, CallDeadlines(unary=CALL_LIMIT, stream=CALL_LIMIT))
        self._channel: Any = self._network.channel(solver.address)
        self._ask = ask

    async def __aenter__(self) -> "_Callers":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._network.close()

    async def asked(self, callers: int, repeat: int) -> _Span:
        """Let each of the callers ask so often."""
        begun, used = self.clock.monotonic(), self._solver.cpu_seconds()
        found = await asyncio.gather(*(self._one(repeat) for _ in range(callers)))
        wall = self.clock.monotonic() - begun
        return _Span(
            seconds=list(chain(*found)),
            wall=wall,
            calls=callers * repeat,
            cpu=[now - then for now, then in zip(self._solver.cpu_seconds(), used, strict=False)],
        )

    async def _one(self, repeat: int) -> list[float]:
        seconds = []
        for _ in range(repeat):
            method, message = self._ask()
            begun = self.clock.monotonic()
            if method == "Solve":
                await self._channel.unary_unary(f"{_SERVICE}/{method}")(message)
            else:
                async for _answer in self._channel.unary_stream(f"{_SERVICE}/{method}")(message):
                    pass
            seconds.append(self.clock.monotonic() - begun)
        return seconds


def _question(workload: Workload, snapshot: ClusterSnapshot, course: Course) -> _Ask:
    reference = SnapshotReference(cluster_id=snapshot.id.cluster_id, id=snapshot.id)
    if course.scenarios is None:
        solve = SolveQuestion(snapshot=reference, options=workload.options)
        message = encode_solve_question(solve).SerializeToString()
        return lambda: ("Solve", message)
    asking, number = removals(snapshot), course.scenarios

    def what_if() -> tuple[str, bytes]:
        question = SimulateQuestion(
            snapshot=reference,
            options=workload.options,
            scenarios=tuple(islice(asking, number)),
        )
        return "Simulate", encode_simulate_question(question).SerializeToString()

    return what_if


async def _settled(solver: SolverProcess, callers: _Callers, course: Course) -> float:
    """Ask until the solver has all its processes, a minute or two at most; return how long."""
    begun = callers.clock.monotonic()
    wanted = course.processes or cores()
    while await _processes(solver) < wanted:
        await callers.asked(course.callers, 1)
        if callers.clock.monotonic() > begun + _SETTLES_WITHIN.total_seconds():
            break
    return callers.clock.monotonic() - begun


async def _processes(solver: SolverProcess) -> int:
    found = _PROCESSES.search(await solver.metrics())
    return int(float(found[1])) if found else 1


async def _places(solver: SolverProcess) -> dict[str, int]:
    """Return how many questions, or parts of one, were computed where."""
    found = _PLACES.findall(await solver.metrics())
    return {place: int(float(number)) for place, number in found}
