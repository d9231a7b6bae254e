"""Shapes that differ in requests alone are of one kind; that saves time and changes nothing."""

import pickle
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from libs.domain import labels as label_keys
from libs.domain.pod import PodShape
from libs.domain.pod_table import PodTable
from libs.domain.resources import CPU, Resources
from libs.domain.snapshot import ClusterSnapshot, keyed
from libs.domain.solution import SolveOptions
from libs.wire.pod import decode_pod_shape, encode_pod_shape
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.kinds import kinds
from services.solver.core.solve import solve
from services.solver.core.topology.rules import Rules
from services.solver.core.topology.tallies import Tallies
from tests.support.builders import a_node, a_shape, a_snapshot, a_spread, pods
from tests.support.mixed import MixedCluster, load
from tests.support.strategies.mixed import mixed_clusters

SPREAD = (a_spread(label_keys.ZONE),)


def a_size(number: int, cpu: str, **override: Any) -> PodShape:
    """Return a shape as a solver gets it."""
    shape = a_shape(number, cpu=cpu, topology_spread=SPREAD, **override)
    return decode_pod_shape(encode_pod_shape(shape))


@pytest.mark.parametrize(
    ("other", "first"),
    [
        pytest.param(a_size(2, "2"), 1, id="other requests"),
        pytest.param(a_size(2, "1", labels={"app": "db"}), 2, id="another label"),
        pytest.param(a_size(2, "1", selector={"disk": "ssd"}), 2, id="another selector"),
        pytest.param(a_size(2, "1", required_features=("Swap",)), 2, id="another feature"),
    ],
)
def test_a_kind_is_what_differs_in_requests_alone(other: PodShape, first: int) -> None:
    assert kinds([a_size(1, "1"), other])[2].id == first


def test_rules_are_made_once_for_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    make = Tallies._make_rules

    def counted(self: Tallies, ask: Ask) -> Rules:
        made.append(ask.shape.id)
        return make(self, ask)

    monkeypatch.setattr(Tallies, "_make_rules", counted)
    sizes = [a_size(number, f"{number}m") for number in range(1, 21)]
    waiting = [pod for one in sizes for pod in pods(1, one.id)]

    solve(a_snapshot(shapes=sizes, pods=waiting), SolveOptions())

    assert len(made) == 1


def test_who_needs_a_feature_is_not_of_a_kind_with_who_does_not() -> None:
    shapes = [a_shape(1), a_shape(2, required_features=("Swap",))]
    waiting = [pod for one in shapes for pod in pods(1, one.id)]

    plan = solve(a_snapshot(shapes=shapes, pods=waiting, nodes=[a_node()]), SolveOptions()).plan

    assert [one.pod_uids for one in plan.nominations] == [(waiting[0].uid,)]


@settings(
    max_examples=60,
    derandomize=True,
    phases=(Phase.generate,),
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(mixed_clusters())
def test_a_plan_does_not_depend_on_what_shapes_share(mixed: MixedCluster) -> None:
    loaded = load(mixed)
    shared = with_twins(loaded.snapshot)
    alone = replace(shared, shapes=keyed("shapes", map(apart, shared.shapes.values())))

    assert solve(shared, loaded.options) == solve(alone, loaded.options)


def with_twins(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Return the snapshot with every second pod of each shape a little larger."""
    larger = {
        one.id: replace(one, id=number, requests=one.requests.add(Resources({CPU: 7})))
        for one, number in zip(snapshot.shapes.values(), count(max(snapshot.shapes, default=0) + 1))
    }
    rows = [
        row._replace(shape=larger[row.shape].id) if turn % 2 and not row.node else row
        for turn, row in enumerate(snapshot.pods.rows())
    ]
    shapes = keyed("shapes", (*snapshot.shapes.values(), *larger.values()))
    return replace(snapshot, shapes=shapes, pods=PodTable.from_rows(rows))


def apart(shape: PodShape) -> PodShape:
    """Return an equal shape that shares nothing with any other."""
    found: PodShape = pickle.loads(pickle.dumps(shape))
    return found
