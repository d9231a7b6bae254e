"""Runs every scenario of the `*.yaml` beside this file.

Each is planned twice, the second time with its objects in reverse order, and the checker judges the
plan by kube-scheduler's filters. Of devices and volumes, whose rules have the most corners, it is
asked of each waiting pod which nodes take it: the solver and kube-scheduler's filters must agree.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from libs.checker.ahead import ahead
from libs.checker.default_spread import constraint_documents
from libs.checker.plan import check_solution
from libs.cluster import files
from libs.cluster.state import StateOptions
from libs.domain.capacity import Catalogue, NodeClassRef
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId
from libs.domain.solution import (
    MinValuesPolicy,
    PreferencePolicy,
    Solution,
    SolveOptions,
    with_unplaced,
)
from libs.kube.convert.scheduler_config import parse_scheduler_config
from libs.oracle.cluster import Cluster
from libs.oracle.verdict import judge
from services.solver.core.acceptance import accepting_nodes
from services.solver.core.solve import solve
from tests.scenarios import catalogue, outcome, short_form
from tests.scenarios.words import checked, documents

HERE = Path(__file__).parent

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
NODE_CLASS = NodeClassRef(**short_form.NODE_CLASS)
FILES = SnapshotId(cluster_id="files", epoch=Epoch(boot_id="files"), revision=1)

_FIELDS = {
    *("case", "options", "pools", "nodes", "inFlight", "daemons", "pods"),
    *(
        "storageClasses",
        "volumeClaims",
        "volumes",
        "attachments",
        "cluster",
        "catalogue",
        "wellKnown",
        "expect",
    ),
    *("deviceClasses", "deviceTemplates", "deviceClaims", "slices"),
}
_OPTIONS = {"preferencePolicy", "minValuesPolicy", "featureGates", "now", "schedulerConfig"}


def _scenarios(*fields: str) -> list[Any]:
    """Return all scenarios, or those that have one of some fields."""
    return [
        pytest.param(scenario, id=f"{path.stem}: {scenario['case']}")
        for path in sorted(HERE.glob("*.yaml"))
        for scenario in documents(path)
        if not fields or scenario.keys() & set(fields)
    ]


@pytest.mark.parametrize("scenario", _scenarios())
def test_a_scenario_has_its_outcome(scenario: dict[str, Any]) -> None:
    checked(scenario, _FIELDS)
    expected = scenario["expect"]
    objects = short_form.objects(scenario)
    options = _options(scenario.get("options", {}))
    reading = _reading(scenario.get("options", {}), options)
    if "refused" in expected:
        refused = _load(objects, reading).refused
        assert [expected["refused"] in one.message for one in refused] == [True]
        expected = {name: value for name, value in expected.items() if name != "refused"}
        if not expected:
            return
    planned = _planned(objects, scenario, options, reading)

    assert outcome.differences(expected, planned.solution.plan, _names(planned.loaded)) == []
    assert _violations(planned) == []
    assert _planned(objects[::-1], scenario, options, reading).solution == planned.solution


@pytest.mark.parametrize("scenario", _scenarios("deviceClasses", "volumeClaims"))
def test_nodes_take_pods_with_devices_and_volumes_as_kube_scheduler_says(
    scenario: dict[str, Any],
) -> None:
    options = _options(scenario.get("options", {}))
    reading = _reading(scenario.get("options", {}), options)
    planned = _planned(short_form.objects(scenario), scenario, options, reading)
    cluster = ahead(_cluster(planned), planned.snapshot, ())
    nodes = planned.snapshot.nodes
    # Of nodes that are starting kube-scheduler has not seen everything yet.
    settled = {name for name in nodes if nodes[name].initialized and not nodes[name].leaving}

    for row in planned.snapshot.pods.rows():
        if row.key in cluster.pending and not row.node:
            ours = settled.intersection(accepting_nodes(planned.snapshot, row.uid))
            assert ours == settled.intersection(judge(cluster, cluster.pending[row.key]).feasible)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    loaded: files.LoadedCluster
    reading: StateOptions
    snapshot: ClusterSnapshot
    solution: Solution


def _planned(
    objects: list[dict[str, Any]],
    scenario: Mapping[str, Any],
    options: SolveOptions,
    reading: StateOptions,
) -> _Planned:
    loaded = _load(objects, reading)
    types = catalogue.instance_types(scenario["catalogue"])
    now = options.now or NOW
    for node_class in loaded.node_classes:
        loaded.state.set_catalogue(
            Catalogue(
                node_class=node_class,
                etag="1",
                observed_at=now,
                instance_types=types,
                well_known_keys=tuple(sorted([catalogue.RESERVATION, *_well_known(scenario)])),
            )
        )
    snapshot = loaded.state.snapshot(now, FILES)
    solution = with_unplaced(solve(snapshot, options), loaded.state.left_out())
    return _Planned(loaded=loaded, reading=reading, snapshot=snapshot, solution=solution)


def _well_known(scenario: Mapping[str, Any]) -> Iterable[str]:
    return list(scenario.get("wellKnown", ()))


def _load(objects: list[dict[str, Any]], reading: StateOptions) -> files.LoadedCluster:
    return files.load(
        [("cluster", one) for one in objects],
        default_class=NODE_CLASS,
        options=reading,
    )


def _reading(short: Mapping[str, Any], options: SolveOptions) -> StateOptions:
    config = yaml.safe_dump(short.get("schedulerConfig"))
    return files.reading(options.feature_gates, parse_scheduler_config(config))


def _options(short: Mapping[str, Any]) -> SolveOptions:
    checked(short, _OPTIONS)
    return SolveOptions(
        preference_policy=PreferencePolicy(short.get("preferencePolicy", "Respect")),
        min_values_policy=MinValuesPolicy(short.get("minValuesPolicy", "Strict")),
        feature_gates=short.get("featureGates", {}),
        now=short.get("now"),
    )


def _violations(planned: _Planned) -> list[Any]:
    cluster = _cluster(planned)
    daemons = [document for kind, document in planned.loaded.documents if kind == "DaemonSet"]
    return list(check_solution(cluster, planned.snapshot, planned.solution, daemon_sets=daemons))


def _cluster(planned: _Planned) -> Cluster:
    cluster = Cluster(constraint_documents(planned.reading.default_spread))
    for kind, document in planned.loaded.documents:
        cluster.put(kind, document)
    return cluster


def _names(loaded: files.LoadedCluster) -> dict[str, str]:
    """Return the names of pods by uid; a pod without one goes by namespace and name."""
    names = {}
    for kind, one in loaded.documents:
        if kind == "Pod":
            metadata = one["metadata"]
            uid = metadata.get("uid") or f"{metadata['namespace']}/{metadata['name']}"
            names[uid] = metadata["name"]
    return names
