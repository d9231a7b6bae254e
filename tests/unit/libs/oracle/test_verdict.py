"""What the recordings do not hold, or hold only in passing."""

from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.oracle.cluster import Cluster
from libs.oracle.verdict import judge, judge_node
from tests.unit.libs.oracle.kube import (
    affinity,
    claim,
    mounts,
    node,
    pod,
    spread,
    storage_class,
    volume,
)

BOUND = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
EPHEMERAL = [{"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}]


def cluster_of(*objects: tuple[str, dict[str, Any]]) -> Cluster:
    cluster = Cluster()
    for kind, obj in objects:
        cluster.put(kind, obj)
    return cluster


def two_nodes(*more: tuple[str, dict[str, Any]]) -> Cluster:
    return cluster_of(
        ("Node", node("n1", labels={"zone": "a"})),
        ("Node", node("n2", labels={"zone": "b"})),
        *more,
    )


def test_a_gated_pod_has_no_reasons_per_node() -> None:
    verdict = judge(two_nodes(), pod("a", schedulingGates=[{"name": "wait"}]))

    assert verdict.gated
    assert verdict.reasons == {}
    assert verdict.message == "Scheduling is blocked due to non-empty scheduling gates"


def test_a_node_counts_for_its_first_refusal_but_each_lacking_resource() -> None:
    verdict = judge(
        two_nodes(("Node", node("n3", unschedulable=True))),
        pod("a", requests={"cpu": "5", "memory": "9Gi", "example.com/gpu": 1}),
    )

    assert verdict.reasons == {
        "Insufficient cpu": 2,
        "Insufficient memory": 2,
        "Insufficient example.com/gpu": 2,
        "node(s) were unschedulable": 1,
    }
    assert verdict.rejected["n3"].plugin == "NodeUnschedulable"


@pytest.mark.parametrize(
    ("spec", "feasible"),
    [
        pytest.param({"nodeName": "n2"}, ("n2",), id="names its node"),
        pytest.param({"hostNetwork": True, "ports": [{"containerPort": 80}]}, ("n2",), id="host"),
        pytest.param({"ports": [{"containerPort": 80}]}, ("n1", "n2"), id="no host port"),
        pytest.param({"affinity": affinity("none")}, (), id="affinity to nobody"),
    ],
)
def test_nodes_that_pass(spec: dict[str, Any], feasible: tuple[str, ...]) -> None:
    ports = [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
    cluster = two_nodes(("Pod", pod("web", nodeName="n1", ports=ports)))

    assert judge(cluster, pod("a", **spec)).feasible == feasible


def test_terms_that_name_different_nodes_conflict() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("n1", "n2")]
    required = {"nodeSelectorTerms": [{"matchFields": fields}]}
    node_affinity = {"requiredDuringSchedulingIgnoredDuringExecution": required}

    verdict = judge(two_nodes(), pod("a", affinity={"nodeAffinity": node_affinity}))

    assert verdict.message == "0/2 nodes are available: pod affinity terms conflict."


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        pytest.param([], 'persistentvolumeclaim "data" not found', id="missing"),
        pytest.param(
            [claim("data") | {"metadata": {"name": "data", "deletionTimestamp": "2026-01-01"}}],
            'persistentvolumeclaim "data" is being deleted',
            id="terminating",
        ),
        pytest.param(
            [claim("data", class_name="none")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="unknown class",
        ),
    ],
)
def test_a_pod_with_a_hopeless_claim_goes_nowhere(claims: list[Any], message: str) -> None:
    cluster = two_nodes(
        ("StorageClass", storage_class()), *(("PersistentVolumeClaim", obj) for obj in claims)
    )

    verdict = judge(cluster, pod("a", volumes=mounts("data")))

    assert verdict.message == f"0/2 nodes are available: {message}."


@pytest.mark.parametrize(("owner", "schedulable"), [("uid-a", True), ("uid-b", False)])
def test_an_ephemeral_claim_serves_only_its_owner(owner: str, schedulable: bool) -> None:
    owners = [{"uid": owner, "controller": True}]
    owned = claim("a-v") | {"metadata": {"name": "a-v", "ownerReferences": owners}}
    cluster = two_nodes(("StorageClass", storage_class()), ("PersistentVolumeClaim", owned))
    asking = pod("a", volumes=EPHEMERAL)
    asking["metadata"]["uid"] = "uid-a"

    assert judge(cluster, asking).schedulable is schedulable


def test_a_claim_whose_node_is_chosen_binds_there_only() -> None:
    chosen = claim("data")
    chosen["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": "n2"}
    cluster = two_nodes(("StorageClass", storage_class()), ("PersistentVolumeClaim", chosen))

    assert judge(cluster, pod("a", volumes=mounts("data"))).feasible == ("n2",)


@pytest.mark.parametrize(
    ("reserved", "schedulable"),
    [
        ({"namespace": "default", "name": "data"}, True),
        ({"namespace": "default", "name": "other"}, False),
        ({"namespace": "default", "name": "data", "uid": "of an earlier claim"}, False),
    ],
)
def test_a_reserved_volume_serves_only_its_claim(
    reserved: dict[str, str], schedulable: bool
) -> None:
    cluster = two_nodes(
        ("StorageClass", storage_class(provisioner="kubernetes.io/no-provisioner")),
        ("PersistentVolumeClaim", claim("data")),
        ("PersistentVolume", volume("v", claimRef=reserved)),
    )

    assert judge(cluster, pod("a", volumes=mounts("data"))).schedulable is schedulable


def test_a_claim_takes_no_volume_but_the_one_that_is_kept_for_it() -> None:
    on_n2 = {"key": "zone", "operator": "In", "values": ["b"]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [on_n2]}]}}
    reserved = {"namespace": "default", "name": "data"}
    cluster = two_nodes(
        ("StorageClass", storage_class(provisioner="kubernetes.io/no-provisioner")),
        ("PersistentVolumeClaim", claim("data")),
        ("PersistentVolume", volume("free")),
        ("PersistentVolume", volume("kept", claimRef=reserved, nodeAffinity=affinity)),
        ("PersistentVolume", volume("strange", class_name="other", claimRef=reserved)),
    )

    assert judge(cluster, pod("a", volumes=mounts("data"))).feasible == ("n2",)


