"""Crowded clusters of all kinds: nothing is placed where the checker would refuse it."""

import json
from typing import Any

import pytest

from libs.oracle.check import check
from libs.oracle.cluster import LISTS, Cluster
from services.simulator.core.api.errors import ApiError
from services.simulator.core.objects import key_of
from services.simulator.scheduler_verdicts import RESOURCES, Stage
from tests.unit.libs.oracle.recordings import recorded_lines, thin_lines

CLUSTERS = 60
"""Of each kind of recording."""


def newcomers(recording: dict[str, Any]) -> list[dict[str, Any]]:
    """The pod that was asked about, and twins of those that are there."""
    made = [recording["pending"]]
    for pod in recording["pods"]:
        spec = {name: value for name, value in pod["spec"].items() if name != "nodeName"}
        meta = {**pod["metadata"], "name": f"twin-{pod['metadata']['name']}"}
        for member in ("uid", "deletionTimestamp"):
            meta.pop(member, None)
        made.append({"metadata": meta, "spec": spec})
    return made


def seen(stage: Stage) -> Cluster:
    cluster = Cluster()
    for name, kind in LISTS.items():
        if name in RESOURCES:
            for obj in stage.api.list(RESOURCES[name]):
                cluster.put(kind, obj)
    return cluster


def placed(stage: Stage) -> dict[str, str]:
    found = {}
    for pod in stage.api.list("pods"):
        node = pod["spec"].get("nodeName") or pod["status"].get("nominatedNodeName")
        if node:
            found[key_of(pod)] = node
    return found


@pytest.mark.parametrize(
    ("lines", "number"), [(recorded_lines, 6251), (thin_lines, 600)], ids=["recorded", "thin"]
)
def test_no_placement_is_one_that_the_checker_refuses(lines: Any, number: int) -> None:
    bound = 0
    for recording in map(json.loads, lines(every=number // CLUSTERS)):
        try:
            stage = Stage({name: recording.get(name, ()) for name in RESOURCES})
            for pod in newcomers(recording):
                stage.put("pods", pod)
        except ApiError:
            continue  # inputs of the filters that no API server would take
        before, there = seen(stage), placed(stage)

        stage.settle()

        new = [(key, node) for key, node in placed(stage).items() if key not in there]
        assert check(before, (), new) == [], recording["id"]
        bound += len(new)
    assert bound > CLUSTERS // 2
