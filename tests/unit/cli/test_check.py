import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.command import NODE, POD, POOL, TYPE, Outcome, joiner, with_members, written

OTHER = with_members(POD, metadata__name="other", metadata__uid="other-uid")
BIG = with_members(
    POD,
    metadata__name="big",
    metadata__uid="big-uid",
    spec__containers=[{"resources": {"requests": {"cpu": "10"}}}],
)
HUGE = with_members(
    POD,
    metadata__name="huge",
    metadata__uid="huge-uid",
    spec__containers=[{"resources": {"requests": {"cpu": "5000"}}}],
)


def _plan(files: Path, *options: str) -> dict[str, Any]:
    done = joiner("plan", "-f", files, "--format", "json", *options)
    plan: dict[str, Any] = json.loads(done.out)
    return plan


def _check(folder: Path, files: Path, plan: object, *options: str) -> Outcome:
    text = plan if isinstance(plan, str) else json.dumps(plan)
    path = written(folder, text, name="plan.json")
    return joiner("check", "-f", files, "--plan", path, *options)


def test_what_plan_prints_is_accepted(tmp_path: Path) -> None:
    files = written(tmp_path, POD, OTHER, BIG, HUGE, NODE, POOL)

    done = _check(tmp_path, files, _plan(files))

    assert (done.code, done.out) == (0, "0 violations\n")


def _spread_workload(folder: Path) -> tuple[Path, Path]:
    """Return files of two pods of one controller, and a configuration that spreads such pods."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": POD["spec"]}
    workload = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "shop", "uid": "web"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template,
        },
    }
    config = written(
        folder,
        "podTopologySpread:\n  defaultConstraints:\n"
        "  - {maxSkew: 1, minDomains: 2, topologyKey: topology.kubernetes.io/zone,"
        " whenUnsatisfiable: DoNotSchedule}\n",
        name="config.yaml",
    )
    return written(folder, workload), config


@pytest.mark.parametrize(
    ("planned_with_it", "rules"),
    [
        pytest.param(True, set(), id="planned with it"),
        pytest.param(False, {"PodTopologySpread"}, id="planned without"),
    ],
)
def test_default_spread_constraints_are_judged(
    tmp_path: Path, planned_with_it: bool, rules: set[str]
) -> None:
    files, config = _spread_workload(tmp_path)
    with_it = ("--scheduler-config", str(config))

    plan = _plan(files, *(with_it if planned_with_it else ()))
    done = _check(tmp_path, files, plan, *with_it, "--format", "json")

    assert {one["rule"] for one in json.loads(done.out)["violations"]} == rules
    assert done.code == (3 if rules else 0)


def test_violations_are_named_for_people(tmp_path: Path) -> None:
    files = written(tmp_path, POD, NODE, POOL)
    plan = _plan(files)
    plan["plan"]["nominations"][0]["node"] = "gone"

    done = _check(tmp_path, files, plan)

    assert done.code == 3
    assert done.out == "shop/web on gone: UnknownNode: no such node\n1 violation\n"


def test_violations_are_named_for_machines(tmp_path: Path) -> None:
    files = written(tmp_path, POD, NODE, POOL)
    plan = _plan(files)
    plan["pods"]["waiting"] = "7"

    done = _check(tmp_path, files, plan, "--format", "json")

    (violation,) = json.loads(done.out)["violations"]
    assert done.code == 3
    assert violation == {
        "pod": "",
        "node": "",
        "rule": "PodCounts",
        "message": "waiting is 7, the plan has 1",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "not the JSON of a SolveResponse", id="empty"),
        pytest.param("[1]", "not the JSON of a SolveResponse", id="array"),
        pytest.param("{}", "snapshot: is required", id="nothing in it"),
        pytest.param('{"plans": {}}', "not the JSON of a SolveResponse", id="unknown field"),
        pytest.param("[" * 100_000, "not the JSON of a SolveResponse", id="nested"),
        pytest.param('{"pods": {"waiting": "x"}}', "not the JSON of a SolveResponse", id="type"),
    ],
)
def test_a_file_that_holds_no_plan_is_named(tmp_path: Path, text: str, message: str) -> None:
    done = _check(tmp_path, written(tmp_path, POD), text)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"joiner: {tmp_path / 'plan.json'}: {message}")


def test_any_change_of_a_plan_is_judged_or_refused_but_never_a_crash(tmp_path: Path) -> None:
    files = written(tmp_path, POD, OTHER, HUGE, with_members(NODE, status__allocatable__cpu="1"))
    catalogue = str(written(tmp_path, json.dumps([TYPE]), name="types.json"))
    plan = _plan(files, "--catalogue", catalogue)

    for changed in _changes(plan):
        assert _check(tmp_path, files, changed, "--catalogue", catalogue).code in (0, 2, 3)


def _changes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Return plans with one member replaced by something of another type."""
    found = []
    for number, path in enumerate(_paths(plan)):
        copy = json.loads(json.dumps(plan))
        target = copy
        for part in path[:-1]:
            target = target[part]
        target[path[-1]] = (None, "x", -1, [], {}, True)[number % 6]
        found.append(copy)
    return found


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value[:1]))
    else:
        return []
    below = [one for key, member in members for one in _paths(member, (*path, key))]
    return [*((*path, key) for key, _ in members), *below]
