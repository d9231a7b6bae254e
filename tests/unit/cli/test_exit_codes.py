"""How each command ends: the table of exit codes on `docs/plan-output.md`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.command import NODE, POD, POOL, joiner, with_members, written

FULL = with_members(POOL, spec__limits={"cpu": "0"})
TEMPLATE = {
    "apiVersion": "v1",
    "kind": "PodTemplate",
    "metadata": {"name": "spare", "namespace": "shop"},
    "template": {"spec": POD["spec"]},
}
BUFFER = {
    "apiVersion": "autoscaling.x-k8s.io/v1alpha1",
    "kind": "CapacityBuffer",
    "metadata": {"name": "spare", "namespace": "shop"},
    "spec": {"podTemplateRef": {"name": "spare"}, "replicas": 2},
}
BROKEN = with_members(
    POD, spec__volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]
)

CASES: dict[str, tuple[tuple[str, ...], tuple[dict[str, Any], ...], int]] = {
    "plan: every pod has a place": (("plan",), (POD, POOL), 0),
    "plan: nothing waits": (("plan",), (NODE,), 0),
    "plan: a gated pod does not wait": (
        ("plan",),
        (with_members(POD, spec__schedulingGates=[{"name": "later"}]), FULL),
        0,
    ),
    "plan: a pod for which a node is nominated has its place there": (
        ("plan",),
        (with_members(POD, status__nominatedNodeName="n1"), NODE, FULL),
        0,
    ),
    "plan: the node that is nominated has no room yet": (
        ("plan",),
        (
            with_members(POD, status__nominatedNodeName="n1", spec__priority=1),
            with_members(POD, metadata__name="victim", metadata__uid="v", spec__nodeName="n1"),
            with_members(NODE, status__allocatable__cpu="1"),
            POOL,
        ),
        3,
    ),
    "plan: spare room that is not to be had is no pod": (
        ("plan", "--feature-gates", "CapacityBuffer=true"),
        (TEMPLATE, BUFFER, FULL),
        0,
    ),
    "plan: a pod has no place": (("plan",), (POD, FULL), 3),
    "plan: a waiting pod was left out": (("plan",), (BROKEN, POOL), 3),
    "plan: an object is refused, the rest is answered": (
        ("plan",),
        (with_members(POD, spec__containers=1), POOL),
        2,
    ),
    "explain: a pod without a place": (("explain", "pod", "shop/web"), (POD, FULL), 0),
    "explain: a pod that is left out": (("explain", "pod", "shop/web"), (BROKEN, POOL), 0),
    "explain: a pool": (("explain", "pool", "pool"), (POOL,), 0),
    "explain: nobody of that name": (("explain", "node", "n2"), (NODE,), 2),
    "simulate: a pod has no place": (("simulate", "--remove-node", "n1"), (POD, NODE, FULL), 3),
    "simulate: bad input": (("simulate", "--remove-node", "n2"), (POD, NODE, FULL), 2),
    "consolidate: answered": (("consolidate",), (POD, NODE, FULL), 0),
}


@pytest.mark.parametrize(("command", "objects", "code"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("form", ["table", "json"])
def test_a_command_ends_as_documented(
    tmp_path: Path,
    command: tuple[str, ...],
    objects: tuple[dict[str, Any], ...],
    code: int,
    form: str,
) -> None:
    done = joiner(*command, "-f", written(tmp_path, *objects), "--format", form)

    assert done.code == code
    if code == 2:
        assert done.err.splitlines()[-1].startswith("joiner: ")
    if form == "json" and done.out:
        json.loads(done.out)


@pytest.mark.parametrize(
    "text", ["", "[]", "---", '{"apiVersion": "v1", "kind": "List", "items": []}']
)
def test_a_file_of_nothing_is_said_to_hold_nothing(tmp_path: Path, text: str) -> None:
    done = joiner("plan", "-f", written(tmp_path, text))

    assert done.code == 0
    assert "note: " + str(tmp_path / "in.json") + " holds no objects\n" in done.err


def test_input_that_is_no_kubernetes_at_all_is_answered_with_one_line(tmp_path: Path) -> None:
    done = joiner("plan", "-f", written(tmp_path, "a: [", name="in.yaml"))

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"joiner: {tmp_path / 'in.yaml'}:")
    assert len(done.err.splitlines()) == 1


def test_a_catalogue_of_nothing_is_refused_by_its_name(tmp_path: Path) -> None:
    types = written(tmp_path, "[]", name="types.json")

    done = joiner("plan", "-f", written(tmp_path, POD), "--catalogue", types)

    assert done.code == 2
    assert done.err == f"joiner: {types}: sells nothing: it has no instance types\n"


def test_a_gate_by_its_name_in_kubernetes_leads_to_ours(tmp_path: Path) -> None:
    gate = "DynamicResourceAllocation=true"

    done = joiner("plan", "-f", written(tmp_path, POD), "--feature-gates", gate)

    assert done.code == 2
    assert "no gate 'DynamicResourceAllocation', perhaps DynamicResources; there are" in done.err
