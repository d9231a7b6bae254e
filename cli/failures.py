"""How a command ends, and what people see while it runs: exit codes, errors as one clear line."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.status import Status
from typer.core import TyperGroup

from libs.domain.errors import InvalidRequest

BAD_INPUT = 2
NEGATIVE = 3
"""The answer is a no: a pod has no place, a plan breaks a rule."""
_TOLD = 50
"""Most objects that are named of those that do not count."""


class OneLineErrors(TyperGroup):
    """The root of the commands; what cannot be read of a command line is bad input like all else.

    A class because that is how typer lets its errors be shown otherwise than in boxes.
    """

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line, and end with its exit code."""
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except typer.TyperException as error:
            if told := _told(error):
                print(f"joiner: {told}", file=sys.stderr)
            sys.exit(error.exit_code)
        except typer.Abort:
            sys.exit(1)
        sys.exit(code or 0)


def _told(error: typer.TyperException) -> str:
    """Return the error in one line that begins with the option; empty where help was printed."""
    detail = " ".join(error.format_message().split())
    if isinstance(error, typer.BadParameter) and error.message and error.param is not None:
        names = error.param.opts
        name = next((one for one in names if one.startswith("--")), error.param.metavar or names[0])
        message = " ".join(error.message.split()).removeprefix("Value error, ")
        return f"{name}: {message.removesuffix('.')}"
    return detail[:1].lower() + detail[1:].removesuffix(".")


@contextmanager
def bad_input_exits() -> Iterator[None]:
    """Turn bad input into one line on standard error and exit code 2."""
    try:
        yield
    except InvalidRequest as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def end(refused: Iterable[str], *, negative: bool = False) -> None:
    """End a command that has answered: what of the input did not count is bad input still.

    Args:
        refused: what did not count, with its place; the answer is about all the rest.
        negative: whether the answer is a no.
    """
    told = list(dict.fromkeys(refused))
    for message in told[:_TOLD]:
        print(f"joiner: {message}", file=sys.stderr)
    if len(told) > _TOLD:
        print(f"joiner: {len(told) - _TOLD} more objects do not count", file=sys.stderr)
    if told:
        raise typer.Exit(BAD_INPUT)
    if negative:
        raise typer.Exit(NEGATIVE)


def progress(doing: str) -> Status:
    """Return a spinner on standard error, seen on terminals alone."""
    return Console(stderr=True).status(doing)


def _fail(message: str) -> None:
    print(f"joiner: {message}", file=sys.stderr)
    raise typer.Exit(BAD_INPUT) from None
