"""Free volumes: each for one claim, wherever its pod goes."""

from typing import Any

from libs.domain import labels as label_keys
from libs.domain.pod import PodShape
from libs.domain.reason import Rule
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.volume import UnboundClaim, VolumeKind, VolumePlace
from tests.support.builders import a_node, a_shape, pods, require
from tests.unit.services.solver.core.asking import left_over, on_new, on_nodes, plan_of, zones


def _in_zone(name: str) -> Requirements:
    return require((label_keys.ZONE, "In", [name]))


def _kind(key: str, *places: tuple[int, Requirements], rank: int = 0) -> VolumeKind:
    return VolumeKind(
        key=key,
        places=tuple(
            VolumePlace(rank=number, count=count, terms=(term,))
            for number, (count, term) in enumerate(places, rank)
        ),
    )


def _choosing(*claims: UnboundClaim, number: int = 1, **more: Any) -> PodShape:
    return a_shape(number, cpu="100m", unbound_claims=claims, **more)


DISK = UnboundClaim(kinds=("disks",))
ELSEWHERE = UnboundClaim(kinds=("disks",), made=(_in_zone("zone-c"),))


def test_no_more_pods_than_volumes_get_a_place_on_nodes() -> None:
    plan = plan_of(
        shapes=[_choosing(DISK)],
        pods=pods(3),
        nodes=[a_node(), a_node("node-2")],
        volume_kinds=[_kind("disks", (2, ANYTHING))],
    )

    assert sum(on_nodes(plan).values()) == 2
    (left,) = plan.unplaced
    assert left.reason.existing == ((Rule.VOLUME_BINDING, 2),)
    assert "2 would do, 2 of them in reach, 2 of those taken by other claims" in left.reason.message


def test_new_nodes_are_tied_to_the_zones_of_the_volumes() -> None:
    kinds = [_kind("disks", (1, _in_zone("zone-b")), (1, _in_zone("zone-a")))]

    plan = plan_of(shapes=[_choosing(DISK)], pods=pods(3), volume_kinds=kinds)

    assert sorted(zones(plan)) == ["zone-a", "zone-b"]
    assert left_over(plan) == 1


def test_volumes_that_all_nodes_reach_leave_the_choice_of_zones() -> None:
    plan = plan_of(
        shapes=[_choosing(DISK)], pods=pods(2), volume_kinds=[_kind("disks", (2, ANYTHING))]
    )

    assert on_new(plan) == [2]


def test_who_finds_none_goes_where_one_is_made() -> None:
    kinds = [_kind("disks", (1, _in_zone("zone-a")))]

    plan = plan_of(shapes=[_choosing(ELSEWHERE)], pods=pods(3), volume_kinds=kinds)

    assert sorted(zones(plan)) == ["zone-a", "zone-c"]
    assert left_over(plan) == 0


def test_claims_of_one_pod_take_a_volume_each() -> None:
    kinds = [_kind("disks", (3, ANYTHING))]

    plan = plan_of(shapes=[_choosing(DISK, DISK)], pods=pods(2), volume_kinds=kinds)

    assert on_new(plan) == [1]
    assert left_over(plan) == 1


def test_a_claim_that_pods_share_takes_one_volume() -> None:
    shared = UnboundClaim(claim="default/data", kinds=("disks",))
    kinds = [_kind("disks", (1, _in_zone("zone-b")))]

    plan = plan_of(shapes=[_choosing(shared)], pods=pods(3), volume_kinds=kinds)

    assert zones(plan) == ["zone-b"]
    assert on_new(plan) == [3]


def test_the_volume_of_the_lowest_rank_is_taken_first() -> None:
    given = [_kind("small", (1, ANYTHING)), _kind("large", (1, ANYTHING), rank=1)]
    modest = _choosing(UnboundClaim(kinds=("large", "small")), number=1)
    greedy = _choosing(UnboundClaim(kinds=("large",)), number=2)

    plan = plan_of(shapes=[modest, greedy], pods=[*pods(1), *pods(1, 2)], volume_kinds=given)

    assert on_new(plan) == [2]


def test_a_kind_that_is_gone_is_no_volume() -> None:
    plan = plan_of(shapes=[_choosing(DISK)], pods=pods(1))

    (left,) = plan.unplaced
    assert "0 would do" in left.reason.message
