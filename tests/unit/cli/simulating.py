"""A cluster of one node that Joiner has bought, and `joiner simulate` run on it."""

import json
from pathlib import Path
from typing import Any

from tests.unit.cli.command import CLASS, NODE, POD, POOL, TYPE, joiner, with_members, written

ZONES = ("a", "b")
KIND = {
    **TYPE,
    "offerings": [
        {
            "Price": 0.5 if capacity_type == "on-demand" else 0.25,
            "Requirements": [
                {
                    "key": "karpenter.sh/capacity-type",
                    "operator": "In",
                    "values": [capacity_type],
                },
                {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]},
            ],
        }
        for zone in ZONES
        for capacity_type in ("on-demand", "spot")
    ],
}
LABELS = {
    "kubernetes.io/hostname": "n1",
    "node.kubernetes.io/instance-type": "small",
    "topology.kubernetes.io/zone": "a",
    "karpenter.sh/capacity-type": "on-demand",
    "karpenter.sh/nodepool": "pool",
}
CLAIM: dict[str, Any] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodeClaim",
    "metadata": {"name": "c1", "uid": "c1", "labels": LABELS},
    "spec": {"nodeClassRef": CLASS},
    "status": {
        "nodeName": "n1",
        "providerID": "cloud://n1",
        "capacity": NODE["status"]["allocatable"],
        "allocatable": NODE["status"]["allocatable"],
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
            for kind in ("Launched", "Registered", "Initialized")
        ],
    },
}
MANAGED = with_members(NODE, metadata__labels=LABELS, spec__providerID="cloud://n1")
OWNER = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "name": "web-5d9c8b7f6",
    "uid": "rs-uid",
    "controller": True,
}
RUNNING = with_members(
    POD,
    metadata__ownerReferences=[OWNER],
    spec__nodeName="n1",
    status__phase="Running",
)
CLUSTER = (RUNNING, MANAGED, CLAIM, POOL)


def simulated(tmp_path: Path, *flags: object, code: int = 0) -> dict[str, Any]:
    """Return the answer to one what-if about the cluster."""
    files = written(tmp_path, *CLUSTER)
    types = types_file(tmp_path)
    done = joiner("simulate", "-f", files, "--catalogue", types, "--format", "json", *flags)
    assert (done.code, done.err if done.code == 2 else "") == (code, "")
    (answer,) = json.loads(done.out)["scenarios"]
    return dict(answer)


def refused(tmp_path: Path, *flags: object) -> str:
    done = joiner(
        "simulate", "-f", written(tmp_path, *CLUSTER), "--catalogue", types_file(tmp_path), *flags
    )
    assert (done.code, done.out) == (2, "")
    return done.err


def types_file(tmp_path: Path) -> Path:
    path = tmp_path / "types.json"
    path.write_text(json.dumps([KIND]))
    return path


def bought(answer: dict[str, Any]) -> list[str]:
    found = (one["cheapest"] for one in answer["response"]["plan"]["nodeclaims"])
    return [f"{one['instanceType']}/{one['zone']}/{one['capacityType']}" for one in found]
