from pathlib import Path

import pytest

from libs.domain.errors import InvalidRequest
from services.watcher.adapters.scheduler_config import read_default_spread


def test_no_file_is_no_constraint() -> None:
    assert read_default_spread("") == ()


def test_the_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(
        "podTopologySpread: {defaultConstraints: "
        "[{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]}"
    )

    (found,) = read_default_spread(str(file))

    assert found.topology_key == "rack"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(None, "cannot be read", id="missing"),
        pytest.param(b"\xff", "cannot be read", id="not text"),
        pytest.param(b"a: 1", "a: is unknown here", id="no such document"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    file = tmp_path / "scheduler.yaml"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(InvalidRequest, match=message) as caught:
        read_default_spread(str(file))

    assert caught.value.field == str(file)
