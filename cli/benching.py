"""What the commands of `joiner bench` share: the workload that was asked for, how results print."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks import catalogues, consolidate
from benchmarks.callers import Course, bench_callers
from benchmarks.record import Record, Result, line, readable
from benchmarks.workloads.named import named
from benchmarks.workloads.workload import Size, Workload
from cli.failures import bad_input_exits, progress
from cli.formats import Format
from libs.domain.errors import InvalidRequest
from libs.domain.solution import SolveOptions

_DEFAULTS = SolveOptions()
_QUALITY_PODS = 2_000
_ALL_PERCENT = 100
_ALL_FAMILIES = frozenset({"mixed", "openb"})
_SYNTHETIC = frozenset({"peer-mix", "distinct", "preferences"})


class Asked(NamedTuple):
    """A workload as it was typed."""

    workload: str
    pods: int | None = None
    types: int | None = None
    nodes: int | None = None
    families: str = ""
    seed: int = 42


def chosen(asked: Asked, options: SolveOptions = _DEFAULTS) -> Workload:
    """Return the workload, to be solved with these options.

    Raises:
        InvalidRequest: there is none of that name, or not so much of it, or its types are not EC2's
            and have no families.
    """
    if asked.families and asked.workload in _SYNTHETIC:
        raise InvalidRequest(f"the types of {asked.workload} have none", field="--families")
    return replace(named(asked.workload, size_of(asked)), options=options)


def size_of(asked: Asked) -> Size:
    """Return how much of it was asked for."""
    families = tuple(part.strip() for part in asked.families.split(",") if part.strip())
    return Size(
        pods=asked.pods,
        types=asked.types,
        nodes=asked.nodes,
        families=families,
        seed=asked.seed,
    )


def to_consolidate(repeat: int, node_budget: str) -> consolidate.Course:
    """Return how consolidation is to be run.

    Raises:
        InvalidRequest: the budget is no percentage.
    """
    if not node_budget:
        return consolidate.Course(repeat=repeat)
    try:
        percent = float(node_budget.removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= _ALL_PERCENT:
        raise InvalidRequest(f"{node_budget!r} is not a share such as 10%", field="--node-budget")
    return consolidate.Course(repeat=repeat, node_budget_percent=percent)


def together(
    workload: Workload, callers: int, repeat: int, processes: int, scenarios: int | None = None
) -> Callable[[Callable[[str], None]], Record]:
    """Return what measures callers at a time, of Simulate if it is said how many scenarios."""
    course = Course(callers=callers, repeat=repeat, processes=processes, scenarios=scenarios)
    return lambda tell: bench_callers(workload, course, tell)


def for_quality(
    workload: str, pods: int | None, types: int | None, families: str, seed: int
) -> Callable[[], Workload]:
    """Return what gives the workload of `joiner bench quality`, whose usual sizes are others."""
    if not families:
        families = "" if workload in _ALL_FAMILIES | _SYNTHETIC else "c,m,r"
    everything = families in ("", "all")
    if everything and types is None and workload not in _SYNTHETIC:
        types = len(catalogues.ec2().instance_types)
    asked = Asked(
        workload,
        _QUALITY_PODS if pods is None and workload != "openb" else pods,
        types,
        families="" if everything else families,
        seed=seed,
    )
    return lambda: chosen(asked)


def measured(
    measure: Callable[[Callable[[str], None]], Result | Sequence[Result]], output: Format
) -> None:
    """Measure, telling people on a terminal what is being done, and print the results."""
    with bad_input_exits(), progress("starting") as status:
        found = measure(status.update)
    for result in found if isinstance(found, Sequence) else [found]:
        _print(result, output)


def _print(result: Result, output: Format) -> None:
    if output is Format.JSON:
        print(line(result), flush=True)
        return
    table = Table(show_header=False, box=None)
    for name, value in readable(result.document()):
        table.add_row(name, value)
    Console().print(table)
