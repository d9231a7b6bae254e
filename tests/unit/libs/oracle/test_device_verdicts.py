"""What the real allocator of devices answered, asked of the oracle again."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from libs.oracle.cluster import Cluster, cluster_from_lists
from libs.oracle.devices.binding import bind_devices
from libs.oracle.devices.claims import results_of
from libs.oracle.verdict import judge
from tests.unit.libs.oracle.kube import pod

_FILE = Path(__file__).parents[3] / "data" / "device_verdicts.jsonl.xz"
_AGAINST_DOCUMENTATION = "distinctAttribute"
"""The tag of lines that may differ."""


def _recorded(part: int, parts: int) -> Iterator[dict[str, Any]]:
    with lzma.open(_FILE, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % parts == part:
                yield json.loads(line)


def _pod(line: dict[str, Any]) -> dict[str, Any]:
    claims = [{"name": name, "resourceClaimName": name} for name in line["claims"]]
    return pod("asking", requests={}, resourceClaims=claims)


def _cluster(line: dict[str, Any]) -> Cluster:
    room = {"allocatable": {"pods": "10"}}
    return cluster_from_lists(
        {**line, "nodes": [{**node, "status": room} for node in line["nodes"]]}
    )


def _taken(cluster: Cluster, asking: dict[str, Any], node: str) -> list[list[str]]:
    before = cluster.resource_claims
    changed = [claim for _, claim in bind_devices(cluster, asking, node)]
    return [
        [
            f"{one['request']}={one['driver']}/{one['pool']}/{one['device']}"
            for one in results_of(claim)
        ]
        for claim in changed
        if "allocation" not in before[f"default/{claim['metadata']['name']}"].get("status", {})
    ]


@pytest.mark.parametrize("part", range(2))
def test_every_recorded_allocation_is_ours_too(part: int) -> None:
    seen, differing = 0, []
    for line in _recorded(part, 2):
        seen += 1
        cluster, asking = _cluster(line), _pod(line)
        feasible = list(judge(cluster, asking).feasible)
        same = feasible == line["feasible"] and all(
            _taken(cluster, asking, node) == devices for node, devices in line["devices"].items()
        )
        if not same and _AGAINST_DOCUMENTATION not in line["tags"]:
            differing.append(line["id"])

    assert (seen, differing) == (300, [])
