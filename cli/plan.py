"""`joiner plan`: what would be bought for the pods in some files, without any server."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from cli import clusters
from cli.failures import UNPLACED, bad_input_exits
from cli.formats import Format, dollars
from libs.domain.plan import LaunchOption, Plan
from libs.domain.reason import Unplaceable
from libs.domain.solution import Solution, SolveOptions, with_unplaced
from libs.wire.solution_json import solution_document
from services.solver.core.solve import solve

Files = Annotated[
    list[str],
    typer.Option("-f", "--filename", help="YAML or JSON as kubectl prints it; - reads stdin."),
]
CatalogueName = Annotated[
    str, typer.Option(help="kwok, aws, or a file in the schema of KWOK's instance types.")
]
Now = Annotated[str | None, typer.Option(help="Instant of the decision, RFC 3339; else now.")]

_REASONS_SHOWN = 20


def plan(
    files: Files,
    catalogue: CatalogueName = "kwok",
    output: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.TABLE,
    now: Now = None,
) -> None:
    """Find a place for every waiting pod in the files, and print what would be bought.

    Exit code 0: every pod has a place; 3: some have not; 2: bad input.
    """
    errors = Console(stderr=True)
    with bad_input_exits(), errors.status("reading") as status:
        cluster = clusters.load(files, catalogue, clusters.instant(now))
        status.update("planning")
        solution = with_unplaced(solve(cluster.snapshot, SolveOptions()), cluster.left_out)
    for note in cluster.notes:
        errors.print(f"note: {note}", style="dim", highlight=False, markup=False, soft_wrap=True)
    if output is Format.JSON:
        document = solution_document(solution)
        json.dump(document, sys.stdout, indent=1)
        sys.stdout.write("\n")
    else:
        _print_table(solution)
    if solution.pods.unplaced:
        raise typer.Exit(UNPLACED)


def _print_table(solution: Solution) -> None:
    console = Console()
    pods = solution.pods
    console.print(
        f"{pods.waiting} pods wait: {pods.on_existing} fit what exists, "
        f"{pods.on_new} need new nodes, {pods.unplaced} have no place",
        highlight=False,
    )
    if solution.plan.nodeclaims:
        console.print(_purchases(solution.plan))
    nodes = len(solution.plan.nodeclaims)
    console.print(
        f"{nodes} nodes, {dollars(solution.cost.new_nanos_per_hour)} $/h", highlight=False
    )
    for line in _reasons(solution.plan):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _purchases(plan: Plan) -> Table:
    """Return a row per pool and offering, dearest first."""
    bought: Counter[tuple[str, LaunchOption]] = Counter()
    pods: Counter[tuple[str, LaunchOption]] = Counter()
    for claim in plan.nodeclaims:
        bought[claim.nodepool, claim.cheapest] += 1
        pods[claim.nodepool, claim.cheapest] += len(claim.pod_uids)
    table = Table("nodes", "pool", "instance type", "zone", "capacity", "pods", "$/h", box=None)
    for key in sorted(bought, key=lambda key: (-bought[key] * _price(key), key[0], str(key[1]))):
        pool, option = key
        table.add_row(
            str(bought[key]),
            pool,
            option.instance_type,
            option.zone,
            option.capacity_type,
            str(pods[key]),
            dollars(bought[key] * option.price_nanos_per_hour),
        )
    return table


def _price(key: tuple[str, LaunchOption]) -> int:
    return key[1].price_nanos_per_hour


def _reasons(plan: Plan) -> Iterator[str]:
    for message in plan.pool_messages:
        yield f"nodepool {message.nodepool}: {message.message}"
    for group in plan.unplaced[:_REASONS_SHOWN]:
        yield f"{_pods(len(group.pod_uids))}: {group.reason.message}"
        yield from _rejections(group.reason)
    hidden: Sequence[object] = plan.unplaced[_REASONS_SHOWN:]
    if hidden:
        yield f"and {len(hidden)} more reasons; --format json has all"


def _pods(count: int) -> str:
    return "1 pod" if count == 1 else f"{count} pods"


def _rejections(reason: Unplaceable) -> Iterator[str]:
    for rejection in reason.rejections:
        yield f"    {rejection.target_kind} {rejection.target}: {rejection.message}"
        if rejection.suggestion:
            yield f"        would fit: {rejection.suggestion}"
    for rule, count in reason.existing:
        if count:
            yield f"    {count} existing: {rule}"
