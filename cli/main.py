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
from cli.grouped import grouped
from cli.options import (
    Asked,
    Bounds,
    CatalogueName,
    Choices,
    Files,
    Judge,
    Machines,
    Now,
    Output,
    SchedulerConfig,
    Subject,
    WhatIf,
)
from cli.refining import Objectives, Refining
from libs.domain.question import SubjectKind

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

# Imports below are inside functions, see the module's docstring.


@app.command()
@grouped
def plan(
    files: Files,
    choices: Choices,
    refining: Refining,
    objectives: Objectives,
    catalogue: CatalogueName = "kwok",
    output: Output = Format.TABLE,
) -> None:
    """Find a place for every waiting pod in the files, and print what would be bought.

    Without --refine-budget or --refine-iterations the first plan that is found is printed, with
    what a perfect one could not cost less than.

    Exit code 0: every pod has a place; 3: some have not; 2: bad input.
    """
    from cli.plan import Typed, run  # noqa: PLC0415  # imported when it runs

    typed = Typed(choices=choices, refining=refining, objectives=objectives)
    run(files, catalogue, output, typed)


@app.command()
@grouped
def simulate(
    files: Files,
    what_if: WhatIf,
    choices: Choices,
    refining: Refining,
    scenario_file: Annotated[
        str, typer.Option(metavar="FILE", help="Many what-ifs: docs/simulate.md.")
    ] = "",
    catalogue: CatalogueName = "kwok",
    output: Output = Format.TABLE,
) -> None:
    """Say what would change, and what it would cost, if the cluster were otherwise.

    All changes of one call are one what-if; a scenario file has many. Exit code 0: every pod has a
    place; 3: some have not in some what-if; 2: bad input.
    """
    from cli.simulate import Question, run  # noqa: PLC0415  # imported when it runs

    question = Question(
        files=tuple(files),
        catalogue=catalogue,
        choices=choices,
        refining=refining,
        what_if=what_if,
        scenario_file=scenario_file,
    )
    run(question, output)


@app.command()
@grouped
def consolidate(
    files: Files,
    bounds: Bounds,
    choices: Choices,
    catalogue: CatalogueName = "kwok",
    output: Output = Format.TABLE,
) -> None:
    """Find which nodes in the files are best given up or replaced, and what that saves.

    The commands are printed in an order of which any beginning may be carried out alone. Exit code
    0: answered; 2: bad input.
    """
    from cli.consolidate import run  # noqa: PLC0415  # imported when it runs

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
    script: Annotated[
        Path | None,
        typer.Option(help="Scenario script to play instead of the shop: docs/scenarios.md."),
    ] = None,
    virtual: Annotated[
        bool,
        typer.Option("--virtual", help="On simulated time, in this process: an hour in seconds."),
    ] = False,
    alone: Annotated[
        bool, typer.Option("--alone", help="With --virtual: the cluster alone, without Joiner.")
    ] = False,
    log: Annotated[
        Path | None,
        typer.Option(help="With --virtual: file for all that happened, as JSON lines."),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="With --virtual: dump that the cluster begins with: docs/capture.md."),
    ] = None,
    catalogue: Annotated[
        str, typer.Option(help="With --virtual: what is sold, as for plan; else aws.")
    ] = "",
) -> None:
    """Start a simulated cluster and all services, give them work, and watch them buy nodes.

    Exit code 0: everything that can run did, and the checker accepts every state; 1: it did not;
    2: bad input; 130: interrupted.
    """
    from cli.run.asked import Asked, run  # noqa: PLC0415  # imported when it runs

    asked = Asked(
        keep=keep,
        folder=folder,
        script=script,
        virtual=virtual,
        alone=alone,
        log=log,
        state=state,
        catalogue=catalogue,
    )
    raise typer.Exit(run(asked))


@app.command()
def capture(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write; packed unless it is *.jsonl.")
    ] = Path("cluster.jsonl.gz"),
    kubeconfig: Annotated[
        str, typer.Option(help="Which cluster; else KUBECONFIG, or the usual file.")
    ] = "",
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP", help="Custom resources of this API group, too."),
    ] = None,
    managed_fields: Annotated[
        bool, typer.Option("--managed-fields", help="Keep metadata.managedFields.")
    ] = False,
    containers: Annotated[
        bool,
        typer.Option(
            "--containers",
            help="Keep environment, commands and long annotations: for your own use.",
        ),
    ] = False,
) -> None:
    """Write all of a cluster that an autoscaler can see into one file: docs/capture.md.

    Nothing in the cluster is changed. Secrets and ConfigMaps are not read; environment variables,
    commands and arguments of containers are not kept. Exit code 0: written; 1: the cluster cannot
    be read; 2: bad input.
    """
    from cli.capture import Asked, run  # noqa: PLC0415  # imported when it runs
    from libs.kube.dump.redaction import Keeping  # noqa: PLC0415  # likewise

    keeping = Keeping(managed_fields=managed_fields, containers=containers)
    run(Asked(output=output, kubeconfig=kubeconfig, also=tuple(also or ()), keeping=keeping))


@explains.command("pod")
@grouped
def explain_pod(
    name: Annotated[str, typer.Argument(metavar="NS/NAME", help="The pod.")],
    asked: Asked,
) -> None:
    """Say where a pod goes, or what keeps it from each pool and node and what would help.

    Every change that is proposed was tried. Exit code 0: answered; 2: bad input.
    """
    _explain(SubjectKind.POD_NAME, name, asked)


@explains.command("node")
@grouped
def explain_node(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The node, or a claim in flight.")],
    asked: Asked,
) -> None:
    """Say what a node holds, which waiting pods it could take, what would be cheaper.

    Exit code 0: answered; 2: bad input.
    """
    _explain(SubjectKind.NODE, name, asked)


@explains.command("pool")
@grouped
def explain_pool(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The NodePool.")],
    asked: Asked,
) -> None:
    """Say what a pool could buy, what each requirement takes away, which pods it refuses.

    Exit code 0: answered; 2: bad input.
    """
    _explain(SubjectKind.NODEPOOL, name, asked)


def _explain(kind: SubjectKind, name: str, asked: Asked) -> None:
    from cli.explain import run  # noqa: PLC0415  # imported when it runs

    run(Subject(kind=kind, name=name), asked)


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
