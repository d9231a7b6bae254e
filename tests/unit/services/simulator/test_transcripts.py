"""A real API server's answers against ours: the sequences in the floor files must agree."""

import gzip
from pathlib import Path

import pytest

from services.simulator.transcripts import replay

DATA = Path(__file__).parents[3] / "data"


@pytest.mark.parametrize(
    ("recording", "floor"),
    [
        pytest.param("apiserver_transcripts.jsonl.gz", "transcripts_floor.txt", id="given"),
        pytest.param("own_transcripts.jsonl.gz", "own_transcripts_floor.txt", id="our own"),
    ],
)
def test_every_sequence_of_the_floor_agrees_with_the_recording(recording: str, floor: str) -> None:
    with gzip.open(DATA / recording) as lines:
        results = {result.id: result for result in replay(lines)}
    ids = Path(__file__).with_name(floor).read_text().split()

    agreeing = {id_ for id_, result in results.items() if result.agrees}
    print(f"{len(agreeing)} of {len(results)} sequences agree")
    lost = {id_: results[id_].differences for id_ in ids if id_ not in agreeing}

    assert lost == {}


def test_a_different_answer_is_a_difference() -> None:
    line = """{"id": "x", "needs": ["core"], "steps": [
        {"method": "GET", "path": "/api/v1/namespaces/none", "expect": {"status": 200}}]}"""
    (result,) = replay([line])

    assert not result.agrees
    assert result.differences == ("step 0: status 404, recorded 200",)
