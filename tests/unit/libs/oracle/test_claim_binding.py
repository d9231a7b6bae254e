from libs.oracle.claim_binding import bind_claims
from libs.oracle.cluster import Cluster
from libs.oracle.verdict import judge
from tests.unit.libs.oracle.kube import claim, mounts, node, pod, storage_class, volume


def a_cluster() -> Cluster:
    cluster = Cluster()
    for name, rack in (("n1", "r1"), ("n2", "r1"), ("n3", "r2")):
        labels = {"rack": rack, "topology.kubernetes.io/zone": name}
        cluster.put("Node", node(name, labels=labels))
    cluster.put("StorageClass", storage_class())
    cluster.put("PersistentVolumeClaim", claim("data"))
    return cluster


def reachable_after_binding(cluster: Cluster, node_name: str) -> tuple[str, ...]:
    asking = pod("a", volumes=mounts("data"))
    for kind, changed in bind_claims(cluster, asking, node_name):
        cluster.put(kind, changed)
    return judge(cluster, asking).feasible


def test_a_new_volume_lives_in_the_node_s_zone() -> None:
    assert reachable_after_binding(a_cluster(), "n2") == ("n2",)


def test_a_new_volume_lives_where_its_driver_says() -> None:
    cluster = a_cluster()
    driver = {"name": "disk.example.com", "topologyKeys": ["rack"]}
    cluster.put("CSINode", {"metadata": {"name": "n2"}, "spec": {"drivers": [driver]}})

    assert reachable_after_binding(cluster, "n2") == ("n1", "n2")


def test_the_smallest_existing_volume_is_taken() -> None:
    cluster = a_cluster()
    cluster.put("PersistentVolume", volume("large", capacity={"storage": "9Gi"}))
    cluster.put("PersistentVolume", volume("small", capacity={"storage": "2Gi"}))

    changes = bind_claims(cluster, pod("a", volumes=mounts("data")), "n1")

    assert [(kind, obj["metadata"]["name"]) for kind, obj in changes] == [
        ("PersistentVolume", "small"),
        ("PersistentVolumeClaim", "data"),
    ]
    assert changes[1][1]["spec"]["volumeName"] == "small"
    assert reachable_after_binding(cluster, "n1") == ("n1", "n2", "n3")


def test_a_pod_without_claims_changes_nothing() -> None:
    assert bind_claims(a_cluster(), pod("a"), "n1") == []
