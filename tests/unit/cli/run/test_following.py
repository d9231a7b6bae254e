"""What a simulator's log says of a script, in words."""

import json
from pathlib import Path

from cli.run.following import Tail

PLAYED = {"message": "script", "after": "0:00:10.0", "what": "scale", "subject": "a", "detail": ""}
OTHER = {"message": "listening", "what": "nothing"}


def test_each_line_is_told_once_and_when_it_is_whole(tmp_path: Path) -> None:
    log = tmp_path / "simulator.log"
    tail = Tail(log)
    assert list(tail.lines()) == []

    whole, half = f"{json.dumps(OTHER)}\n{json.dumps(PLAYED)}\n", json.dumps(PLAYED)
    log.write_text(f"{whole}nonsense\n{half[:20]}")
    assert list(tail.lines()) == ["0:00:10.0  scale  a"]
    assert list(tail.lines()) == []

    log.write_text(f"{whole}nonsense\n{half}\n")
    assert list(tail.lines()) == ["0:00:10.0  scale  a"]
