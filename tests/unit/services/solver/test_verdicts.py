"""What a real kube-scheduler said of single pods, asked of the solver's own rules.

A share of the recordings; `tests/data/README.md` says where they come from.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from libs.cluster.files import load
from libs.domain.capacity import NodeClassRef
from libs.domain.snapshot import Epoch, SnapshotId
from services.solver.core.acceptance import accepting_nodes
from tests.unit.libs.oracle.recordings import documents_of, recorded_lines

EVERY = 20
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
    return map(json.loads, recorded_lines(every=EVERY))


def _accepting(recording: Mapping[str, Any]) -> tuple[str, ...]:
    *documents, pending = documents_of(recording)
    probe = {**pending, "metadata": {**pending["metadata"], "uid": "pending"}}
    loaded = load(
        [("recording", one) for one in (*documents, probe)],
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
