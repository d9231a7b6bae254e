"""What the commands of `joiner bench` share: the workload that was asked for, how results print."""

from collections.abc import Callable
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.record import Record, readable
from benchmarks.workloads.named import named
from benchmarks.workloads.workload import Size, Workload
from cli.failures import bad_input_exits, progress
from cli.formats import Format


class Asked(NamedTuple):
    """A workload as it was typed."""

    workload: str
    pods: int | None = None
    types: int | None = None
    nodes: int | None = None
    families: str = ""
    seed: int = 42


def chosen(asked: Asked) -> Workload:
    """Return the workload.

    Raises:
        InvalidRequest: there is none of that name, or not so much of it.
    """
    families = tuple(part.strip() for part in asked.families.split(",") if part.strip())
    size = Size(
        pods=asked.pods,
        types=asked.types,
        nodes=asked.nodes,
        families=families,
        seed=asked.seed,
    )
    return named(asked.workload, size)


def measured(measure: Callable[[Callable[[str], None]], Record], output: Format) -> None:
    """Measure, telling people on a terminal what is being done, and print the result."""
    with bad_input_exits(), progress("starting") as status:
        record = measure(status.update)
    if output is Format.JSON:
        print(record.line(), flush=True)
        return
    table = Table(show_header=False, box=None)
    for name, value in readable(record.document()):
        table.add_row(name, value)
    Console().print(table)
