"""What the real allocator of devices answered, asked of the solver again."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from libs.domain.pod import PodShape
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from services.solver.core.acceptance import accepting_nodes
from services.solver.core.devices.allocating import Grant
from services.solver.core.offers.market import NOTHING_REMEMBERED
from services.solver.core.packing.encode import encode, problem
from tests.unit.libs.cluster.clusters import shape_of, snapshot_of
from tests.unit.libs.kube.manifests import Document, a_pod

_FILE = Path(__file__).parents[5] / "data" / "device_verdicts.jsonl.xz"
_AGAINST_DOCUMENTATION = "distinctAttribute"
"""The tag of lines that may differ."""
_OPEN = SolveOptions(feature_gates={"DynamicResources": True})
_KINDS = {
    "deviceClasses": "DeviceClass",
    "resourceClaims": "ResourceClaim",
    "resourceSlices": "ResourceSlice",
}


def _recorded(part: int, parts: int) -> Iterator[dict[str, Any]]:
    with lzma.open(_FILE, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % parts == part:
                yield json.loads(line)


def _snapshot(line: dict[str, Any]) -> ClusterSnapshot:
    claims = [{"name": name, "resourceClaimName": name} for name in line["claims"]]
    room = {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    status = {**room, "allocatable": room["capacity"]}
    ready = [{"type": "Ready", "status": "True"}]
    documents: list[Document] = [
        {"apiVersion": "v1", "kind": "Node", **node, "status": {**status, "conditions": ready}}
        for node in line["nodes"]
    ]
    documents += [
        {"apiVersion": "resource.k8s.io/v1", "kind": kind, **one}
        for key, kind in _KINDS.items()
        for one in line[key]
    ]
    return snapshot_of(*documents, a_pod("asking", resourceClaims=claims))


def _taken(snapshot: ClusterSnapshot, shape: PodShape, node: str) -> list[list[str]] | None:
    encoded = encode(snapshot, _OPEN, snapshot.observed_at, NOTHING_REMEMBERED)
    made = problem(encoded, encoded.work.groups)
    assert made.devices is not None
    grant = made.devices.on_standing(shape, encoded.standing.names.index(node))
    if not isinstance(grant, Grant):
        return None
    return [
        [f"{one.request}={'/'.join(one.candidate.id)}" for one in given]
        for given in grant.found[0].given
    ]


@pytest.mark.parametrize("part", range(2))
def test_every_recorded_allocation_is_ours_too(part: int) -> None:
    seen, differing = 0, []
    for line in _recorded(part, 2):
        seen += 1
        snapshot = _snapshot(line)
        shape = shape_of(snapshot, "asking")
        feasible = list(accepting_nodes(snapshot, snapshot.pods.uids[0]))
        same = feasible == line["feasible"] and all(
            _taken(snapshot, shape, node) == devices for node, devices in line["devices"].items()
        )
        if not same and _AGAINST_DOCUMENTATION not in line["tags"]:
            differing.append(line["id"])

    assert (seen, differing) == (300, [])
