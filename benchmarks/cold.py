"""`joiner bench cold`: from starting the solver's process to its first answer.

The clock starts before the process does and stops when the assignment of a few pods is in the hands
of the client. The snapshot is made while the process starts; pushing it is part of the time.
"""

import asyncio

from benchmarks.documents import decoded
from benchmarks.process import solver_process
from benchmarks.record import Record, Sizes, spread
from benchmarks.session import bins, session
from benchmarks.solve import Tell, outcome
from benchmarks.workloads.workload import Workload
from libs.runtime.clock import SystemClock


def bench_cold(workload: Workload, repeat: int, tell: Tell) -> Record:
    """Start a solver again and again and return how long its first answer took."""
    return asyncio.run(_ask(workload, repeat, tell))


async def _ask(workload: Workload, repeat: int, tell: Tell) -> Record:
    clock = SystemClock()
    seconds: list[float] = []
    listening: list[float] = []
    peaks: list[int] = []
    for number in range(repeat):
        tell(f"run {number + 1}")
        begun = clock.monotonic()
        async with solver_process() as solver:
            async with session(solver.address, workload.sold, f"cold-{number}") as one:
                one.ingest(decoded(workload.there()))
                one.ingest(decoded(workload.waiting()))
                snapshot = one.snapshot()
                await solver.wait_listening()
                listening.append(clock.monotonic() - begun)
                await one.push(snapshot)
                message = await one.solve(snapshot, workload.options)
                bins(message)
                seconds.append(clock.monotonic() - begun)
            peaks.append(solver.peak_rss_bytes() or 0)
    return Record(
        name=f"cold/{workload.name}",
        sizes=Sizes(
            pods=message.pods.waiting,
            types=len(workload.sold.instance_types),
            nodes=len(snapshot.nodes),
        ),
        seconds=seconds,
        peak_rss_bytes=max(peaks) or None,
        outcome=outcome(message, None),
        more={"listening_seconds": spread(listening)},
    )
