"""Runs every `*.yaml` beside this file: a cluster, what can be bought, what must come out."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from libs.catalogues import file as catalogue_file
from libs.checker.plan import check_plan
from libs.cluster import files
from libs.domain.capacity import Catalogue, InstanceType, NodeClassRef
from libs.domain.errors import InvalidRequest
from libs.domain.plan import Plan
from libs.domain.resources import Resources
from libs.domain.snapshot import Epoch, SnapshotId
from libs.domain.solution import SolveOptions, with_unplaced
from libs.oracle.cluster import Cluster
from services.solver.core.solve import solve

HERE = Path(__file__).parent
NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
NODE_CLASS = NodeClassRef(group="karpenter.kwok.sh", kind="KWOKNodeClass", name="default")
FILES = SnapshotId(cluster_id="files", epoch=Epoch(boot_id="files"), revision=1)


def _scenarios() -> list[Any]:
    return [
        pytest.param(scenario, id=f"{path.stem}: {scenario['case']}")
        for path in sorted(HERE.glob("*.yaml"))
        for scenario in yaml.safe_load_all(path.read_text())
    ]


@pytest.mark.parametrize("scenario", _scenarios())
def test_a_scenario_has_its_outcome(scenario: dict[str, Any]) -> None:
    expected = scenario["expect"]
    documents = [("cluster", one) for one in scenario["cluster"]]
    if "refused" in expected:
        with pytest.raises(InvalidRequest) as refused:
            files.load(documents, default_class=NODE_CLASS)
        assert expected["refused"] in str(refused.value)
        return
    plan, names, violations = _planned(documents, scenario["catalogue"])

    assert violations == []
    _assert_bought(expected.get("new", []), _new(plan, names))
    assert _existing(plan, names) == expected.get("existing", {})
    _assert_said(expected.get("unplaced", {}), _unplaced(plan, names))
    said = {one.nodepool: one.message for one in plan.pool_messages}
    _assert_said(expected.get("pools", {}), said)


def _planned(
    documents: list[tuple[str, Any]], catalogue: list[dict[str, Any]]
) -> tuple[Plan, dict[str, str], list[Any]]:
    loaded = files.load(documents, default_class=NODE_CLASS)
    types = tuple(sorted(map(_type, catalogue), key=lambda kind: kind.name))
    for node_class in loaded.node_classes:
        loaded.state.set_catalogue(
            Catalogue(node_class=node_class, etag="1", observed_at=NOW, instance_types=types)
        )
    snapshot = loaded.state.snapshot(NOW, FILES)
    solution = with_unplaced(solve(snapshot, SolveOptions()), loaded.state.left_out())
    cluster = Cluster()
    for kind, document in loaded.documents:
        cluster.put(kind, document)
    names = {}
    for kind, one in loaded.documents:
        if kind == "Pod":
            name = one["metadata"]["name"]
            names[one["metadata"].get("uid") or f"{one['metadata']['namespace']}/{name}"] = name
    daemons = [document for kind, document in loaded.documents if kind == "DaemonSet"]
    found = check_plan(cluster, snapshot, solution.plan, daemon_sets=daemons)
    return solution.plan, names, list(found)


def _type(short: dict[str, Any]) -> InstanceType:
    """Return a type: on demand in three zones, at a price that grows with its size, by default."""
    offerings = [
        {
            "Price": short.get("price", float(short["cpu"]) / 10),
            "Requirements": [
                {"key": key, "operator": "In", "values": [value]}
                for key, value in (
                    ("topology.kubernetes.io/zone", zone),
                    ("karpenter.sh/capacity-type", kind),
                )
            ],
        }
        for zone in short.get("zones", ["zone-a", "zone-b", "zone-c"])
        for kind in short.get("capacityTypes", ["on-demand"])
    ]
    resources = {"cpu": str(short["cpu"]), "memory": short["memory"], **short.get("resources", {})}
    entry = {
        "name": short["name"],
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": resources,
        "offerings": offerings,
    }
    (kind,) = catalogue_file.parse(json.dumps([entry]).encode())
    kept_back = Resources.from_requests(short.get("overhead", {}))
    return InstanceType(
        name=kind.name,
        requirements=kind.requirements,
        capacity=kind.capacity,
        overhead=kept_back,
        offerings=kind.offerings,
    )


def _new(plan: Plan, names: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "type": claim.cheapest.instance_type,
            "zone": claim.cheapest.zone,
            "pods": sorted(names[uid] for uid in claim.pod_uids),
        }
        for claim in plan.nodeclaims
    ]


def _existing(plan: Plan, names: dict[str, str]) -> dict[str, list[str]]:
    return {one.target: sorted(names[uid] for uid in one.pod_uids) for one in plan.nominations}


def _unplaced(plan: Plan, names: dict[str, str]) -> dict[str, str]:
    return {
        names[uid]: " ".join(
            [group.reason.message, *(str(rule) for rule, _ in group.reason.existing)]
        )
        for group in plan.unplaced
        for uid in group.pod_uids
    }


def _assert_bought(expected: list[dict[str, Any]], bought: list[dict[str, Any]]) -> None:
    """Compare nodes in any order; pods are named or counted, a zone may be left open."""
    shown = [
        {
            key: len(one["pods"]) if key == "pods" and isinstance(wanted[key], int) else one[key]
            for key in wanted
        }
        for one, wanted in zip(bought, [*expected, *expected[-1:] * len(bought)], strict=False)
    ]
    assert len(bought) == len(expected), bought
    assert _sorted(shown) == _sorted(expected)


def _sorted(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(nodes, key=lambda one: [str(value) for value in one.values()])


def _assert_said(expected: dict[str, str], said: dict[str, str]) -> None:
    assert said.keys() == expected.keys(), said
    for name, text in expected.items():
        assert text in said[name]
