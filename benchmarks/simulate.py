"""`joiner bench simulate`: what if one node went away, asked about a cluster that runs.

Every question takes another node away, on one revision that the solver holds. `scenarios` of them
go in one call; a run is one call, and its time is divided by their number.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, cycle, islice

from benchmarks.documents import decoded
from benchmarks.process import solver_process
from benchmarks.record import Outcome, Record, Sizes
from benchmarks.session import session
from benchmarks.solve import Tell
from benchmarks.workloads.workload import Workload
from libs.domain.errors import InvalidRequest
from libs.domain.scenario import RemoveNodes, Scenario, ScenarioAnswer
from libs.domain.snapshot import ClusterSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a workload is run."""

    repeat: int = 30
    scenarios: int = 1
    """Questions in one call."""


def bench_simulate(workload: Workload, course: Course, tell: Tell) -> Record:
    """Run a workload and return what came of it; pods are those of the nodes taken away.

    Raises:
        InvalidRequest: the workload has no nodes.
    """
    snapshot, seconds, answers, peak = asyncio.run(_ask(workload, course, tell))
    last = answers[-1].solution
    moved = sum(one.solution.pods.waiting for one in answers)
    return Record(
        name=f"simulate/{workload.name}",
        sizes=Sizes(
            pods=moved // len(answers),
            types=len(workload.sold.instance_types),
            nodes=len(snapshot.nodes),
        ),
        seconds=seconds,
        peak_rss_bytes=peak,
        outcome=Outcome(
            placed=last.pods.on_existing + last.pods.on_new,
            unplaced=last.pods.unplaced,
            new_nodes=len(last.plan.nodeclaims),
            cost_nanos_per_hour=last.cost.new_nanos_per_hour,
            lower_bound_nanos_per_hour=last.cost.lower_bound_nanos_per_hour,
            violations=None,
        ),
        more={"running_pods": len(snapshot.pods), "scenarios_per_call": course.scenarios},
    )


def removals(snapshot: ClusterSnapshot) -> Iterator[Scenario]:
    """Yield removals of one node each, far from one another in the order of names."""
    names = list(snapshot.nodes)
    if not names:
        raise InvalidRequest("the workload has no nodes; say how many", field="--nodes")
    strided = [names[(7919 * index) % len(names)] for index in range(len(names))]
    for number, name in zip(count(), cycle(strided), strict=False):
        yield Scenario(name=f"without {name} ({number})", edits=(RemoveNodes(names=(name,)),))


async def _ask(
    workload: Workload, course: Course, tell: Tell
) -> tuple[ClusterSnapshot, Sequence[float], Sequence[ScenarioAnswer], int | None]:
    async with solver_process() as solver:
        await solver.wait_listening()
        async with session(solver.address, workload.sold, "simulate") as one:
            tell("preparing")
            one.ingest(decoded(workload.there()))
            snapshot = one.snapshot()
            await one.push(snapshot)
            await one.solve(snapshot, workload.options)
            asking = removals(snapshot)
            await one.simulate(snapshot, list(islice(asking, 1)), workload.options)
            seconds: list[float] = []
            answers: list[ScenarioAnswer] = []
            for number in range(course.repeat):
                tell(f"run {number + 1}: asking")
                scenarios = list(islice(asking, course.scenarios))
                one.spare()
                begun = one.clock.monotonic()
                answers += await one.simulate(snapshot, scenarios, workload.options)
                seconds.append((one.clock.monotonic() - begun) / course.scenarios)
        return snapshot, seconds, answers, solver.peak_rss_bytes()
