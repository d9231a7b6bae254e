"""Room for new volumes, where a driver publishes how much there is."""

from typing import Any

import pytest

from libs.oracle.cluster import Cluster
from libs.oracle.verdict import judge
from tests.unit.libs.oracle.kube import Obj, claim, mounts, node, pod, storage_class, volume

TRACKED: Obj = {"metadata": {"name": "disk.example.com"}, "spec": {"storageCapacity": True}}
UNTRACKED: Obj = {"metadata": {"name": "disk.example.com"}, "spec": {"storageCapacity": False}}
EVERYWHERE: Obj = {}
ZONE_B = {"matchLabels": {"zone": "b"}}


def _capacity(topology: Any, class_name: str = "late", **amounts: str) -> Obj:
    metadata = {"name": f"{class_name}-{amounts}", "namespace": "kube-system"}
    return {
        "metadata": metadata,
        "storageClassName": class_name,
        "nodeTopology": topology,
        **amounts,
    }


def _verdict(*objects: tuple[str, Obj]) -> Any:
    cluster = Cluster()
    for one in (node("n1", labels={"zone": "a"}), node("n2", labels={"zone": "b"})):
        cluster.put("Node", one)
    cluster.put("StorageClass", storage_class())
    cluster.put("PersistentVolumeClaim", claim("data"))
    for kind, obj in objects:
        cluster.put(kind, obj)
    return judge(cluster, pod("a", volumes=mounts("data")))


@pytest.mark.parametrize(
    ("driver", "capacities", "feasible"),
    [
        pytest.param(None, (), ("n1", "n2"), id="no driver object"),
        pytest.param(UNTRACKED, (), ("n1", "n2"), id="the driver does not track it"),
        pytest.param(TRACKED, (), (), id="nothing is published"),
        pytest.param(
            TRACKED, (_capacity(EVERYWHERE, capacity="1Gi"),), ("n1", "n2"), id="just enough"
        ),
        pytest.param(TRACKED, (_capacity(EVERYWHERE, capacity="1023Mi"),), (), id="too little"),
        pytest.param(TRACKED, (_capacity(ZONE_B, capacity="2Gi"),), ("n2",), id="in one zone"),
        pytest.param(TRACKED, (_capacity(None, capacity="2Gi"),), (), id="within nobody's reach"),
        pytest.param(
            TRACKED,
            (_capacity(EVERYWHERE, "other", capacity="2Gi"),),
            (),
            id="for volumes of another class",
        ),
        pytest.param(
            TRACKED,
            (_capacity(EVERYWHERE, capacity="9Gi", maximumVolumeSize="1Mi"),),
            (),
            id="only small volumes",
        ),
        pytest.param(
            TRACKED,
            (_capacity(EVERYWHERE, capacity="1Mi"), _capacity(ZONE_B, capacity="1Gi")),
            ("n2",),
            id="any one suffices",
        ),
        pytest.param(TRACKED, (_capacity(EVERYWHERE),), (), id="no amount"),
    ],
)
def test_new_volumes_need_room_that_is_published(
    driver: Obj | None, capacities: tuple[Obj, ...], feasible: tuple[str, ...]
) -> None:
    objects = [("CSIStorageCapacity", one) for one in capacities]
    if driver is not None:
        objects.append(("CSIDriver", driver))

    assert _verdict(*objects).feasible == feasible


def test_a_node_without_room_says_so() -> None:
    assert _verdict(("CSIDriver", TRACKED)).reasons == {
        "node(s) did not have enough free storage": 2
    }


def test_a_volume_that_exists_needs_no_room() -> None:
    found = _verdict(("CSIDriver", TRACKED), ("PersistentVolume", volume("v1")))

    assert found.feasible == ("n1", "n2")
