"""The command line's root: one typer application, a module per command."""

import typer

from cli import importing
from cli.check import check
from cli.plan import plan
from cli.run.command import run
from cli.verdicts import verdicts

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Joiner: ask what to buy, why a pod waits, and whether a plan holds.",
)
app.add_typer(importing.app, name="import")
app.command()(plan)
app.command()(check)
app.command()(verdicts)
app.command()(run)


def main() -> None:
    """Run the command line."""
    app()
