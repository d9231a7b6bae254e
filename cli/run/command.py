"""`joiner run`: the command; all that it needs is imported when it is used."""

from pathlib import Path
from typing import Annotated

import typer


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
    # The Kubernetes client takes a second to import, which no other command should wait for.
    from cli.run.outcome import run_to_the_end  # noqa: PLC0415  # see above

    raise typer.Exit(run_to_the_end(folder, keep=keep))
