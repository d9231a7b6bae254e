"""How a command ends: exit codes, and errors as one clear line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from libs.domain.errors import InvalidRequest

BAD_INPUT = 2
UNPLACED = 3


@contextmanager
def bad_input_exits() -> Iterator[None]:
    """Turn bad input into one line on standard error and exit code 2."""
    try:
        yield
    except InvalidRequest as error:
        print(f"joiner: {error}", file=sys.stderr)
        raise typer.Exit(BAD_INPUT) from None
    except OSError as error:
        print(f"joiner: {error.filename}: {error.strerror}", file=sys.stderr)
        raise typer.Exit(BAD_INPUT) from None
