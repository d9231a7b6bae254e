"""`joiner explain`: what people and machines are told about a pod, a node, a pool."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.command import (
    NODE,
    POD,
    POOL,
    TYPE,
    joiner,
    with_members,
    written,
)

BIG = with_members(
    POD,
    metadata__name="big",
    metadata__uid="big-uid",
    spec__containers=[{"name": "main", "resources": {"requests": {"cpu": "17"}}}],
)
PICKY = with_members(POD, spec__nodeSelector={"team": "x"})
RUNNING = with_members(POD, spec__nodeName="n1", status__phase="Running")


def _document(tmp_path: Path, *arguments: str, objects: tuple[Any, ...]) -> dict[str, Any]:
    types = written(tmp_path, json.dumps([TYPE]), name="types.json")
    path = written(tmp_path, *objects)
    done = joiner("explain", *arguments, "-f", path, "--catalogue", types, "--format", "json")
    assert done.code == 0
    document: dict[str, Any] = json.loads(done.out)
    return document


def test_a_pod_without_a_place_is_told_the_rule_the_numbers_and_what_would_help(
    tmp_path: Path,
) -> None:
    document = _document(tmp_path, "pod", "shop/big", objects=(BIG, POOL))

    assert document["pod"]["situation"] == "POD_SITUATION_UNPLACED"
    (rejection,) = document["unplaceable"]["rejections"]
    assert (rejection["nodepool"], rejection["rule"]) == ("pool", "RULE_RESOURCES")
    assert rejection["nearestInstanceType"] == "small"
    assert rejection["asked"] == {"amounts": [{"name": "cpu", "amount": "17000"}]}
    (change,) = document["pod"]["changes"]
    offered = int(rejection["offered"]["amounts"][0]["amount"])
    assert change["kind"] == "CHANGE_KIND_REQUEST"
    assert change["new"] == f"{offered}m"
    assert change["onNew"] == "pool"


def test_the_change_that_is_proposed_makes_the_plan_whole(tmp_path: Path) -> None:
    document = _document(tmp_path, "pod", "shop/big", objects=(BIG, POOL))
    size = document["pod"]["changes"][0]["new"]
    lowered = with_members(
        BIG, spec__containers=[{"name": "main", "resources": {"requests": {"cpu": size}}}]
    )
    types = written(tmp_path, json.dumps([TYPE]), name="types.json")

    done = joiner("plan", "-f", written(tmp_path, lowered, POOL), "--catalogue", types)

    assert done.code == 0


def test_lines_for_people_fit_on_a_screen(tmp_path: Path) -> None:
    long = with_members(BIG, spec__nodeSelector={"team": "x" * 60, "topology.kubernetes.io/a": "b"})
    path = written(tmp_path, long, RUNNING, NODE, POOL)

    for subject in (("pod", "shop/big"), ("node", "n1"), ("pool", "pool")):
        done = joiner("explain", *subject, "-f", path)
        assert done.code == 0
        assert done.out
        assert max(map(len, done.out.splitlines())) <= 100


@pytest.mark.parametrize(
    ("objects", "arguments", "said"),
    [
        pytest.param((POD, POOL), ("pod", "shop/web"), "a new node of nodepool", id="bought"),
        pytest.param((POD, NODE), ("pod", "web"), 'it goes to node "n1"', id="by name alone"),
        pytest.param((RUNNING, NODE), ("pod", "shop/web"), 'is on node "n1"', id="running"),
        pytest.param(
            (
                with_members(
                    POD,
                    spec__volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}],
                ),
            ),
            ("pod", "shop/web"),
            '"shop/gone" does not',
            id="left out",
        ),
        pytest.param(
            (with_members(POD, spec__schedulingGates=[{"name": "wait"}]),),
            ("pod", "shop/web"),
            'a pod with scheduling gate "wait" does not wait for a node',
            id="gated",
        ),
        pytest.param(
            (with_members(POD, status__nominatedNodeName="n1"), NODE),
            ("pod", "shop/web"),
            'it goes to node "n1", which kube-scheduler has nominated for it',
            id="nominated",
        ),
        pytest.param((RUNNING, NODE), ("node", "n1"), "shop/web: 1 cpu", id="a node and its pod"),
        pytest.param((PICKY, POOL), ("pool", "pool"), "refuses", id="a pool that refuses"),
    ],
)
def test_what_is_said(
    tmp_path: Path, objects: tuple[Any, ...], arguments: tuple[str, str], said: str
) -> None:
    done = joiner("explain", *arguments, "-f", written(tmp_path, *objects))

    assert done.code == 0
    assert said in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("pod", "shop/wbe"), 'perhaps "shop/web"', id="pod"),
        pytest.param(("pod", "stop/web"), 'perhaps "shop/web"', id="another namespace"),
        pytest.param(("node", "n2222"), 'there is no node "n2222"', id="node"),
        pytest.param(("pool", "poll"), 'perhaps "pool"', id="pool"),
        pytest.param(
            ("pod", "shop/web", "--feature-gates", "Nonsense=true"), "Nonsense", id="feature gate"
        ),
    ],
)
def test_what_is_not_there_is_bad_input(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = joiner("explain", *arguments, "-f", written(tmp_path, POD, NODE, POOL))

    assert done.code == 2
    assert said in done.err
    assert done.out == ""
