"""Volume claims that several pods use: one at a time, one place for all, attached once."""

from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.pod import PodShape, SharedVolume, VolumeAttachCount
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
