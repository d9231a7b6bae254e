"""The command line's root: one typer application, a sub-command per module."""

import typer

app = typer.Typer(no_args_is_help=True)


def main() -> None:
    """Run the command line."""
    app()
