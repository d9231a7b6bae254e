"""How a command ends, and what people see while it runs: exit codes, errors as one clear line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.status import Status

from libs.domain.errors import InvalidRequest

BAD_INPUT = 2
NEGATIVE = 3
"""The answer is a no: a pod has no place, a plan breaks a rule."""


@contextmanager
def bad_input_exits() -> Iterator[None]:
    """Turn bad input into one line on standard error and exit code 2."""
    try:
        yield
    except InvalidRequest as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def progress(doing: str) -> Status:
    """Return a spinner on standard error, seen on terminals alone."""
    return Console(stderr=True).status(doing)


def _fail(message: str) -> None:
    print(f"joiner: {message}", file=sys.stderr)
    raise typer.Exit(BAD_INPUT) from None
