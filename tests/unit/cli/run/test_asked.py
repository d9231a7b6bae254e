"""What may be asked of a run, and what a run on simulated time prints."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.command import joiner

SCRIPT = """
name: small
until: 2m
steps:
  - at: 0s
    apply:
      - apiVersion: v1
        kind: Node
        metadata: {name: n1}
        spec: {providerID: "kwok://n1"}
        status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}}
      - apiVersion: v1
        kind: Pod
        metadata: {name: p}
        spec: {containers: [{name: main, image: a}]}
  - at: 1m
    note: halfway
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT)
    return path


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--virtual"], "--virtual: needs a --script"),
        (["--alone"], "--alone: goes with --virtual only"),
        (["--log", "x"], "--log: goes with --virtual only"),
        (["--script", "nowhere.yaml"], "nowhere.yaml: No such file or directory"),
        (["--script", "nowhere.yaml", "--virtual"], "nowhere.yaml: No such file or directory"),
    ],
)
def test_what_does_not_go_together_is_refused(options: list[str], words: str) -> None:
    answer = joiner("run", *options)

    assert (answer.code, answer.err.strip()) == (2, f"joiner: {words}")


def test_time_that_passes_at_once_cannot_be_kept(script: Path) -> None:
    answer = joiner("run", "--keep", "--virtual", "--script", str(script))

    assert answer.code == 2
    assert "--keep: does not go with --virtual" in answer.err


def test_what_is_wrong_with_a_script_is_told_before_anything_is_started(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("steps: [{at: 0s, pasue: true}]")

    answer = joiner("run", "--script", str(path))

    expected = f'joiner: {path}: steps[0]: there is no "pasue"; perhaps "pause"\n'
    assert (answer.code, answer.err) == (2, expected)


def test_a_run_tells_what_happens_and_how_it_ends(script: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"

    answer = joiner("run", "--script", str(script), "--virtual", "--alone", "--log", str(log))

    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[:2] == [
        "0:00:00.0  apply  Node n1  created",
        "0:00:00.0  apply  Pod default/p  created",
    ]
    assert "0:00:01.0  node ready  Node n1" in lines
    assert "0:01:00.0  note  steps[1]  halfway" in lines
    assert lines[-2:] == [
        "pods: 1 runs; nodes: 1 ready",
        "checker: accepted, kube-scheduler's rules hold for every pod",
    ]
    told = [json.loads(line) for line in log.read_text().splitlines()]
    assert {"seconds": 60.0, "what": "note", "subject": "steps[1]", "detail": "halfway"} in told
    assert [one["what"] for one in told if one.get("subject") == "Pod default/p"] == [
        "apply",
        "pod waits",
        "pod bound",
        "pod runs",
    ]


def test_a_run_after_which_a_pod_waits_is_no_success(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT.replace('cpu: "4", memory: 8Gi, pods: "10"', 'pods: "0"'))

    answer = joiner("run", "--script", str(path), "--virtual", "--alone")

    assert answer.code == 1
    assert "  default/p does not run" in answer.out.splitlines()
