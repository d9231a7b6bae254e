"""A real API server's answers against ours: the sequences in the floor file must agree."""

import gzip
from pathlib import Path

from services.simulator.transcripts import replay

RECORDED = Path(__file__).parents[3] / "data" / "apiserver_transcripts.jsonl.gz"
FLOOR = Path(__file__).with_name("transcripts_floor.txt")


def test_every_sequence_of_the_floor_agrees_with_the_recording() -> None:
    with gzip.open(RECORDED) as lines:
        results = {result.id: result for result in replay(lines)}

    agreeing = {id_ for id_, result in results.items() if result.agrees}
    print(f"{len(agreeing)} of {len(results)} sequences agree")
    lost = {
        id_: results[id_].differences for id_ in FLOOR.read_text().split() if id_ not in agreeing
    }

    assert lost == {}


def test_a_different_answer_is_a_difference() -> None:
    line = """{"id": "x", "needs": ["core"], "steps": [
        {"method": "GET", "path": "/api/v1/namespaces/none", "expect": {"status": 200}}]}"""
    (result,) = replay([line])

    assert not result.agrees
    assert result.differences == ("step 0: status 404, recorded 200",)
