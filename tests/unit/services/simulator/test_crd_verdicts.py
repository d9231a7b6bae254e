"""The replay of recorded answers sees what differs; our API server stays as good as it is."""

import copy
import gzip
import itertools
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from libs.kube.crd_files import read_crds
from services.simulator.core.api.server import ApiServer
from services.simulator.crd_verdicts import Result, Stage, replay, set_stage

VERDICTS = Path(__file__).parents[3] / "data" / "crd_verdicts.jsonl.gz"

AGREEING = {"create": 1796, "update": 352, "status": 272, "scale": 16}
"""How many lines agreed in every respect when this was written; mending may only raise it."""

ALIKE = {"create": 1830, "update": 361, "status": 277, "scale": 25}
"""How many were accepted or refused alike."""


def a_server() -> ApiServer:
    numbers = itertools.count(1)
    return ApiServer(
        lambda: datetime(2026, 1, 1, tzinfo=UTC),
        lambda: f"00000000-0000-0000-0000-{next(numbers):012d}",
        lambda: "abcde",
    )


@pytest.fixture(scope="module")
def stages() -> dict[str, Stage]:
    return {
        "karpenter": set_stage(a_server(), read_crds()),
        "kwok-chart": set_stage(a_server(), read_crds(overlay="kwok")),
    }


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    with gzip.open(VERDICTS, "rt") as file:
        return [json.loads(text) for text in file]


def test_the_recorded_answers_are_ours(
    lines: list[dict[str, Any]], stages: dict[str, Stage]
) -> None:
    results = list(replay(lines, stages))

    agreeing = Counter(result.op for result in results if result.agrees)
    alike = Counter(result.op for result in results if result.alike)
    assert len(results) == 2500
    assert {op: agreeing[op] for op in AGREEING if agreeing[op] < AGREEING[op]} == {}
    assert {op: alike[op] for op in ALIKE if alike[op] < ALIKE[op]} == {}


def an_accepted_line() -> dict[str, Any]:
    spec = {"requirements": [], "weight": 1}
    return {
        "id": 1,
        "op": "create",
        "gvk": {"group": "karpenter.sh", "version": "v1alpha1", "kind": "NodeOverlay"},
        "crds": "karpenter",
        "query": {},
        "old": None,
        "object": {
            "apiVersion": "karpenter.sh/v1alpha1",
            "kind": "NodeOverlay",
            "metadata": {"name": "n"},
            "spec": spec,
        },
        "status": 201,
        "stored": {"metadata": {"name": "n", "generation": 1}, "spec": dict(spec)},
    }


def a_refused_line() -> dict[str, Any]:
    line = an_accepted_line()
    del line["stored"]
    line["object"]["spec"] = {"requirements": [], "price": "1", "priceAdjustment": "+1"}
    cause = {"field": "spec", "reason": "FieldValueInvalid", "rule": "NodeOverlay.P1"}
    return {**line, "status": 422, "reason": "Invalid", "causes": [cause]}


def play(line: dict[str, Any], stages: dict[str, Stage]) -> Result:
    (result,) = replay([line], stages)
    return result


@pytest.mark.parametrize("line", [an_accepted_line(), a_refused_line()], ids=["yes", "no"])
def test_a_line_that_agrees_has_no_differences(
    line: dict[str, Any], stages: dict[str, Stage]
) -> None:
    result = play(line, stages)

    assert result.differences == ()
    assert result.alike


@pytest.mark.parametrize(
    ("line", "path", "value", "alike", "difference"),
    [
        pytest.param(
            an_accepted_line(), ["status"], 422, False, "status 201, recorded 422", id="code"
        ),
        pytest.param(
            an_accepted_line(), ["stored", "spec", "weight"], 2, True, "object {", id="object"
        ),
        pytest.param(
            an_accepted_line(), ["warnings"], [{"message": "m"}], True, "warnings [", id="warnings"
        ),
        pytest.param(
            a_refused_line(),
            ["causes", 0, "rule"],
            "NodeOverlay.K1",
            True,
            "cause only here: spec | FieldValueInvalid | NodeOverlay.P1",
            id="rule",
        ),
        pytest.param(
            a_refused_line(), ["causes", 0, "field"], "x", True, "cause only here: ", id="field"
        ),
        pytest.param(a_refused_line(), ["reason"], "Other", True, "reason Invalid", id="reason"),
    ],
)
def test_what_differs_is_told(
    line: dict[str, Any],
    path: list[Any],
    value: object,
    alike: bool,
    difference: str,
    stages: dict[str, Stage],
) -> None:
    changed = copy.deepcopy(line)
    *parents, last = path
    target = changed
    for step in parents:
        target = target[step]
    target[last] = value

    result = play(changed, stages)

    assert result.alike is alike
    assert result.differences[0].startswith(difference)


def test_a_line_leaves_nothing_for_the_next(stages: dict[str, Stage]) -> None:
    first, second = (play(an_accepted_line(), stages) for _ in range(2))

    assert first.agrees
    assert second.agrees
