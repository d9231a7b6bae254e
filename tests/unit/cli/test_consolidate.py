import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.command import (
    CLASS,
    NODE,
    OFFERING,
    POD,
    POOL,
    TYPE,
    Outcome,
    joiner,
    with_members,
    written,
)

NOW = "2026-07-01T12:00:00Z"
BUDGET = {"budgets": [{"nodes": "1"}]}
LABELS = {
    "karpenter.sh/nodepool": "pool",
    "karpenter.sh/capacity-type": "on-demand",
    "topology.kubernetes.io/zone": "a",
    "node.kubernetes.io/instance-type": "large",
}
REPLICA_SET = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "name": "web",
    "uid": "web",
    "controller": True,
}


def _conditions(*kinds: str) -> list[dict[str, str]]:
    return [{"type": kind, "status": "True", "lastTransitionTime": NOW} for kind in kinds]


def _machine(name: str, pods: int, **changes: Any) -> list[dict[str, Any]]:
    """Return a node of type `large`, its claim and its pods."""
    labels = LABELS | {"kubernetes.io/hostname": name}
    room = {"cpu": "16", "memory": "32Gi", "pods": "10"}
    node = with_members(
        NODE,
        metadata={"name": name, "labels": labels | {"karpenter.sh/initialized": "true"}},
        spec={"providerID": f"kwok://{name}"},
        status={"allocatable": room, "capacity": room, "conditions": _conditions("Ready")},
    )
    status = {
        "providerID": f"kwok://{name}",
        "nodeName": name,
        "allocatable": room,
        "capacity": room,
        "conditions": _conditions("Launched", "Registered", "Initialized", "Consolidatable"),
    }
    claim = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": f"claim-{name}", "uid": f"claim-{name}", "labels": labels},
        "spec": {"nodeClassRef": CLASS, "requirements": []},
        "status": status,
    }
    running = [
        with_members(
            POD,
            metadata={"name": f"{name}-{number}", "namespace": "shop", "uid": f"{name}-{number}"},
            spec__nodeName=name,
            status__phase="Running",
        )
        for number in range(pods)
    ]
    for one in running:
        one["metadata"]["ownerReferences"] = [REPLICA_SET]
    return [node, with_members(claim, **changes), *running]


def _asked(folder: Path, *arguments: object, pool: Any = POOL, pods: tuple[int, ...]) -> Outcome:
    machines = [one for number, some in enumerate(pods) for one in _machine(f"n{number}", some)]
    return _asked_about(folder, machines, *arguments, pool=pool)


def _asked_about(
    folder: Path, machines: list[dict[str, Any]], *arguments: object, pool: Any
) -> Outcome:
    objects = written(folder, pool, *machines)
    large = with_members(
        TYPE,
        name="large",
        resources={"cpu": "16", "memory": "32Gi"},
        offerings=[with_members(OFFERING, Price=2.0)],
    )
    sold = folder / "types.json"
    sold.write_text(json.dumps([TYPE, large]), encoding="utf-8")
    return joiner("consolidate", "-f", objects, "--catalogue", sold, "--now", NOW, *arguments)


@pytest.fixture
def free() -> dict[str, Any]:
    """Return a pool that gives up any number of nodes."""
    found: dict[str, Any] = with_members(POOL, spec__disruption={"budgets": [{"nodes": "100%"}]})
    return found


def test_commands_are_told_in_their_order(tmp_path: Path, free: dict[str, Any]) -> None:
    done = _asked(tmp_path, pool=free, pods=(1, 9, 8))

    assert (done.code, done.err) == (0, "")
    assert "1 of 3 nodes given up, 1 pod moved: 6.0000 → 4.0000 $/h" in done.out
    assert "in this order, each once the pods of the one before run again; any number" in done.out
    assert "1 node stays: n1: it takes pods of nodes that are given up" in done.out
    assert "1 node stays: n2: nothing that has room for its pods is cheaper" in done.out


def test_a_replacement_is_told(tmp_path: Path, free: dict[str, Any]) -> None:
    done = _asked(tmp_path, pool=free, pods=(2,))

    assert "1 node bought instead" in done.out
    assert "small a on-demand" in done.out


def test_the_answer_is_had_as_json(tmp_path: Path, free: dict[str, Any]) -> None:
    done = _asked(tmp_path, "--format", "json", pool=free, pods=(1, 9))

    (command,) = json.loads(done.out)["commands"]
    assert command["candidates"][0]["node"] == "n0"
    assert command["nominations"] == [{"node": "n1", "podUids": ["n0-0"]}]
    assert command["savingNanosPerHour"] == "2000000000"


