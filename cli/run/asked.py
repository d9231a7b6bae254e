"""How a run was asked for, and which of its two ways it goes: processes, or simulated time."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from cli.failures import bad_input_exits
from cli.run.services import CATALOGUE
from libs.domain.errors import InvalidRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options of `joiner run`."""

    keep: bool
    folder: Path
    script: Path | None
    virtual: bool
    alone: bool
    log: Path | None
    state: Path | None
    catalogue: str


def run(asked: Asked) -> int:
    """Run it and return the exit code."""
    with bad_input_exits():
        _check(asked)
        if asked.virtual and asked.script is not None:
            from cli.run.virtual import Play, run_to_the_end  # noqa: PLC0415  # one of two ways

            play = Play(
                script=asked.script,
                joiner=not asked.alone,
                catalogue=asked.catalogue or CATALOGUE,
                state=asked.state,
                log=asked.log,
            )
            return run_to_the_end(play, Console())
        return _run_processes(asked)


def _check(asked: Asked) -> None:
    if asked.virtual and asked.script is None:
        raise InvalidRequest("needs a --script", field="--virtual")
    if asked.virtual and asked.keep:
        raise InvalidRequest("does not go with --virtual: its time passes at once", field="--keep")
    options = {
        "--alone": asked.alone,
        "--log": asked.log is not None,
        "--state": asked.state is not None,
        "--catalogue": bool(asked.catalogue),
    }
    for name, given in options.items():
        if given and not asked.virtual:
            raise InvalidRequest("goes with --virtual only", field=name)


def _run_processes(asked: Asked) -> int:
    from cli.run import outcome  # noqa: PLC0415  # one of two ways
    from services.simulator.script.reading import load  # noqa: PLC0415  # likewise

    if asked.script is not None:
        load(asked.script)  # so that what is wrong is told before anything is started
    return outcome.run_to_the_end(asked.folder, keep=asked.keep, script=asked.script)
