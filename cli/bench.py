"""`joiner bench`: how fast the services are and how well they buy, on fixed workloads.

Only options here; the work is in `benchmarks`, imported when it runs.
"""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from cli.formats import Format
from cli.ranges import MOST, real, whole
from libs.domain.solution import PreferencePolicy, SolveOptions

app = typer.Typer(
    no_args_is_help=True,
    help="Measure the real services on fixed workloads; see docs/benchmarks.md.",
)

_MANY = 10_000_000
"""More of anything is a slip: nothing here holds so much."""

Name = Annotated[
    str,
    typer.Option(
        help="peer-mix, distinct, preferences, deployments, mixed, openb or standing.",
    ),
]
Pods = Annotated[
    int | None,
    typer.Option(parser=whole(0, _MANY), metavar="N", help="Pods; else as many as is usual."),
]
Types = Annotated[
    int | None,
    typer.Option(parser=whole(1, _MANY), metavar="N", help="Instance types; else as is usual."),
]
Nodes = Annotated[
    int | None,
    typer.Option(parser=whole(0, _MANY), metavar="N", help="Nodes that run already, 30 pods each."),
]
Families = Annotated[str, typer.Option(help="Categories of EC2 types, such as c,m,r; else all.")]
Seed = Annotated[int, typer.Option(parser=whole(0, MOST), metavar="N", help="Of the workload.")]
Repeat = Annotated[
    int, typer.Option(parser=whole(1, _MANY), metavar="N", help="Runs, for p50 and p99.")
]
Callers = Annotated[
    int,
    typer.Option(
        parser=whole(1, 1000),
        metavar="N",
        help="Ask by so many at a time about one revision, against one of them alone.",
    ),
]
Processes = Annotated[
    int,
    typer.Option(
        parser=whole(0, 1000), metavar="N", help="With --callers: most processes of the solver."
    ),
]
Check = Annotated[bool, typer.Option("--check/--no-check", help="Judge the plan afterwards.")]
Output = Annotated[Format, typer.Option("--format", help="How to print.")]


def _shares(found: tuple[float, float]) -> tuple[float, float]:
    least, largest = found
    if not 0 < least <= largest <= 1:
        raise typer.BadParameter(f"{least:g} {largest:g} are not shares from 0 to 1, least first")
    return found


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
        int,
        typer.Option(
            parser=whole(0, _MANY),
            metavar="N",
            help="Pods that arrive while all others are held already.",
        ),
    ] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="A new process for each run.")] = False,
    preference_policy: Annotated[
        PreferencePolicy,
        typer.Option(case_sensitive=False, help="Whether pods' preferences are tried at all."),
    ] = PreferencePolicy.RESPECT,
    callers: Callers = 1,
    processes: Processes = 0,
    check: Check = True,
    output: Output = Format.TABLE,
) -> None:
    """Time the way from decoded pods to an assignment in the hands of a client."""
    from benchmarks.solve import Course, bench_solve  # noqa: PLC0415  # imported when it runs
    from cli.benching import Asked, chosen, measured, together  # noqa: PLC0415  # as above

    asked = Asked(workload, pods, types, nodes, families, seed)
    options = SolveOptions(preference_policy=preference_policy)
    if callers > 1:
        measured(together(chosen(asked, options), callers, repeat, processes), output)
        return
    course = Course(repeat=repeat, fresh=fresh, delta=delta, check=check)
    measured(lambda tell: bench_solve(chosen(asked, options), course, tell), output)


@app.command()
def quality(
    workload: Name = "deployments",
    pods: Annotated[
        int | None, typer.Option(parser=whole(1, _MANY), metavar="N", help="Pods; else 2,000.")
    ] = None,
    types: Types = None,
    families: Annotated[
        str, typer.Option(help="Categories of EC2 types, such as c,m,r; or all of them.")
    ] = "",
    budget: Annotated[
        float,
        typer.Option(
            parser=real(0, 86_400), metavar="SECONDS", help="Seconds of the refine stage."
        ),
    ] = 2.0,
    iterations: Annotated[
        int | None,
        typer.Option(
            parser=whole(0, _MANY), metavar="N", help="Of the refine stage, instead of seconds."
        ),
    ] = None,
    seed: Seed = 42,
    repeat: Repeat = 1,
    out: Annotated[
        Path | None, typer.Option(help="Folder for what was asked, the plan and the bound.")
    ] = None,
    check: Check = True,
    output: Output = Format.TABLE,
) -> None:
    """Say how much a plan costs over the least possible, everything bought on demand.

    Of all workloads but mixed only the requests count; openb and mixed choose among all families,
    others among c, m and r unless told otherwise.
    """
    from benchmarks.quality import Course, bench_quality  # noqa: PLC0415  # imported when it runs
    from cli.benching import for_quality, measured  # noqa: PLC0415  # imported when it runs

    asked = for_quality(workload, pods, types, families, seed)
    course = Course(
        budget=timedelta(seconds=budget),
        iterations=iterations,
        repeat=repeat,
        check=check,
        folder=out,
    )
    measured(lambda tell: bench_quality(asked(), course, tell), output)


