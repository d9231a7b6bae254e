"""`joiner bench quality`: what a plan costs, over the least that any plan could cost.

Pods wait on an empty cluster and everything is bought on demand. The fast answer is asked for once,
the refined one `repeat` times with the same budget. With a folder, what was asked, the plan and the
bound are written there, and `recompute_bound.py` finds the bound again from the first file alone.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from joiner.solver.v1 import solver_pb2 as pb

from benchmarks.documents import Document, decoded
from benchmarks.judging import violations
from benchmarks.process import solver_process
from benchmarks.record import Record, Sizes
from benchmarks.session import session
from benchmarks.solve import Tell, outcome
from benchmarks.workloads.workload import Workload
from libs.domain import labels as keys
from libs.domain.capacity import InstanceType
from libs.domain.snapshot import ClusterSnapshot
from libs.wire.solution import decode_solution
from libs.wire.solution_json import solution_document

CONSTRAINED = frozenset({"mixed"})
"""Workloads that keep their constraints; of others only the requests are asked about."""

INPUT, PLAN, BOUND = "input.json", "plan.json", "bound.json"
_NANOS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a workload is run."""

    budget: timedelta
    seed: int = 0
    """Of the refine stage."""
    iterations: int | None = None
    """Instead of the budget."""
    repeat: int = 1
    check: bool = True
    folder: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    snapshot: ClusterSnapshot
    fast: pb.SolveResponse
    refined: pb.SolveResponse
    seconds: Sequence[float]
    peak_rss_bytes: int | None


def bench_quality(workload: Workload, course: Course, tell: Tell) -> Record:
    """Run a workload and return what came of it.

    Raises:
        OSError: the folder cannot be written.
    """
    asked = workload if workload.name in CONSTRAINED else requests_only(workload)
    asked = on_demand(asked)
    found = asyncio.run(_ask(asked, course, tell))
    documents = [*asked.there(), *asked.waiting()]
    if course.folder is not None:
        _write(course.folder, asked, documents, found)
    wrong = None
    if course.check:
        tell("checking the plan")
        wrong = len(violations(documents, found.snapshot, decode_solution(found.refined)))
    came_of_it = outcome(found.refined, wrong)
    bound = came_of_it.lower_bound_nanos_per_hour
    return Record(
        name=f"quality/{workload.name}",
        sizes=Sizes(
            pods=found.refined.pods.waiting,
            types=len(workload.sold.instance_types),
            nodes=len(found.snapshot.nodes),
        ),
        seconds=found.seconds,
        peak_rss_bytes=found.peak_rss_bytes,
        outcome=came_of_it,
        more={
            "over_bound_percent": _over(came_of_it.cost_nanos_per_hour, bound),
            "fast_cost_per_hour": found.fast.cost.new_nanos_per_hour / _NANOS,
            "fast_over_bound_percent": _over(found.fast.cost.new_nanos_per_hour, bound),
            "fast_new_nodes": len(found.fast.plan.nodeclaims),
            "cost_to_fast": _ratio(came_of_it.cost_nanos_per_hour, found.fast),
            "iterations": found.refined.iterations,
            "budget_seconds": course.budget.total_seconds(),
            "constraints": workload.name in CONSTRAINED,
        },
    )


def requests_only(workload: Workload) -> Workload:
    """Return the workload whose pods only have requests."""

    def waiting() -> Iterator[Document]:
        for one in workload.waiting():
            yield {**one, "spec": {"containers": one["spec"]["containers"]}}

    return replace(workload, waiting=waiting)


def on_demand(workload: Workload) -> Workload:
    """Return the workload whose pools buy on demand alone."""

    def there() -> Iterator[Document]:
        for one in workload.there():
            if one["kind"] == "NodePool":
                wanted = one["spec"]["template"]["spec"]["requirements"]
                values = [keys.ON_DEMAND]
                wanted.append({"key": keys.CAPACITY_TYPE, "operator": "In", "values": values})
            yield one

    return replace(workload, there=there)


async def _ask(workload: Workload, course: Course, tell: Tell) -> _Found:
    refined = replace(
        workload.options,
        refine_budget=course.budget,
        refine_iterations=course.iterations,
        seed=course.seed,
    )
    fast = replace(refined, refine_budget=timedelta(0), refine_iterations=None)
    async with solver_process() as solver:
        await solver.wait_listening()
        async with session(solver.address, workload.sold, "quality") as one:
            tell("preparing")
            one.ingest(decoded(workload.there()))
            one.ingest(decoded(workload.waiting()))
            snapshot = one.snapshot()
            await one.push(snapshot)
            tell("solving fast")
            quick = await one.solve(snapshot, fast)
            seconds = []
            for number in range(course.repeat):
                tell(f"run {number + 1}: refining for {course.budget.total_seconds():g} s")
                one.spare()
                begun = one.clock.monotonic()
                answer = await one.solve(snapshot, refined)
                seconds.append(one.clock.monotonic() - begun)
        return _Found(
            snapshot=snapshot,
            fast=quick,
            refined=answer,
            seconds=seconds,
            peak_rss_bytes=solver.peak_rss_bytes(),
        )


def _write(folder: Path, workload: Workload, documents: Sequence[Document], found: _Found) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    types = [_type_document(one) for one in workload.sold.instance_types]
    _dump(folder / INPUT, {"instanceTypes": types, "objects": documents})
    _dump(folder / PLAN, solution_document(decode_solution(found.refined)))
    cost = found.refined.cost
    known = cost.HasField("lower_bound_nanos_per_hour")
    _dump(
        folder / BOUND,
        {
            "costPerHour": cost.new_nanos_per_hour / _NANOS,
            "lowerBoundPerHour": cost.lower_bound_nanos_per_hour / _NANOS if known else None,
        },
    )


def _dump(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, indent=1) + "\n")


def _type_document(kind: InstanceType) -> Document:
    """Return a type in plain quantities; `labels` has the values that its nodes may have."""
    return {
        "name": kind.name,
        "labels": {one.key: sorted(one.values) for one in kind.requirements if one.values},
        "capacity": kind.capacity.to_quantities(),
        "overhead": kind.overhead.to_quantities(),
        "offerings": [
            {
                "zone": one.zone,
                "capacityType": str(one.capacity_type),
                "pricePerHour": one.price_nanos_per_hour / _NANOS,
            }
            for one in kind.offerings
            if one.available
        ],
    }


def _over(cost: int, bound: int | None) -> float | None:
    return round(100 * (cost / bound - 1), 3) if bound else None


def _ratio(cost: int, fast: pb.SolveResponse) -> float | None:
    quick = fast.cost.new_nanos_per_hour
    return round(cost / quick, 4) if quick else None
