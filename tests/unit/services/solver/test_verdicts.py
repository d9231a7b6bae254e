"""What a real kube-scheduler said of single pods, asked of the solver's own rules.

A share of the recordings; `tests/data/README.md` says where they come from.
"""

import json
import lzma
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from libs.cluster.files import load
from libs.domain.capacity import NodeClassRef
from libs.domain.snapshot import Epoch, SnapshotId
from services.solver.core.acceptance import accepting_nodes

RECORDINGS = Path("tests/data/kube_scheduler_verdicts.jsonl.xz")
EVERY = 20
KINDS = {
    "nodes": ("v1", "Node"),
    "namespaces": ("v1", "Namespace"),
    "pods": ("v1", "Pod"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "pvs": ("v1", "PersistentVolume"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "csiNodes": ("storage.k8s.io/v1", "CSINode"),
    "runtimeClasses": ("node.k8s.io/v1", "RuntimeClass"),
}
SNAPSHOT_ID = SnapshotId(cluster_id="recorded", epoch=Epoch(boot_id="b"), revision=1)
BEYOND_THE_SNAPSHOT = frozenset(
    {
        "rwop",  # who else uses a ReadWriteOncePod claim is not in a snapshot
        "inlineDisk",  # nor are exclusive inline disks
        "csiLimits",  # nor which volume two pods share
        "podTerm.namespaceSelectorNegative",  # the API documentation is right there
    }
)


def _share() -> Iterator[Mapping[str, Any]]:
    with lzma.open(RECORDINGS, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % EVERY == 0:
                yield json.loads(line)


def _accepting(recording: Mapping[str, Any]) -> tuple[str, ...]:
    documents = [
        ("recording", {"apiVersion": version, "kind": kind, **one})
        for key, (version, kind) in KINDS.items()
        for one in recording.get(key) or ()
    ]
    pending = recording["pending"]
    metadata = {**pending.get("metadata", {}), "uid": "pending"}
    probe = {"apiVersion": "v1", "kind": "Pod", **pending, "metadata": metadata}
    loaded = load(
        [*documents, ("recording", probe)],
        default_class=NodeClassRef(group="g", kind="k", name="n"),
    )
    snapshot = loaded.state.snapshot(datetime(2026, 1, 1, tzinfo=UTC), SNAPSHOT_ID)
    return accepting_nodes(snapshot, "pending")


@pytest.mark.timeout(120)
def test_the_solver_accepts_the_nodes_that_kube_scheduler_accepts() -> None:
    different = [
        recording["id"]
        for recording in _share()
        if BEYOND_THE_SNAPSHOT.isdisjoint(recording["kinds"])
        and _accepting(recording) != tuple(sorted(recording["verdict"]["feasibleNodes"]))
    ]

    assert different == []
