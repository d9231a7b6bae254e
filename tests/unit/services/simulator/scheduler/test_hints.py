"""Whom a change of the cluster may help."""

from typing import Any

import pytest

from libs.oracle.cluster import Cluster
from libs.oracle.pods import read_pod
from services.simulator.core.scheduler.hints import NODE, POD_BOUND, POD_GONE, Happening, Hints
from services.simulator.core.scheduler.queue import Parked
from tests.unit.services.simulator.living import Obj, a_node, a_pod


def parked(*plugins: str, **spec: Any) -> Parked:
    pod = a_pod("p", **spec)
    pod["metadata"]["namespace"] = "default"
    return Parked(pod=read_pod(pod), plugins=frozenset(plugins))


def near(app: str) -> Obj:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "zone"}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def helps(what: str, key: str, waits: Parked) -> bool:
    cluster = Cluster()
    cluster.put("Node", a_node("n1"))
    cluster.put("Node", a_node("tainted", taints=[{"key": "k", "effect": "NoSchedule"}]))
    bound = a_pod("web", nodeName="n1")
    bound["metadata"]["namespace"] = "default"
    cluster.put("Pod", bound)
    hints = Hints(cluster)
    hints.add([Happening(what=what, key=key)])
    assert hints
    return hints.help(waits)


@pytest.mark.parametrize(
    ("what", "key", "waits", "expected"),
    [
        (POD_GONE, "default/x", parked("NodeResourcesFit"), True),
        (POD_GONE, "default/x", parked("NodeAffinity"), False),
        (POD_BOUND, "default/web", parked("NodeResourcesFit"), False),
        (POD_BOUND, "default/web", parked("InterPodAffinity", affinity=near("web")), True),
        (POD_BOUND, "default/web", parked("InterPodAffinity", affinity=near("other")), False),
        (POD_BOUND, "default/web", parked("PodTopologySpread"), True),
        (NODE, "n1", parked("NodeResourcesFit"), True),
        (NODE, "n1", parked("NodeResourcesFit", cpu="5"), False),
        (NODE, "n1", parked("NodeAffinity", nodeSelector={"a": "b"}), False),
        (NODE, "n1", parked("NodeAffinity", nodeSelector={"kubernetes.io/hostname": "n1"}), True),
        (NODE, "tainted", parked("NodeResourcesFit"), False),
        (NODE, "tainted", parked("TaintToleration", tolerations=[{"operator": "Exists"}]), True),
        (NODE, "gone", parked("NodeResourcesFit"), False),
        (NODE, "gone", parked("PodTopologySpread", cpu="5"), True),
        ("PersistentVolume", "pv", parked("VolumeBinding"), True),
        ("PersistentVolume", "pv", parked("NodeResourcesFit"), False),
        ("ResourceSlice", "s", parked("DynamicResources"), True),
        ("Namespace", "n", parked("InterPodAffinity"), True),
    ],
)
def test_a_change_helps_those_whose_refusal_it_touches(
    what: str, key: str, waits: Parked, expected: bool
) -> None:
    assert helps(what, key, waits) is expected


def test_once_all_were_looked_through_nothing_is_left() -> None:
    hints = Hints(Cluster())
    hints.add([Happening(what=POD_GONE, key="a"), Happening(what=NODE, key="b")])

    hints.clear()

    assert not hints
    assert not hints.help(parked("NodeResourcesFit"))
