"""The command line's root: every command with its options.

The work is in a module per command, imported when that command runs: reading Kubernetes objects,
solving and serving an API each take longer to import than `joiner --help` may take in all.
"""

from pathlib import Path
from typing import Annotated

import typer

from cli import bench
from cli.failures import OneLineErrors
from cli.formats import Format
from cli.options import Bounds, Choices, Judge, Machines, Subject, WhatIf
from cli.ranges import MOST, count_or_percent, real, whole
from cli.refining import Refining
from libs.domain.question import SubjectKind
from libs.domain.solution import MinValuesPolicy, PreferencePolicy

app = typer.Typer(
    cls=OneLineErrors,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Joiner: ask what to buy, why a pod waits, and whether a plan holds.",
)
imports = typer.Typer(no_args_is_help=True, help="Turn a foreign trace into Kubernetes objects.")
app.add_typer(imports, name="import")
explains = typer.Typer(no_args_is_help=True, help="Say why a pod waits, what a node or pool does.")
app.add_typer(explains, name="explain")
app.add_typer(bench.app, name="bench")

Files = Annotated[
    list[str],
    typer.Option("-f", "--filename", help="YAML or JSON as kubectl prints it; - reads stdin."),
]
CatalogueName = Annotated[
    str, typer.Option(help="kwok, aws, or a file in the schema of KWOK's instance types.")
]
Output = Annotated[Format, typer.Option("--format", help="How to print.")]
Now = Annotated[str | None, typer.Option(help="Instant of the decision, RFC 3339; else now.")]
Preferences = Annotated[
    PreferencePolicy,
    typer.Option(
        "--preference-policy",
        case_sensitive=False,
        help="Whether pods' preferences are tried at all.",
    ),
]
MinValues = Annotated[
    MinValuesPolicy,
    typer.Option(
        "--min-values-policy",
        case_sensitive=False,
        help="Whether minValues out of reach refuse a pod.",
    ),
]
Gates = Annotated[
    str,
    typer.Option("--feature-gates", help="NAME=true,NAME=false: Karpenter's gates and defaults."),
]
SchedulerConfig = Annotated[
    str,
    typer.Option(
        "--scheduler-config",
        metavar="FILE",
        help="Default spread constraints of the cluster, as Karpenter's scheduler-config.",
    ),
]
RefineBudget = Annotated[
    str, typer.Option(metavar="SPAN", help="Time to look for a cheaper plan in, such as 500ms.")
]
RefineIterations = Annotated[
    int | None,
    typer.Option(
        parser=whole(0),
        metavar="N",
        help="Exactly so many iterations instead: the same plan each time.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(parser=whole(-MOST - 1), metavar="N", help="Seed of that search."),
]

_MOST_DOLLARS = 1_000_000
"""Per hour: beyond it nothing is bought or moved any more."""
_MOST_PODS = 2**31 - 1
"""As many as the question's field of 32 bits holds."""

_NONE: list[str] = []
"""What is not given; typer takes lists only."""

# Imports below are inside functions, see the module's docstring.


@app.command()
def plan(
    files: Files,
    catalogue: CatalogueName = "kwok",
    output: Output = Format.TABLE,
    preference_policy: Preferences = PreferencePolicy.RESPECT,
    min_values_policy: MinValues = MinValuesPolicy.STRICT,
    gates: Gates = "",
    scheduler_config: SchedulerConfig = "",
    now: Now = None,
    refine_budget: RefineBudget = "0s",
    refine_iterations: RefineIterations = None,
    seed: Seed = 0,
    objective_interruption: Annotated[
        str, typer.Option(metavar="$/h", help="What each new spot node counts for more.")
    ] = "0",
    objective_node: Annotated[
        str, typer.Option(metavar="$/h", help="What each new node counts for more.")
    ] = "0",
    objective_licence: Annotated[
        list[str],
        typer.Option(metavar="KEY=VALUE,…:$/h", help="A licence that nodes with labels need."),
    ] = _NONE,
    objective_blast_radius: Annotated[
        str,
        typer.Option(
            metavar="PERCENT:$/h",
            help="What each pod counts for beyond a share of its workload on one new node.",
        ),
    ] = "",
    objective_spot_share: Annotated[
        str, typer.Option(metavar="PERCENT", help="Most of new spot nodes of one offering.")
    ] = "0",
    objective_spot_types: Annotated[
        int,
        typer.Option(
            parser=whole(0, 600),
            metavar="N",
            help="Least types that a spot node may be launched as.",
        ),
    ] = 0,
) -> None:
    """Find a place for every waiting pod in the files, and print what would be bought.

    Without --refine-budget or --refine-iterations the first plan that is found is printed, with
    what a perfect one could not cost less than.

    Exit code 0: every pod has a place; 3: some have not; 2: bad input.
    """
    from cli.plan import run  # noqa: PLC0415  # imported when it runs

    choices = Choices(
        preference_policy=preference_policy,
        min_values_policy=min_values_policy,
        feature_gates=gates,
        scheduler_config=scheduler_config,
        now=now,
    )
    refining = Refining(
        budget=refine_budget,
        iterations=refine_iterations,
        seed=seed,
        interruption=objective_interruption,
        node=objective_node,
        licences=tuple(objective_licence),
        blast_radius=objective_blast_radius,
        spot_share=objective_spot_share,
        spot_types=objective_spot_types,
    )
    run(files, catalogue, output, choices, refining)


@app.command()
def simulate(
    files: Files,
    remove_node: Annotated[
        list[str], typer.Option(metavar="NAME", help="Take a node away; its pods move.")
    ] = _NONE,
    cordon_node: Annotated[
        list[str], typer.Option(metavar="NAME", help="Let nothing new onto a node.")
    ] = _NONE,
    add_node: Annotated[
        list[str],
        typer.Option(
            metavar="POOL=TYPE/ZONE/CAPACITY-TYPE[:N]", help="Add N nodes, bought and ready."
        ),
    ] = _NONE,
    add: Annotated[
        list[str], typer.Option(metavar="FILE", help="Add objects, such as pods or Deployments.")
    ] = _NONE,
    scale: Annotated[
        list[str],
        typer.Option(metavar="NS/[KIND/]NAME=N", help="Let a workload have N pods."),
    ] = _NONE,
    remove_workload: Annotated[
        list[str], typer.Option(metavar="NS/[KIND/]NAME", help="Take a workload away.")
    ] = _NONE,
    without_zone: Annotated[
        list[str], typer.Option(metavar="ZONE", help="A zone is gone, with its nodes.")
    ] = _NONE,
    without_capacity_type: Annotated[
        list[str],
        typer.Option(metavar="TYPE", help="spot, on-demand or reserved is gone, with its nodes."),
    ] = _NONE,
    without_instance_type: Annotated[
        list[str], typer.Option(metavar="TYPE", help="An instance type is gone, with its nodes.")
    ] = _NONE,
    price: Annotated[
        list[str],
        typer.Option(
            metavar="[zone=Z,type=T,capacity-type=C:]±P%",
            help="Change prices, of all or some offerings, by P per cent.",
        ),
    ] = _NONE,
    pool_file: Annotated[
        list[str], typer.Option(metavar="FILE", help="Add or replace NodePools.")
    ] = _NONE,
    remove_pool: Annotated[
        list[str], typer.Option(metavar="NAME", help="Delete a NodePool, and so its nodes.")
    ] = _NONE,
    overlay_file: Annotated[
        list[str], typer.Option(metavar="FILE", help="Add or replace NodeOverlays.")
    ] = _NONE,
    remove_overlay: Annotated[
        list[str], typer.Option(metavar="NAME", help="Delete a NodeOverlay.")
    ] = _NONE,
    scenario_file: Annotated[
        str, typer.Option(metavar="FILE", help="Many what-ifs: docs/simulate.md.")
    ] = "",
    catalogue: CatalogueName = "kwok",
    output: Output = Format.TABLE,
    preference_policy: Preferences = PreferencePolicy.RESPECT,
    min_values_policy: MinValues = MinValuesPolicy.STRICT,
    gates: Gates = "",
    scheduler_config: SchedulerConfig = "",
    now: Now = None,
    refine_budget: RefineBudget = "0s",
    refine_iterations: RefineIterations = None,
    seed: Seed = 0,
) -> None:
    """Say what would change, and what it would cost, if the cluster were otherwise.

    All changes of one call are one what-if; a scenario file has many. Exit code 0: every pod has a
    place; 3: some have not in some what-if; 2: bad input.
    """
    from cli.simulate import Question, run  # noqa: PLC0415  # imported when it runs

    what_if = WhatIf(
        add=tuple(add),
        pool_files=tuple(pool_file),
        overlay_files=tuple(overlay_file),
        remove_overlays=tuple(remove_overlay),
        prices=tuple(price),
        remove_nodes=tuple(remove_node),
        cordon_nodes=tuple(cordon_node),
        add_nodes=tuple(add_node),
        scale=tuple(scale),
        remove_workloads=tuple(remove_workload),
        without_instance_types=tuple(without_instance_type),
        without_zones=tuple(without_zone),
        without_capacity_types=tuple(without_capacity_type),
        remove_pools=tuple(remove_pool),
    )
    choices = Choices(
        preference_policy=preference_policy,
        min_values_policy=min_values_policy,
        feature_gates=gates,
        scheduler_config=scheduler_config,
        now=now,
    )
    question = Question(
        files=tuple(files),
        catalogue=catalogue,
        choices=choices,
        refining=Refining(budget=refine_budget, iterations=refine_iterations, seed=seed),
        what_if=what_if,
        scenario_file=scenario_file,
    )
    run(question, output)


@app.command()
def consolidate(
    files: Files,
    node_budget: Annotated[
        str,
        typer.Option(
            parser=count_or_percent(_MOST_PODS),
            metavar="N|P%",
            help="Most nodes to give up per pool; else as its own budgets allow.",
        ),
    ] = "",
    move_price: Annotated[
        float,
        typer.Option(
            parser=real(0, _MOST_DOLLARS),
            metavar="$/h",
            help="Saving that moving one pod has to be worth.",
        ),
    ] = 0.0,
    max_moves: Annotated[
        int | None,
        typer.Option(
            parser=whole(0, _MOST_PODS),
            metavar="N",
            help="Most pods to move; without it any number.",
        ),
    ] = None,
    catalogue: CatalogueName = "kwok",
    output: Output = Format.TABLE,
    preference_policy: Preferences = PreferencePolicy.RESPECT,
    min_values_policy: MinValues = MinValuesPolicy.STRICT,
    gates: Gates = "",
    scheduler_config: SchedulerConfig = "",
    now: Now = None,
) -> None:
    """Find which nodes in the files are best given up or replaced, and what that saves.

    The commands are printed in an order of which any beginning may be carried out alone. Exit code
    0: answered; 2: bad input.
    """
    from cli.consolidate import run  # noqa: PLC0415  # imported when it runs

    choices = Choices(
        preference_policy=preference_policy,
        min_values_policy=min_values_policy,
        feature_gates=gates,
        scheduler_config=scheduler_config,
        now=now,
    )
    bounds = Bounds(node_budget=node_budget, move_price=move_price, max_moves=max_moves)
    run(files, catalogue, output, choices, bounds)


@app.command()
def check(
    files: Files,
    plan: Annotated[Path, typer.Option(help="A plan: what `joiner plan --format json` prints.")],
    catalogue: CatalogueName = "kwok",
    output: Output = Format.TABLE,
    scheduler_config: SchedulerConfig = "",
    now: Now = None,
) -> None:
    """Judge every placement of a plan by kube-scheduler's rules, and every claim by its pool's.

    A plan records its feature gates and policies; give the catalogue and the scheduler's
    configuration that it was made with again.

    Exit code 0: the plan is right; 3: it is not, each violated rule is named; 2: bad input.
    """
    from cli.check import PlannedWith, run  # noqa: PLC0415  # imported when it runs

    planned_with = PlannedWith(catalogue=catalogue, scheduler_config=scheduler_config, now=now)
    run(files, plan, planned_with, output)


@app.command()
def verdicts(
    file: Annotated[Path, typer.Argument(help="Recording: JSON lines, plain, .gz or .xz.")],
    judge: Annotated[Judge, typer.Option("--with", help="Who answers again.")] = Judge.ORACLE,
    output: Output = Format.TABLE,
) -> None:
    """Replay a recording of a real server and print lines, agree, and the ids that differ."""
    from cli.verdicts import run  # noqa: PLC0415  # imported when it runs

    run(file, judge, output)


@app.command()
def run(
    keep: Annotated[
        bool, typer.Option("--keep", help="Stay up once everything runs, until Ctrl-C.")
    ] = False,
    folder: Annotated[
        Path, typer.Option(help="Where each run makes a folder for its logs.")
    ] = Path(".run"),
) -> None:
    """Start a simulated cluster and all services, give them work, and watch them buy nodes.

    Exit code 0: everything that can run did, and the checker accepts every state; 1: it did not;
    130: interrupted.
    """
    from cli.run.outcome import run_to_the_end  # noqa: PLC0415  # imported when it runs

    raise typer.Exit(run_to_the_end(folder, keep=keep))


@explains.command("pod")
def explain_pod(
    name: Annotated[str, typer.Argument(metavar="NS/NAME", help="The pod.")],
    files: Files,
    catalogue: CatalogueName = "kwok",
    output: Output = Format.TABLE,
    preference_policy: Preferences = PreferencePolicy.RESPECT,
    min_values_policy: MinValues = MinValuesPolicy.STRICT,
    gates: Gates = "",
    scheduler_config: SchedulerConfig = "",
    now: Now = None,
) -> None:
    """Say where a pod goes, or what keeps it from each pool and node and what would help.

    Every change that is proposed was tried. Exit code 0: answered; 2: bad input.
    """
    from cli.explain import run  # noqa: PLC0415  # imported when it runs

    choices = Choices(
        preference_policy=preference_policy,
        min_values_policy=min_values_policy,
        feature_gates=gates,
        scheduler_config=scheduler_config,
        now=now,
    )
    run(Subject(kind=SubjectKind.POD_NAME, name=name), files, catalogue, output, choices)


@explains.command("node")
def explain_node(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The node, or a claim in flight.")],
    files: Files,
    catalogue: CatalogueName = "kwok",
    output: Output = Format.TABLE,
    preference_policy: Preferences = PreferencePolicy.RESPECT,
    min_values_policy: MinValues = MinValuesPolicy.STRICT,
    gates: Gates = "",
    scheduler_config: SchedulerConfig = "",
    now: Now = None,
) -> None:
    """Say what a node holds, which waiting pods it could take, what would be cheaper.

    Exit code 0: answered; 2: bad input.
    """
    from cli.explain import run  # noqa: PLC0415  # imported when it runs

    choices = Choices(
        preference_policy=preference_policy,
        min_values_policy=min_values_policy,
        feature_gates=gates,
        scheduler_config=scheduler_config,
        now=now,
    )
    run(Subject(kind=SubjectKind.NODE, name=name), files, catalogue, output, choices)


@explains.command("pool")
def explain_pool(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The NodePool.")],
    files: Files,
    catalogue: CatalogueName = "kwok",
    output: Output = Format.TABLE,
    preference_policy: Preferences = PreferencePolicy.RESPECT,
    min_values_policy: MinValues = MinValuesPolicy.STRICT,
    gates: Gates = "",
    scheduler_config: SchedulerConfig = "",
    now: Now = None,
) -> None:
    """Say what a pool could buy, what each requirement takes away, which pods it refuses.

    Exit code 0: answered; 2: bad input.
    """
    from cli.explain import run  # noqa: PLC0415  # imported when it runs

    choices = Choices(
        preference_policy=preference_policy,
        min_values_policy=min_values_policy,
        feature_gates=gates,
        scheduler_config=scheduler_config,
        now=now,
    )
    run(Subject(kind=SubjectKind.NODEPOOL, name=name), files, catalogue, output, choices)


@imports.callback()
def _group() -> None:
    """Keep the trace's name a sub-command, even while there is one alone."""


@imports.command("openb")
def import_openb(
    pods: Annotated[Path, typer.Argument(help="The trace's list of pods (CSV).")],
    nodes: Annotated[Path, typer.Argument(help="The trace's list of machines (CSV).")],
    machines: Annotated[
        Machines, typer.Option("--nodes", help="What becomes of the trace's machines.")
    ] = Machines.CORDONED,
) -> None:
    """Print the openb trace as a List: every pod waiting, its machines as cordoned nodes."""
    from cli.importing import run_openb  # noqa: PLC0415  # imported when it runs

    run_openb(pods, nodes, machines)


def main() -> None:
    """Run the command line."""
    app()
