"""`joiner verdicts`: replay what real servers answered, and show where we differ.

Three kinds of recordings, told apart by their lines: what a kube-scheduler said of pods, what an
API server said of our custom resources, and sequences of raw requests to an API server.
"""

import gzip
import itertools
import json
import lzma
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from cli.failures import bad_input_exits, progress
from cli.formats import Format, print_json
from cli.options import Judge
from cli.replaying import replay as solver_replay
from libs.domain.errors import InvalidRequest
from libs.kube.crd_files import read_crds
from libs.oracle import replay as oracle_replay
from services.simulator import crd_verdicts, scheduler_verdicts, transcripts
from services.simulator.core.api.server import ApiServer

Outcome = tuple[int | str, tuple[str, ...]]
"""Id of a line and what differs there, in words."""
_LINES_PER_UPDATE = 100
_KINDS: Mapping[tuple[str, ...], tuple[Judge, ...]] = {
    ("pending", "verdict"): (Judge.ORACLE, Judge.SOLVER, Judge.SIMULATOR),
    ("gvk", "op"): (Judge.SIMULATOR,),
    ("steps",): (Judge.SIMULATOR,),
}
"""Who answers lines that have these fields."""

Player = Callable[[Sequence[str]], Iterator[Outcome]]


def run(file: Path, judge: Judge, output: Format) -> None:
    """Carry out `joiner verdicts`."""
    with bad_input_exits(), progress("reading") as status:
        lines = _lines(file)
        outcomes = []
        for outcome in _outcomes(lines, _player(lines, judge, file), file):
            outcomes.append(outcome)
            if len(outcomes) % _LINES_PER_UPDATE == 0:
                status.update(f"replayed {len(outcomes)} of {len(lines)} lines")
    differing = [(id_, found) for id_, found in outcomes if found]
    if output is Format.JSON:
        report = {
            "lines": len(outcomes),
            "agree": len(outcomes) - len(differing),
            "differ": [{"id": id_, "differences": list(found)} for id_, found in differing],
        }
        print_json(report)
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


def _outcomes(lines: Sequence[str], player: Player, file: Path) -> Iterator[Outcome]:
    answered = 0
    try:
        for outcome in player(lines):
            yield outcome
            answered += 1
    except (ValueError, LookupError, TypeError, AttributeError, InvalidRequest) as error:
        # Recordings are read as they are recorded; whatever is amiss in a line shows like this.
        shown = error if isinstance(error, InvalidRequest) else repr(error)
        raise InvalidRequest(
            f"line {answered + 1} is not like the others of a recording: {shown}", field=str(file)
        ) from error


def _player(lines: Sequence[str], judge: Judge, file: Path) -> Player:
    if not lines:
        return lambda _: iter(())
    first = _decoded(lines[0], file)
    match first, judge:
        case {"pending": _, "verdict": _}, Judge.ORACLE:
            return _scheduling
        case {"pending": _, "verdict": _}, Judge.SOLVER:
            return _accepting
        case {"pending": _, "verdict": _}, Judge.SIMULATOR:
            return _living
        case {"gvk": _, "op": _}, Judge.SIMULATOR:
            return _custom_resources
        case {"steps": _}, Judge.SIMULATOR:
            return _conversations
    raise InvalidRequest(_unanswered(first, judge), field=str(file))


def _unanswered(line: dict[str, Any], judge: Judge) -> str:
    """Say who answers such lines, or what a line of each kind has and this one lacks."""
    for fields, judges in _KINDS.items():
        if line.keys() >= set(fields):
            others = " or ".join(f"--with {one}" for one in judges)
            return f"the {judge} cannot answer lines of this kind; try {others}"
    nearest = max(_KINDS, key=lambda fields: len(line.keys() & set(fields)))
    if there := [field for field in nearest if field in line]:
        lacking = " and ".join(repr(field) for field in nearest if field not in line)
        return f"line 1 is no recording: it has {' and '.join(map(repr, there))}, but not {lacking}"
    kinds = ", or ".join(" and ".join(map(repr, fields)) for fields in _KINDS)
    return f"line 1 is no recording: one has {kinds}"


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


def _accepting(lines: Sequence[str]) -> Iterator[Outcome]:
    return ((result.id, result.differences) for result in solver_replay(lines))


def _living(lines: Sequence[str]) -> Iterator[Outcome]:
    return ((result.id, result.differences) for result in scheduler_verdicts.replay(lines))


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
