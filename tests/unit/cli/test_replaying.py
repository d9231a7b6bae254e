"""What a real kube-scheduler said of single pods, asked of the solver's own rules.

All of both kinds; `tests/data/README.md` says where they come from. And questions that nobody
recorded: pods of one recording on the cluster of another, on which the solver and the oracle, which
share nothing, have to agree.
"""

import json
from itertools import cycle
from typing import Any

import pytest

from cli.replaying import replay
from libs.oracle.cluster import cluster_from_lists
from libs.oracle.replay import UNDOCUMENTED_KINDS
from libs.oracle.verdict import judge
from tests.unit.libs.oracle.recordings import recorded_lines, thin_lines

PARTS = 10
NOT_PLANNED = {"csiStorageCapacity"}
"""What drivers say of the room that is left says nothing of nodes that are to come."""
EVERY = 16


@pytest.mark.parametrize("part", range(PARTS))
def test_the_solver_accepts_the_nodes_that_kube_scheduler_accepts(part: int) -> None:
    results = list(replay(recorded_lines(start=part, every=PARTS)))

    assert len(results) > 600
    different = [
        one for one in results if one.differences and UNDOCUMENTED_KINDS.isdisjoint(one.kinds)
    ]
    assert different == []


@pytest.mark.parametrize("part", range(2))
def test_the_solver_accepts_the_same_nodes_in_the_thin_kinds(part: int) -> None:
    results = list(replay(thin_lines(start=part, every=2)))

    assert len(results) == 300
    different = [one for one in results if one.differences and NOT_PLANNED.isdisjoint(one.kinds)]
    assert different == []


def test_the_solver_and_the_oracle_agree_on_what_nobody_recorded() -> None:
    clusters = map(json.loads, recorded_lines(every=EVERY))
    pods = (json.loads(line) for line in recorded_lines(start=EVERY // 2, every=EVERY))
    lines = [_answered(_moved(there, here)) for here, there in zip(clusters, pods, strict=True)]

    results = list(replay(map(json.dumps, lines)))

    assert sum(line["verdict"]["schedulable"] for line in lines) > len(lines) // 5
    assert [one for one in results if one.differences] == []


def _moved(there: dict[str, Any], here: dict[str, Any]) -> dict[str, Any]:
    """Return a recording with the pod of another one, whose names mean what is here."""
    text = json.dumps(there["pending"])
    for theirs, ours in zip(_names(there), cycle(_names(here)), strict=False):
        text = text.replace(f'"{theirs}"', f'"{ours}"')
    pod = json.loads(text)
    claims = cycle(_claims(here, pod["metadata"]["namespace"]) or ["none"])
    for volume in pod["spec"].get("volumes", ()):
        if "persistentVolumeClaim" in volume:
            volume["persistentVolumeClaim"]["claimName"] = next(claims)
    return {**here, "pending": pod}


def _names(recording: dict[str, Any]) -> list[str]:
    return [one["metadata"]["name"] for kind in ("namespaces", "nodes") for one in recording[kind]]


def _claims(recording: dict[str, Any], namespace: str) -> list[str]:
    return [
        one["metadata"]["name"]
        for one in recording["pvcs"]
        if one["metadata"]["namespace"] == namespace
    ]


def _answered(recording: dict[str, Any]) -> dict[str, Any]:
    verdict = judge(cluster_from_lists(recording), recording["pending"])
    answer = {"schedulable": verdict.schedulable, "feasibleNodes": list(verdict.feasible)}
    return {**recording, "verdict": answer}