def test_old_and_new_zone_labels_of_volumes_and_nodes_are_the_same() -> None:
    zoned = volume("v")
    zoned["metadata"]["labels"] = {"failure-domain.beta.kubernetes.io/zone": "a__b"}
    bound = claim("data", volumeName="v")
    bound["metadata"] |= BOUND
    cluster = cluster_of(
        *(
            ("Node", node(zone, labels={"topology.kubernetes.io/zone": zone}))
            for zone in ("a", "b", "c")
        ),
        ("PersistentVolumeClaim", bound),
        ("PersistentVolume", zoned),
    )

    assert judge(cluster, pod("a", volumes=mounts("data"))).feasible == ("a", "b")


def test_label_keys_that_were_not_merged_yet_are_merged() -> None:
    old = {"app": "web", "hash": "old"}
    cluster = two_nodes(("Pod", pod("web-1", nodeName="n1", labels=old)))
    by_version = {"topologySpreadConstraints": spread("web", matchLabelKeys=["hash"])}

    same = judge(cluster, pod("a", labels=old, **by_version))
    other = judge(cluster, pod("a", labels={"app": "web", "hash": "new"}, **by_version))

    assert same.feasible == ("n2",)
    assert other.feasible == ("n1", "n2")


def test_judging_one_node_names_every_plugin_that_refuses() -> None:
    taint = {"key": "a", "effect": "NoSchedule"}
    cluster = cluster_of(("Node", node("n1", unschedulable=True, taints=[taint])))

    refusals = judge_node(cluster, pod("a", requests={"cpu": "5"}), "n1")

    assert [refusal.plugin for refusal in refusals] == [
        "NodeUnschedulable",
        "TaintToleration",
        "NodeResourcesFit",
    ]


def test_an_unknown_selector_operator_is_refused_with_its_path() -> None:
    selector = {"matchExpressions": [{"key": "app", "operator": "Near"}]}

    with pytest.raises(InvalidRequest, match=r"matchExpressions\[0\]\.operator"):
        judge(
            two_nodes(),
            pod("a", topologySpreadConstraints=spread("web", labelSelector=selector)),
        )
