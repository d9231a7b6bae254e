"""`joiner verdicts`: replay what real servers answered, and show where we differ.

Three kinds of recordings, told apart by their lines: what a kube-scheduler said of pods, what an
API server said of our custom resources, and sequences of raw requests to an API server.
"""

import gzip
import itertools
import json
import lzma
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from cli.failures import bad_input_exits
from cli.formats import Format
from libs.domain.errors import InvalidRequest
from libs.oracle import replay as oracle_replay
from services.simulator import crd_verdicts, transcripts
from services.simulator.core.api.server import ApiServer
from services.simulator.crd_files import read_crds

Outcome = tuple[int | str, tuple[str, ...]]
"""Id of a line and what differs there, in words."""


class Judge(StrEnum):
    """Who answers again."""

    ORACLE = "oracle"
    SIMULATOR = "simulator"


def verdicts(
    file: Annotated[Path, typer.Argument(help="Recording: JSON lines, plain, .gz or .xz.")],
    judge: Annotated[Judge, typer.Option("--with", help="Who answers again.")] = Judge.ORACLE,
    output: Annotated[Format, typer.Option("--format")] = Format.TABLE,
) -> None:
    """Replay a recording of a real server and print lines, agree, and the ids that differ."""
    with bad_input_exits():
        lines = _lines(file)
        outcomes = list(_player(lines, judge, file)(lines))
    differing = [(id_, found) for id_, found in outcomes if found]
    if output is Format.JSON:
        report = {
            "lines": len(outcomes),
            "agree": len(outcomes) - len(differing),
            "differ": [{"id": id_, "differences": list(found)} for id_, found in differing],
        }
        json.dump(report, sys.stdout, indent=1)
        sys.stdout.write("\n")
        return
    for id_, found in differing:
        print(f"{id_}: {'; '.join(found)}")
    print(f"{len(outcomes)} lines, {len(outcomes) - len(differing)} agree")


def _lines(file: Path) -> Sequence[str]:
    openers: dict[str, Callable[..., TextIO]] = {".gz": gzip.open, ".xz": lzma.open}
    try:
        with openers.get(file.suffix, open)(file, "rt", encoding="utf-8") as stream:
            return [line for line in stream if line.strip()]
    except (UnicodeDecodeError, gzip.BadGzipFile, lzma.LZMAError, EOFError) as error:
        raise InvalidRequest(f"not a recording: {error}", field=str(file)) from None


def _player(
    lines: Sequence[str], judge: Judge, file: Path
) -> Callable[[Sequence[str]], Iterator[Outcome]]:
    if not lines:
        return lambda _: iter(())
    first = _decoded(lines[0], file)
    match first, judge:
        case {"pending": _, "verdict": _}, Judge.ORACLE:
            return _scheduling
        case {"gvk": _, "op": _}, Judge.SIMULATOR:
            return _custom_resources
        case {"steps": _}, Judge.SIMULATOR:
            return _conversations
    raise InvalidRequest(f"the {judge} cannot answer lines of this kind", field=str(file))


def _decoded(line: str, file: Path) -> dict[str, Any]:
    try:
        decoded = json.loads(line)
    except ValueError as error:
        raise InvalidRequest(f"line 1 is not JSON: {error}", field=str(file)) from None
    if not isinstance(decoded, dict):
        raise InvalidRequest("line 1 is not an object", field=str(file))
    return decoded


def _scheduling(lines: Sequence[str]) -> Iterator[Outcome]:
    return ((result.id, result.differences) for result in oracle_replay.replay(lines))


def _custom_resources(lines: Sequence[str]) -> Iterator[Outcome]:
    stages = {
        "karpenter": crd_verdicts.set_stage(_server(), read_crds()),
        "kwok-chart": crd_verdicts.set_stage(_server(), read_crds(overlay="kwok")),
    }
    results = crd_verdicts.replay(map(json.loads, lines), stages)
    return ((result.id, result.differences) for result in results)


def _conversations(lines: Sequence[str]) -> Iterator[Outcome]:
    return ((result.id, result.differences) for result in transcripts.replay(lines))


def _server() -> ApiServer:
    numbers = itertools.count(1)
    return ApiServer(
        lambda: datetime(2026, 1, 1, tzinfo=UTC),
        lambda: f"00000000-0000-0000-0000-{next(numbers):012d}",
        lambda: f"{next(numbers):05d}"[-5:],
    )
