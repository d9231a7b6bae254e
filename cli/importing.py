"""`joiner import`: foreign traces as Kubernetes objects."""

import json
import sys
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from cli import openb
from cli.failures import bad_input_exits

app = typer.Typer(no_args_is_help=True, help="Turn a foreign trace into Kubernetes objects.")


@app.callback()
def _group() -> None:
    """Keep the trace's name a sub-command, even while there is one alone."""


@app.command("openb")
def import_openb(
    pods: Annotated[Path, typer.Argument(help="The trace's list of pods (CSV).")],
    nodes: Annotated[Path, typer.Argument(help="The trace's list of machines (CSV).")],
    machines: Annotated[
        openb.Machines, typer.Option("--nodes", help="What becomes of the trace's machines.")
    ] = openb.Machines.CORDONED,
) -> None:
    """Print the openb trace as a List: every pod waiting, its machines as cordoned nodes."""
    with (
        bad_input_exits(),
        pods.open(newline="") as pod_lines,
        nodes.open(newline="") as machine_lines,
    ):
        kept = machines is not openb.Machines.NONE
        found = openb.nodes(machine_lines, str(nodes), machines) if kept else iter(())
        document = openb.as_list(chain(openb.pods(pod_lines, str(pods)), found))
    json.dump(document, sys.stdout, indent=1)
    sys.stdout.write("\n")
