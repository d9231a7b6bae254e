"""`joiner bench solve`: from decoded pods to an assignment in the hands of a client.

What is there already (pools, catalogue, nodes, pods that run) is held by the solver when the clock
starts, and a first question about it has been answered. Then pods arrive: ingest, snapshot, push,
solve, answer. Every run begins with a new session, or with `delta` only with new pods.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from joiner.solver.v1 import solver_pb2 as pb

from benchmarks.documents import Document, decoded
from benchmarks.judging import violations
from benchmarks.process import SolverProcess, solver_process
from benchmarks.record import Outcome, Record, Sizes, decision_fields, stage_fields
from benchmarks.session import Session, bins, session
from benchmarks.timing import Stages
from benchmarks.workloads.workload import Workload
from libs.domain.errors import InvalidRequest
from libs.domain.snapshot import ClusterSnapshot
from libs.kube.objects.pod import Pod
from libs.wire.solution import decode_solution

Tell = Callable[[str], None]
"""Is told what is being done, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a workload is run."""

    repeat: int = 5
    fresh: bool = False
    """Whether every run has a solver process of its own."""
    delta: int = 0
    """Pods that arrive on top of all others, which are held already; 0: the others arrive."""
    check: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run."""

    stages: Stages
    decision: float
    """Seconds by the solver's own clock."""
    peak_rss_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the last run asked and was told."""

    number: int
    snapshot: ClusterSnapshot
    message: pb.SolveResponse


def bench_solve(workload: Workload, course: Course, tell: Tell) -> Record:
    """Run a workload and return what came of it."""
    delta = course.delta or workload.delta
    runs, last = asyncio.run(_runs(workload, course, delta, tell))
    found = None
    if course.check:
        tell("checking the plan")
        arrived = workload.arriving(last.number, delta) if delta else ()
        everything = chain(workload.there(), workload.waiting(), arrived)
        found = len(violations(everything, last.snapshot, decode_solution(last.message)))
    waiting = last.message.pods.waiting
    sizes = Sizes(
        pods=delta or waiting,
        types=len(workload.sold.instance_types),
        nodes=len(last.snapshot.nodes),
    )
    return Record(
        name=f"solve/{workload.name}",
        sizes=sizes,
        seconds=[run.stages.total for run in runs],
        peak_rss_bytes=max((run.peak_rss_bytes or 0 for run in runs), default=0) or None,
        outcome=outcome(last.message, found),
        more={
            **stage_fields([run.stages for run in runs]),
            **decision_fields(sizes.pods, [run.decision for run in runs]),
            "running_pods": len(last.snapshot.pods) - waiting,
            "delta": delta,
            "fresh_process": course.fresh,
        },
    )


def outcome(message: pb.SolveResponse, found: int | None) -> Outcome:
    """Return what an answer comes to; `found` is the number of its violations."""
    cost, pods = message.cost, message.pods
    known = cost.HasField("lower_bound_nanos_per_hour")
    return Outcome(
        placed=pods.on_existing + pods.on_new,
        unplaced=pods.unplaced,
        new_nodes=len(message.plan.nodeclaims),
        cost_nanos_per_hour=cost.new_nanos_per_hour,
        lower_bound_nanos_per_hour=cost.lower_bound_nanos_per_hour if known else None,
        violations=found,
    )


async def _runs(
    workload: Workload, course: Course, delta: int, tell: Tell
) -> tuple[list[Run], Answered]:
    """Return all runs, and what the last one was told."""
    numbers = range(course.repeat)
    runs: list[Run] = []
    for mine in [(number,) for number in numbers] if course.fresh else [numbers]:
        async with solver_process() as solver:
            await solver.wait_listening()
            asking = _Asking(solver, workload, tell)
            runs += await (asking.deltas(delta, mine) if delta else asking.wholes(mine))
    return runs, asking.last


class _Asking:
    """One solver process that is asked about one workload; `last` is there after a run."""

    last: Answered

    def __init__(self, solver: SolverProcess, workload: Workload, tell: Tell) -> None:
        self._solver = solver
        self._workload = workload
        self._tell = tell

    async def wholes(self, numbers: Iterable[int]) -> list[Run]:
        """Let all waiting pods arrive at once, in a new session each time."""
        runs = []
        for number in numbers:
            self._tell(f"run {number + 1}: preparing")
            async with session(self._solver.address, self._workload.sold, f"run-{number}") as one:
                await self._prepare(one, self._workload.there())
                arriving = _pods(self._workload.waiting())
                self._tell(f"run {number + 1}: solving")
                runs.append(await self._run(number, one, arriving))
        return runs

    async def deltas(self, delta: int, numbers: Iterable[int]) -> list[Run]:
        """Let some pods arrive on top of all others, and leave again."""
        runs = []
        async with session(self._solver.address, self._workload.sold, "delta") as one:
            self._tell("preparing")
            await self._prepare(one, chain(self._workload.there(), self._workload.waiting()))
            for number in numbers:
                self._tell(f"run {number + 1}: solving")
                arriving = _pods(self._workload.arriving(number, delta))
                runs.append(await self._run(number, one, arriving))
                one.forget(arriving)
                await one.push(one.snapshot())
        return runs

    async def _prepare(self, one: Session, documents: Iterable[Document]) -> None:
        """Have the solver hold what is there, and answer about it once."""
        one.ingest(decoded(documents))
        held = one.snapshot()
        await one.push(held)
        await one.solve(held, self._workload.options)

    async def _run(self, number: int, one: Session, arriving: Sequence[Pod]) -> Run:
        before = await self._solver.decision_seconds()
        one.spare()
        at = [one.clock.monotonic()]
        one.ingest(arriving)
        at.append(one.clock.monotonic())
        snapshot = one.snapshot()
        at.append(one.clock.monotonic())
        await one.push(snapshot)
        at.append(one.clock.monotonic())
        message = await one.solve(snapshot, self._workload.options)
        at.append(one.clock.monotonic())
        placed = bins(message)
        at.append(one.clock.monotonic())
        _check_assigned(placed, message)
        self.last = Answered(number=number, snapshot=snapshot, message=message)
        return Run(
            stages=_stages(at),
            decision=await self._solver.decision_seconds() - before,
            peak_rss_bytes=self._solver.peak_rss_bytes(),
        )


def _check_assigned(placed: Mapping[str, str], message: pb.SolveResponse) -> None:
    """Refuse an answer that counts other pods than it places."""
    counted = message.pods.on_existing + message.pods.on_new
    if len(placed) != counted:
        raise InvalidRequest(
            f"{len(placed)} pods have a place, {counted} are said to", field="plan"
        )


def _stages(at: Sequence[float]) -> Stages:
    spans = [later - earlier for earlier, later in pairwise(at)]
    ingest, snapshot, push, solve, answer = spans
    return Stages(ingest=ingest, snapshot=snapshot, push=push, solve=solve, answer=answer)


def _pods(documents: Iterable[Document]) -> list[Pod]:
    return [one for one in decoded(documents) if isinstance(one, Pod)]