@pytest.mark.parametrize(
    ("arguments", "budget", "gone"),
    [
        pytest.param([], {}, 1, id="ten per cent of ten nodes by default"),
        pytest.param([], {"budgets": [{"nodes": "2"}]}, 2, id="the pool's own budget"),
        pytest.param(["--node-budget", "3"], BUDGET, 3, id="a number"),
        pytest.param(["--node-budget", "35%"], BUDGET, 4, id="a percentage, rounded up"),
        pytest.param(["--node-budget", "0"], BUDGET, 0, id="none"),
        pytest.param(["--node-budget", "9", "--max-moves", "2"], BUDGET, 2, id="moves"),
        pytest.param(["--move-price", "2.5"], BUDGET, 0, id="price of a move"),
    ],
)
def test_no_more_nodes_go_than_allowed(
    tmp_path: Path, arguments: list[str], budget: dict[str, Any], gone: int
) -> None:
    pool = with_members(POOL, spec__disruption=budget)

    done = _asked(tmp_path, "--format", "json", *arguments, pool=pool, pods=(1,) * 10)

    commands = json.loads(done.out)["commands"]
    assert sum(len(one["candidates"]) for one in commands) == gone


@pytest.mark.parametrize(
    ("budgets", "gone"),
    [
        pytest.param(
            [{"nodes": "1"}, {"nodes": "0", "reasons": ["Underutilized"]}],
            {"n0": "DISRUPTION_REASON_EMPTY"},
            id="one for any reason but one",
        ),
        pytest.param(
            [{"nodes": "2", "reasons": ["Empty"]}, {"nodes": "0", "reasons": ["Underutilized"]}],
            {"n0": "DISRUPTION_REASON_EMPTY", "n1": "DISRUPTION_REASON_EMPTY"},
            id="two that are empty",
        ),
        pytest.param(
            [{"nodes": "0", "reasons": ["Empty"]}, {"nodes": "1", "reasons": ["Underutilized"]}],
            {"n2": "DISRUPTION_REASON_UNDERUTILIZED"},
            id="one that is not",
        ),
    ],
)
def test_budgets_of_pools_are_for_reasons(
    tmp_path: Path, budgets: list[dict[str, Any]], gone: dict[str, str]
) -> None:
    pool = with_members(POOL, spec__disruption={"budgets": budgets})

    done = _asked(tmp_path, "--format", "json", pool=pool, pods=(0, 0, 1, 9))

    commands = json.loads(done.out)["commands"]
    assert {one["node"]: each["reason"] for each in commands for one in each["candidates"]} == gone


@pytest.mark.parametrize(
    ("disruption", "message"),
    [
        pytest.param({"consolidateAfter": "Never"}, "never consolidates", id="never"),
        pytest.param(
            {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "0s"},
            "gives up empty nodes only",
            id="empty ones only",
        ),
    ],
)
def test_pools_say_which_nodes_they_give_up(
    tmp_path: Path, disruption: dict[str, Any], message: str
) -> None:
    pool = with_members(POOL, spec__disruption=disruption)

    done = _asked(tmp_path, pool=pool, pods=(1, 1))

    assert "no node of 2 is better given up" in done.out
    assert message in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--node-budget", "many"], "--node-budget", id="budget"),
        pytest.param(["--max-moves", "-1"], "--max-moves", id="moves"),
        pytest.param(["--move-price", "-0.1"], "--move-price", id="price"),
        pytest.param(["--move-price", "nan"], "--move-price", id="no number"),
    ],
)
def test_bounds_that_are_none_are_refused(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = _asked(tmp_path, *arguments, pods=(1,))

    assert done.code == 2
    assert message in done.err


def test_nodes_without_claims_are_nobodys_to_give_up(tmp_path: Path) -> None:
    done = joiner("consolidate", "-f", written(tmp_path, POOL, NODE))

    assert done.code == 0
    assert "no NodeClaims are in the input" in done.err


def test_types_that_the_catalogue_does_not_sell_are_said(
    tmp_path: Path, free: dict[str, Any]
) -> None:
    done = _asked(tmp_path, "--catalogue", "kwok", pool=free, pods=(1, 1))

    assert "no node of 2 is better given up" in done.out
    assert "2 nodes of types that catalogue kwok does not sell (large)" in done.err
    assert "--catalogue names another one, such as aws or a file" in done.err


def test_pods_that_nobody_creates_again_are_said(tmp_path: Path, free: dict[str, Any]) -> None:
    machines = [*_machine("n0", 1), *_machine("n1", 9)]
    for one in machines:
        one["metadata"].pop("ownerReferences", None)

    done = _asked_about(tmp_path, machines, pool=free)

    assert "1 pod to move has no controller (shop/n0-0)" in done.err
