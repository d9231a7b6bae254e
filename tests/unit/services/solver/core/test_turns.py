"""How often groups are tried again where pods wait for each other."""

import dataclasses
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.plan import Plan
from libs.domain.pod import PodShape
from libs.domain.topology import NodeInclusionPolicy
from services.solver.core.packing.packing import Packer
from services.solver.core.topology.topology import Topology
from tests.support.builders import (
    ZONES,
    a_node,
    a_node_term,
    a_pod,
    a_shape,
    a_spread,
    a_term,
    selecting,
)
from tests.unit.services.solver.core.asking import left_over, plan_of

ZONE, HOST = label_keys.ZONE, label_keys.HOSTNAME
LENGTH = 60


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often somebody was refused, and how often because nobody was there to be near."""
    found: Counter[str] = Counter()
    for owner, name in ((Topology, "awaited"), (Packer, "causes")):
        _count(monkeypatch, found, owner, name)
    return found


def _count(
    monkeypatch: pytest.MonkeyPatch, found: Counter[str], owner: type[Any], name: str
) -> None:
    known = getattr(owner, name)

    def counting(*given: Any) -> Any:
        found[name] += 1
        return known(*given)

    monkeypatch.setattr(owner, name, counting)


def _chain(key: str, step: int, **override: Any) -> list[PodShape]:
    """Return shapes each of which has to be near the one before it, or after it."""
    near = [
        a_term(key, selector=selecting(link=str(abs(number + step)))) for number in range(LENGTH)
    ]
    first = 0 if step < 0 else LENGTH - 1
    return [
        a_shape(
            number,
            cpu="10m",
            memory="1Mi",
            labels={"link": str(number)},
            affinity=() if number == first else (near[number],),
            **override,
        )
        for number in range(LENGTH)
    ]


def _plan(shapes: Iterable[PodShape], **snapshot: Any) -> Plan:
    known = list(shapes)
    pods = [a_pod(f"pod-{shape.id:03}", shape.id) for shape in known]
    return plan_of(shapes=known, pods=pods, **snapshot)


@pytest.mark.parametrize("key", [ZONE, HOST])
@pytest.mark.parametrize("step", [1, -1], ids=["against the order", "in the order"])
def test_a_chain_is_tried_as_often_as_it_is_long(asked: Counter[str], key: str, step: int) -> None:
    plan = _plan(_chain(key, step))

    assert left_over(plan) == 0
    assert asked["awaited"] <= 4 * LENGTH


def test_a_crowd_that_nobody_helps_is_not_tried_for_each_link_of_a_chain(
    asked: Counter[str],
) -> None:
    apart = (a_term(ZONE, selector=selecting(app="crowd")),)
    crowd = [
        a_shape(1000 + number, cpu=f"{5 + number}m", labels={"app": "crowd"}, anti_affinity=apart)
        for number in range(LENGTH)
    ]

    plan = _plan([*_chain(ZONE, 1), *crowd])

    assert left_over(plan) == LENGTH - 3
    assert asked["awaited"] <= 8 * LENGTH


def test_a_crowd_that_is_too_large_is_not_tried_for_each_new_node(asked: Counter[str]) -> None:
    near = (a_term(ZONE, selector=selecting(link="0")),)
    crowd = [
        a_shape(1000 + number, cpu=f"{9000 + number}", affinity=near) for number in range(LENGTH)
    ]
    apart = (a_term(HOST, selector=selecting(chain="")),)
    chain = [
        dataclasses.replace(one, labels=(*one.labels, ("chain", "")), anti_affinity=apart)
        for one in _chain(ZONE, 1)
    ]

    plan = _plan([*chain, *crowd])

    assert left_over(plan) == LENGTH
    assert asked["causes"] <= 6 * LENGTH


def test_a_crowd_that_is_tied_to_a_full_zone_is_not_tried_for_each_new_node(
    asked: Counter[str],
) -> None:
    spread = a_spread(
        ZONE,
        selector=selecting(app="crowd"),
        node_affinity_policy=NodeInclusionPolicy.IGNORE,
    )
    tied = [
        a_shape(
            1000 + number,
            cpu=f"{5 + number}m",
            labels={"app": "crowd"},
            topology_spread=(spread,),
            required_node_terms=(a_node_term((ZONE, "In", ["zone-a"])),),
        )
        for number in range(LENGTH)
    ]
    keeping = (a_term(HOST, selector=selecting(chain="")),)
    chain = [
        dataclasses.replace(one, labels=(*one.labels, ("chain", "")), anti_affinity=keeping)
        for one in _chain(ZONE, 1)
    ]

    nodes = [a_node(f"node-{zone}", labels={ZONE: zone}) for zone in ZONES]

    plan = _plan([*chain, *tied], nodes=nodes)

    assert left_over(plan) == LENGTH - 1
    assert asked["causes"] <= 8 * LENGTH


def test_pods_without_a_node_to_buy_wait_for_each_other_no_longer_than_needed(
    asked: Counter[str],
) -> None:
    plan = _plan(_chain(HOST, 1), nodes=[a_node()], nodepools=[])

    assert left_over(plan) == 0
    assert asked["awaited"] <= 4 * LENGTH
