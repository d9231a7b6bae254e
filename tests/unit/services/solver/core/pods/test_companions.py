"""Companions: what holds for one of several pods that must be together holds for all."""

import pytest

from libs.domain import labels as label_keys
from libs.domain.plan import Plan
from libs.domain.pod import PodRow, PodShape
from tests.support.builders import a_node, a_pod, a_shape, a_term, pods, require
from tests.unit.services.solver.core.asking import left_over, on_nodes, plan_of, the_claim, zones

IN_C = ((require((label_keys.ZONE, "In", ["zone-c"])),),)


def _plan(big: PodShape, small: PodShape, running: tuple[PodRow, ...] = ()) -> Plan:
    waiting = [*pods(1, big.id), *pods(1, small.id), *running]
    return plan_of(shapes=[big, small], pods=waiting, nodes=[a_node()])


@pytest.mark.parametrize("key", [label_keys.ZONE, label_keys.HOSTNAME])
def test_the_larger_one_goes_where_the_other_one_has_its_volume(key: str) -> None:
    near = (a_term(key),)

    plan = _plan(a_shape(cpu="2", affinity=near), a_shape(2, affinity=near, volumes=IN_C))

    assert zones(plan) == ["zone-c"]
    assert len(the_claim(plan).pod_uids) == 2


def test_all_follow_one_that_runs() -> None:
    near = (a_term(label_keys.ZONE),)
    big, small = a_shape(cpu="2", affinity=near), a_shape(2, affinity=near, volumes=IN_C)

    plan = _plan(big, small, running=(a_pod("runs", node="node-1"),))

    assert on_nodes(plan) == {"node-1": 1}
    assert left_over(plan) == 1


def test_one_whose_volume_is_nowhere_near_does_not_hold_back_the_other() -> None:
    near = (a_term(label_keys.ZONE),)
    in_a = ((require((label_keys.ZONE, "In", ["zone-a"])),),)
    big = a_shape(cpu="2", affinity=near, volumes=in_a)

    plan = _plan(big, a_shape(2, affinity=near, volumes=IN_C))

    assert on_nodes(plan) == {"node-1": 1}
    assert left_over(plan) == 1
