"""`joiner simulate`: what people are told."""

import json
from pathlib import Path

from tests.unit.cli.command import POD, joiner, with_members, written
from tests.unit.cli.simulating import (
    CLUSTER,
    types_file,
)


def test_people_are_told_what_changes(tmp_path: Path) -> None:
    done = joiner(
        "simulate",
        "-f",
        written(tmp_path, *CLUSTER),
        "--catalogue",
        types_file(tmp_path),
        "--remove-node",
        "n1",
    )

    assert done.out.splitlines()[0] == "as it is: 1 node, 0.5000 $/h; no pod waits for a node"
    for line in (
        "what if: --remove-node n1",
        "1 node gone: n1",
        "1 pod waits: 0 on existing nodes, 1 on new nodes, 0 without a place",
        "1 pod from n1 to a new small of pool in a",
        "0.5000 $/h now, 0.2500 $/h then: -0.2500 $/h",
    ):
        assert line in done.out.splitlines()


def test_people_are_told_who_is_left_without_a_place_and_why(tmp_path: Path) -> None:
    done = joiner(
        "simulate",
        "-f",
        written(tmp_path, *CLUSTER),
        "--catalogue",
        types_file(tmp_path),
        "--remove-pool",
        "pool",
    )

    assert "1 pod left without a place: shop/web" in done.out
    assert "1 pod without a place: shop/web\n    no node takes it, and there is no nodepool" in (
        done.out
    )


def test_several_what_ifs_have_an_overview(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("[{name: one, removeNodes: n1}, {name: two, cordonNodes: n1}]")

    done = joiner(
        "simulate",
        "-f",
        written(tmp_path, *CLUSTER),
        "--catalogue",
        types_file(tmp_path),
        "--scenario-file",
        file,
    )

    rows = [line.split() for line in done.out.splitlines() if line.strip()[:3] in ("one", "two")]
    assert rows == [
        ["one", "1", "0", "1", "1", "0", "0.2500", "-0.2500"],
        ["two", "0", "0", "0", "0", "0", "0.5000", "+0.0000"],
    ]


def test_standard_input_is_read_once_however_many_files_are_added(tmp_path: Path) -> None:
    more = written(
        tmp_path, with_members(POD, metadata__name="m", metadata__uid="m"), name="m.json"
    )
    cluster = written(tmp_path, *CLUSTER).read_bytes()

    done = joiner(
        "simulate",
        "-f",
        "-",
        "--catalogue",
        types_file(tmp_path),
        "--add",
        more,
        "--format",
        "json",
        stdin=cluster,
    )

    (answer,) = json.loads(done.out)["scenarios"]
    assert answer["response"]["pods"]["onExisting"] == "1"
