"""The benchmarks on real processes: small ones, for what they say, not for how long they take."""

import json

import pytest

from benchmarks.callers import Course as CallersCourse
from benchmarks.callers import bench_callers
from benchmarks.cold import bench_cold
from benchmarks.consolidate import Course as ConsolidateCourse
from benchmarks.consolidate import bench_consolidate, underused
from benchmarks.record import line
from benchmarks.simulate import Course as SimulateCourse
from benchmarks.simulate import bench_simulate
from benchmarks.solve import Course, bench_solve
from benchmarks.workloads.named import named
from benchmarks.workloads.workload import Size


def quiet(_doing: str) -> None:
    """Tell nobody."""


@pytest.mark.integration
@pytest.mark.parametrize("name", ["peer-mix", "mixed"])
def test_every_pod_gets_a_place_that_the_checker_accepts(name: str) -> None:
    workload = named(name, Size(pods=60))
    found = json.loads(line(bench_solve(workload, Course(repeat=1), quiet)))

    assert found["placed"] == found["pods"] > 0
    assert (found["unplaced"], found["violations"]) == (0, 0)
    assert found["cost_per_hour"] >= found["lower_bound_per_hour"]
    assert found["peak_rss_bytes"] > 0


@pytest.mark.integration
def test_what_arrives_on_a_cluster_is_all_that_is_timed() -> None:
    workload = named("deployments", Size(pods=60, types=100, nodes=4))
    found = json.loads(line(bench_solve(workload, Course(repeat=1, delta=7), quiet)))

    assert (found["pods"], found["delta"], found["nodes"]) == (7, 7, 4)
    assert found["placed"] == 67
    assert found["violations"] == 0


@pytest.mark.integration
def test_a_node_that_goes_leaves_its_pods_to_be_placed() -> None:
    workload = named("standing", Size(nodes=5, types=200))
    course = SimulateCourse(repeat=2, scenarios=2)
    found = json.loads(line(bench_simulate(workload, course, quiet)))

    assert (found["pods"], found["nodes"], found["unplaced"]) == (30, 5, 0)


@pytest.mark.integration
def test_consolidation_saves_and_keeps_to_the_moves_of_the_peer() -> None:
    workload = underused(Size(nodes=12, types=100), (0.15, 0.65))
    records = bench_consolidate(workload, ConsolidateCourse(repeat=1), quiet)
    free, held = (json.loads(line(one)) for one in records)

    assert 0 < free["savings_percent"] <= 100
    assert held["moves"] <= held["peer_moves"]


@pytest.mark.integration
def test_a_cold_solver_answers() -> None:
    found = json.loads(line(bench_cold(named("peer-mix", Size(pods=10)), 1, quiet)))

    assert found["placed"] == 10


@pytest.mark.integration
@pytest.mark.parametrize("scenarios", [None, 2], ids=["solve", "simulate"])
def test_several_callers_are_answered_by_several_processes(scenarios: int | None) -> None:
    workload = named("deployments", Size(pods=200, types=100, nodes=10))
    course = CallersCourse(callers=2, repeat=3, scenarios=scenarios, processes=2)
    found = json.loads(line(bench_callers(workload, course, quiet)))

    assert (found["callers"], found["processes"], found["runs"]) == (2, 2, 6)
    assert sum(found["calls_by_place"].values()) >= found["runs"]
    assert found["calls_by_place"]["peer"] > 0
