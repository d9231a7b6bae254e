"""A real API server's answers against ours: the sequences in the floor file must agree."""

import gzip
from pathlib import Path

import pytest

from services.simulator.transcripts import replay

RECORDED = Path(__file__).parents[5] / "shared" / "data" / "apiserver_transcripts.jsonl.gz"
FLOOR = Path(__file__).with_name("transcripts_floor.txt")


def test_every_sequence_of_the_floor_agrees_with_the_recording() -> None:
    if not RECORDED.exists():
        pytest.skip(f"{RECORDED} is not there: the recording is not part of the repository")
    with gzip.open(RECORDED) as lines:
        results = {result.id: result for result in replay(lines)}

    agreeing = {id_ for id_, result in results.items() if result.agrees}
    print(f"{len(agreeing)} of {len(results)} sequences agree")
    lost = {
        id_: results[id_].differences
        for id_ in FLOOR.read_text().split()
        if id_ in results and id_ not in agreeing
    }

    assert lost == {}
