"""`joiner bench`: how fast the services are and how well they buy, on fixed workloads.

Only options here; the work is in `benchmarks`, imported when it runs.
"""

from typing import Annotated

import typer

from cli.formats import Format

app = typer.Typer(
    no_args_is_help=True,
    help="Measure the real services on fixed workloads; see docs/benchmarks.md.",
)

Name = Annotated[
    str,
    typer.Option(
        help="peer-mix, distinct, preferences, deployments, mixed, openb or standing.",
    ),
]
Pods = Annotated[int | None, typer.Option(min=0, help="Pods; else as many as is usual.")]
Types = Annotated[int | None, typer.Option(min=1, help="Instance types; else as is usual.")]
Nodes = Annotated[int | None, typer.Option(min=0, help="Nodes that run already, 30 pods each.")]
Families = Annotated[str, typer.Option(help="Categories of EC2 types, such as c,m,r; else all.")]
Seed = Annotated[int, typer.Option(help="Of the workload.")]
Repeat = Annotated[int, typer.Option(min=1, help="Runs, for p50 and p99.")]
Check = Annotated[bool, typer.Option("--check/--no-check", help="Judge the plan afterwards.")]
Output = Annotated[Format, typer.Option("--format", help="How to print.")]


@app.command()
def solve(
    workload: Name = "peer-mix",
    pods: Pods = None,
    types: Types = None,
    nodes: Nodes = None,
    families: Families = "",
    seed: Seed = 42,
    repeat: Repeat = 5,
    delta: Annotated[
        int, typer.Option(min=0, help="Pods that arrive while all others are held already.")
    ] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="A new process for each run.")] = False,
    check: Check = True,
    output: Output = Format.TABLE,
) -> None:
    """Time the way from decoded pods to an assignment in the hands of a client."""
    from benchmarks.solve import Course, bench_solve  # noqa: PLC0415  # imported when it runs
    from cli.benching import Asked, chosen, measured  # noqa: PLC0415  # imported when it runs

    asked = Asked(workload, pods, types, nodes, families, seed)
    course = Course(repeat=repeat, fresh=fresh, delta=delta, check=check)
    measured(lambda tell: bench_solve(chosen(asked), course, tell), output)
