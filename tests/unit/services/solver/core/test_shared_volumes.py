"""Volume claims that several pods use: one at a time, one place for all, attached once."""

from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.pod import ExclusiveDisk, PodShape, SharedVolume, VolumeAttachCount
from libs.domain.reason import Rule
from tests.support.builders import a_node, a_pod, a_shape, pods, require
from tests.unit.services.solver.core.asking import left_over, on_new, on_nodes, plan_of, zones

EXCLUSIVE = SharedVolume(claim="default/data", exclusive=True)
UNMADE = SharedVolume(claim="default/data", topology_key=label_keys.ZONE)
ON_A_DISK = SharedVolume(claim="default/data", driver="disks")


def _sharing(volume: SharedVolume, number: int = 1, cpu: str = "100m", **more: Any) -> PodShape:
    return a_shape(number, cpu=cpu, shared_volumes=(volume,), **more)


def test_one_of_many_pods_gets_the_claim_that_one_at_a_time_may_use() -> None:
    plan = plan_of(
        shapes=[_sharing(EXCLUSIVE), _sharing(EXCLUSIVE, 2)], pods=[*pods(2), *pods(2, 2)]
    )

    assert on_new(plan) == [1]
    assert left_over(plan) == 3
    assert all("default/data" in one.reason.message for one in plan.unplaced)


def test_a_pod_that_runs_keeps_the_claim() -> None:
    rows = [a_pod("runs", node="node-1"), *pods(1)]

    plan = plan_of(shapes=[_sharing(EXCLUSIVE)], pods=rows, nodes=[a_node()])

    (left,) = plan.unplaced
    assert left.reason.existing == ((Rule.VOLUME_CLAIM, 1),)


def test_pods_of_a_volume_yet_to_be_made_stay_in_one_zone() -> None:
    plan = plan_of(shapes=[_sharing(UNMADE, cpu="9")], pods=pods(5))

    assert set(zones(plan)) == {"zone-a"}
    assert sum(on_new(plan)) == 5


def test_the_zone_suits_every_pod_of_the_volume() -> None:
    in_c = require((label_keys.ZONE, "In", ["zone-c"]))
    shapes = [_sharing(UNMADE, cpu="9"), _sharing(UNMADE, 2, cpu="8", node_selector=in_c)]

    plan = plan_of(shapes=shapes, pods=[*pods(1), *pods(1, 2)])

    assert zones(plan) == ["zone-c", "zone-c"]


def test_pods_follow_one_that_runs_to_its_zone() -> None:
    rows = [a_pod("runs", node="node-1"), *pods(1)]
    full = a_node(labels={label_keys.ZONE: "zone-b"}, unschedulable=True)

    assert zones(plan_of(shapes=[_sharing(UNMADE)], pods=rows, nodes=[full])) == ["zone-b"]


@pytest.mark.parametrize("running", [0, 2])
def test_a_shared_volume_is_attached_once_per_node(running: int) -> None:
    shape = _sharing(ON_A_DISK, volume_attach_counts=(VolumeAttachCount(driver="disks", count=2),))
    node = a_node(volume_limits=(VolumeAttachCount(driver="disks", count=5),))
    rows = [a_pod(f"runs-{number}", node="node-1") for number in range(running)]

    plan = plan_of(shapes=[shape], pods=[*rows, *pods(9)], nodes=[node], nodepools=[])

    # One disk that all share, and one of its own for each pod.
    assert on_nodes(plan) == {"node-1": 4 - running}


def test_a_node_with_too_many_volumes_still_takes_pods_that_share_them() -> None:
    shape = _sharing(ON_A_DISK, volume_attach_counts=(VolumeAttachCount(driver="disks", count=1),))
    other = a_shape(2, volume_attach_counts=(VolumeAttachCount(driver="disks", count=3),))
    node = a_node(volume_limits=(VolumeAttachCount(driver="disks", count=1),))
    rows = [a_pod("runs", node="node-1"), a_pod("other", shape=2, node="node-1")]

    plan = plan_of(shapes=[shape, other], pods=[*rows, *pods(2)], nodes=[node], nodepools=[])

    assert on_nodes(plan) == {"node-1": 2}


@pytest.mark.parametrize(
    ("running", "waiting", "placed"),
    [
        pytest.param(False, False, 1, id="one that writes"),
        pytest.param(True, False, 0, id="none that writes beside one that reads"),
        pytest.param(False, True, 0, id="none that reads beside one that writes"),
        pytest.param(True, True, 3, id="all that only read"),
    ],
)
def test_a_node_has_a_disk_for_one_pod_or_for_readers(
    running: bool, waiting: bool, placed: int
) -> None:
    there = (ExclusiveDisk(disk="pd", read_only=running),) if running or waiting else ()
    shapes = [
        a_shape(exclusive_disks=(ExclusiveDisk(disk="pd", read_only=waiting),)),
        a_shape(2, exclusive_disks=there),
    ]
    rows = [a_pod("runs", shape=2, node="node-1"), *pods(3)]

    plan = plan_of(shapes=shapes, pods=rows, nodes=[a_node()], nodepools=[])

    assert on_nodes(plan) == ({"node-1": placed} if placed else {})
    assert left_over(plan) == 3 - placed


@pytest.mark.parametrize(("read_only", "nodes"), [(False, [1, 1, 1]), (True, [3])])
def test_new_nodes_keep_pods_of_one_disk_apart(read_only: bool, nodes: list[int]) -> None:
    disk = ExclusiveDisk(disk="pd", read_only=read_only)

    assert on_new(plan_of(shapes=[a_shape(exclusive_disks=(disk,))], pods=pods(3))) == nodes


def test_the_reason_names_the_claim_where_a_disk_is_taken() -> None:
    shape = a_shape(exclusive_disks=(ExclusiveDisk(disk="pd"),))
    rows = [a_pod("runs", node="node-1"), *pods(1)]

    plan = plan_of(shapes=[shape], pods=rows, nodes=[a_node()], nodepools=[])

    (left,) = plan.unplaced
    assert left.reason.existing == ((Rule.VOLUME_CLAIM, 1),)