@app.command()
def simulate(
    workload: Name = "standing",
    pods: Pods = None,
    types: Types = None,
    nodes: Nodes = None,
    families: Families = "",
    seed: Seed = 42,
    repeat: Annotated[
        int, typer.Option(parser=whole(1, _MANY), metavar="N", help="Calls, for p50 and p99.")
    ] = 30,
    scenarios: Annotated[
        int, typer.Option(parser=whole(1, _MANY), metavar="N", help="What-ifs in one call.")
    ] = 1,
    callers: Callers = 1,
    processes: Processes = 0,
    output: Output = Format.TABLE,
) -> None:
    """Time what-ifs that take one node away from a cluster that runs."""
    from benchmarks.simulate import Course, bench_simulate  # noqa: PLC0415  # imported when it runs
    from cli.benching import Asked, chosen, measured, together  # noqa: PLC0415  # as above

    asked = Asked(workload, pods, types, nodes, families, seed)
    if callers > 1:
        measured(together(chosen(asked), callers, repeat, processes, scenarios), output)
        return
    course = Course(repeat=repeat, scenarios=scenarios)
    measured(lambda tell: bench_simulate(chosen(asked), course, tell), output)


@app.command()
def consolidate(
    nodes: Annotated[
        int, typer.Option(parser=whole(1, _MANY), metavar="N", help="Nodes that run.")
    ] = 500,
    types: Types = None,
    families: Annotated[str, typer.Option(help="Categories of their EC2 types.")] = "c,m,r",
    utilisation: Annotated[
        tuple[float, float],
        typer.Option(callback=_shares, help="Least and largest share of a node in use."),
    ] = (0.15, 0.65),
    node_budget: Annotated[
        str, typer.Option(metavar="PERCENT", help="Most nodes to give up, such as 10%.")
    ] = "",
    seed: Seed = 42,
    repeat: Annotated[
        int, typer.Option(parser=whole(1, _MANY), metavar="N", help="Runs, for p50 and p99.")
    ] = 3,
    output: Output = Format.TABLE,
) -> None:
    """Say what giving up and replacing nodes saves, beside one command by the peer's rule.

    Two results: free, and held to what the peer's command does.
    """
    from benchmarks.consolidate import bench_consolidate, underused  # noqa: PLC0415  # as above
    from cli.benching import Asked, measured, size_of, to_consolidate  # noqa: PLC0415  # as above

    size = size_of(Asked("underused", None, types, nodes, families, seed))
    measured(
        lambda tell: bench_consolidate(
            underused(size, utilisation), to_consolidate(repeat, node_budget), tell
        ),
        output,
    )


@app.command()
def cold(
    workload: Name = "peer-mix",
    pods: Annotated[
        int, typer.Option(parser=whole(1, _MANY), metavar="N", help="Pods of the first question.")
    ] = 100,
    types: Types = None,
    seed: Seed = 42,
    repeat: Repeat = 5,
    output: Output = Format.TABLE,
) -> None:
    """Time a solver from the start of its process to its first answer."""
    from benchmarks.cold import bench_cold  # noqa: PLC0415  # imported when it runs
    from cli.benching import Asked, chosen, measured  # noqa: PLC0415  # imported when it runs

    asked = Asked(workload, pods, types, seed=seed)
    measured(lambda tell: bench_cold(chosen(asked), repeat, tell), output)


@app.command()
def simulator(
    nodes: Annotated[
        int, typer.Option(parser=whole(1, 50_000), metavar="N", help="Nodes with heartbeats.")
    ] = 5_000,
    pods: Annotated[
        int, typer.Option(parser=whole(1, 1_000_000), metavar="N", help="Pods that run on them.")
    ] = 150_000,
    idle: Annotated[
        int, typer.Option(parser=whole(0, 1_000_000), metavar="N", help="Pods that nobody runs.")
    ] = 20_000,
    clients: Annotated[
        int, typer.Option(parser=whole(1, 1000), metavar="N", help="That create and change pods.")
    ] = 16,
    watchers: Annotated[
        int, typer.Option(parser=whole(1, 1000), metavar="N", help="That watch all pods.")
    ] = 10,
    rate: Annotated[
        int, typer.Option(parser=whole(1, 100_000), metavar="N", help="Changes per second.")
    ] = 500,
    seconds: Annotated[
        int, typer.Option(parser=whole(1, 600), metavar="N", help="How long pods change.")
    ] = 20,
    output: Output = Format.TABLE,
) -> None:
    """Load the simulator over HTTP: creates, lists, watches, memory."""
    from benchmarks.simulator.bench import Course, bench_simulator  # noqa: PLC0415  # as above
    from cli.benching import measured  # noqa: PLC0415  # imported when it runs

    course = Course(
        nodes=nodes,
        pods=pods,
        idle=idle,
        clients=clients,
        watchers=watchers,
        changes_per_second=rate,
        watched=timedelta(seconds=seconds),
    )
    measured(lambda tell: bench_simulator(course, tell), output)
