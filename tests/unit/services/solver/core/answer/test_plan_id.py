"""Equal decisions have equal ids, different ones differ."""

import re
from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from libs.domain.plan import Nomination, Plan
from libs.domain.reason import TargetKind
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from services.solver.core.answer.plan_id import plan_id
from services.solver.core.solve import solve
from tests.support.builders import a_shape, a_snapshot, pods
from tests.support.strategies.decision import plans

WHEN = a_snapshot().id


def _id(snapshot: ClusterSnapshot) -> str:
    return solve(snapshot, SolveOptions()).plan_id


def test_an_id_is_short_and_a_dns_label() -> None:
    assert re.fullmatch("p[a-z2-7]{19}", _id(a_snapshot(pods=pods(1))))


def test_equal_decisions_have_equal_ids() -> None:
    assert _id(a_snapshot(pods=pods(2))) == _id(a_snapshot(pods=pods(2)))


def test_another_revision_and_another_content_have_other_ids() -> None:
    snapshot = a_snapshot(pods=pods(2))
    later = replace(snapshot, id=replace(snapshot.id, revision=2))

    ids = {_id(snapshot), _id(later), _id(a_snapshot(pods=pods(3)))}
    ids.add(_id(a_snapshot(shapes=[a_shape(cpu="2")], pods=pods(2))))
    assert len(ids) == 4


@given(plans, plans)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_plans_have_one_id_exactly_if_they_are_equal(one: Plan, other: Plan) -> None:
    assert (plan_id(WHEN, one) == plan_id(WHEN, other)) is (one == other)
    assert plan_id(WHEN, deepcopy(one)) == plan_id(WHEN, one)


@pytest.mark.parametrize(
    ("some", "others"),
    [
        pytest.param((("a", "b"), ("c",)), (("a",), ("b", "c")), id="another border"),
        pytest.param((("a",), ("b",)), (("b",), ("a",)), id="another order"),
        pytest.param((("a,b",), ()), (("a", "b"), ()), id="another number"),
        pytest.param((("a",) * 99, ()), ((*("a",) * 98, "b"), ()), id="a long list"),
    ],
)
def test_plans_that_differ_in_who_goes_where_have_other_ids(
    some: tuple[tuple[str, ...], ...], others: tuple[tuple[str, ...], ...]
) -> None:
    assert plan_id(WHEN, _going(some)) != plan_id(WHEN, _going(others))


def _going(uids: tuple[tuple[str, ...], ...]) -> Plan:
    node = TargetKind.NODE
    return Plan(
        nominations=tuple(
            Nomination(target_kind=node, target=f"n-{index}", pod_uids=one)
            for index, one in enumerate(uids)
        )
    )
