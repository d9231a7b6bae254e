"""The largest number of a gang's pods that have room together, against all ways to choose them."""

from itertools import combinations, combinations_with_replacement, product
from typing import Any

import pytest

from libs.domain.plan import Plan
from libs.domain.workload import Gang
from tests.support.builders import a_node, a_pod, a_shape, amounts
from tests.unit.services.solver.core.asking import left_over, plan_of

Sizes = tuple[int, ...]


def _fits(pods: Sizes, nodes: Sizes) -> bool:
    """Tell whether pods of these sizes have room on these nodes, by trying every place of each."""
    for places in product(range(len(nodes)), repeat=len(pods)):
        used = [0] * len(nodes)
        for size, place in zip(pods, places, strict=True):
            used[place] += size
        if all(mine <= room for mine, room in zip(used, nodes, strict=True)):
            return True
    return False


def _most(pods: Sizes, nodes: Sizes) -> int:
    """Return how many of these pods have room together."""
    counts = range(len(pods), 0, -1)
    return next((n for n in counts if any(_fits(one, nodes) for one in combinations(pods, n))), 0)


def _plan(pods: Sizes, nodes: Sizes, least: int) -> Plan:
    gang = Gang(namespace="default", name="job", min_members=least)
    cluster: dict[str, Any] = {
        "nodepools": [],
        "gangs": [gang],
        "shapes": [a_shape(number, cpu=str(number)) for number in set(pods)],
        "pods": [a_pod(f"p-{at}", size, gang=gang.key) for at, size in enumerate(pods)],
        "nodes": [
            a_node(f"n-{at}", allocatable=amounts(cpu=size, memory="8Gi", pods=9))
            for at, size in enumerate(nodes)
        ],
    }
    return plan_of(**cluster)


def _check(pods: Sizes, nodes: Sizes) -> None:
    most = _most(pods, nodes)
    for least in range(1, len(pods) + 1):
        plan = _plan(pods, nodes, least)

        if least <= most:
            assert left_over(plan) <= len(pods) - least, (pods, least)
        else:
            assert left_over(plan) == len(pods), (pods, least)
            (unplaced,) = plan.unplaced
            assert (
                f"at most {most} ha{'s' if most == 1 else 've'} a place" in unplaced.reason.message
            )


@pytest.mark.parametrize("nodes", [(3,), (3, 3), (5, 2)], ids=str)
def test_a_gang_has_places_if_enough_of_its_pods_have_in_any_way(nodes: Sizes) -> None:
    for pods in combinations_with_replacement(range(1, 5), 4):
        _check(pods, nodes)
