from typing import Any

import pytest

from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.garbage import GarbageCollector
from tests.unit.services.simulator.cluster import Cluster, a_config_map, a_pod


def owned(name: str, owner: dict[str, Any], *, blocking: bool = False) -> dict[str, Any]:
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": blocking,
    }
    obj = a_config_map(name)
    obj["metadata"]["ownerReferences"] = [reference]
    return obj


@pytest.mark.parametrize(
    ("policy", "stays"),
    [("Background", False), ("Foreground", False), ("Orphan", True)],
)
def test_dependents_follow_the_propagation_policy(policy: str, stays: bool) -> None:
    cluster = Cluster()
    api, collector = cluster.server.direct, GarbageCollector(cluster.server.store)
    owner = api.create("configmaps", a_config_map("owner"))
    api.create("configmaps", owned("child", owner, blocking=True))
    run_to_rest(collector)
    api.delete("configmaps", "owner", "default", DeleteOptions(propagation=policy))
    run_to_rest(collector)

    assert api.find("configmaps", "owner", "default") is None
    child = api.find("configmaps", "child", "default")
    assert (child is not None) is stays
    assert child is None or "ownerReferences" not in child["metadata"]


def run_to_rest(collector: GarbageCollector) -> None:
    for _ in range(100):
        if not collector.collect_garbage():
            return


def test_grandchildren_go_too() -> None:
    cluster = Cluster()
    api = cluster.server.direct
    owner = api.create("configmaps", a_config_map("a"))
    child = api.create("configmaps", owned("b", owner))
    api.create("configmaps", owned("c", child))
    api.delete("configmaps", "a", "default")
    run_to_rest(GarbageCollector(cluster.server.store))

    assert api.list("configmaps") == ()


def test_a_namespace_is_emptied_pods_first() -> None:
    cluster = Cluster()
    api, collector = cluster.server.direct, GarbageCollector(cluster.server.store)
    api.create("namespaces", {"metadata": {"name": "x"}})
    pod = a_pod("p", nodeName="n1")
    pod["metadata"]["namespace"] = "x"
    api.create("pods", pod)
    api.create("configmaps", {"metadata": {"name": "c", "namespace": "x"}})
    api.delete("namespaces", "x")
    run_to_rest(collector)

    assert "deletionTimestamp" in api.get("pods", "p", "x")["metadata"]
    assert api.find("configmaps", "c", "x") is not None

    api.delete("pods", "p", "x", DeleteOptions(grace_seconds=0))
    run_to_rest(collector)
    assert api.find("configmaps", "c", "x") is None
    assert api.find("namespaces", "x") is None
