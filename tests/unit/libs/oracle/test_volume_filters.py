"""Volumes as kube-scheduler 1.36.2 was seen to treat them, where the recordings are thin."""

from typing import Any

import pytest

from libs.oracle.cluster import cluster_from_lists
from libs.oracle.verdict import Verdict, judge
from tests.unit.libs.oracle.kube import claim, mounts, node, pod, storage_class, volume

BOUND = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
ZONE = "topology.kubernetes.io/zone"


def bound_claim(name: str = "c", **metadata: Any) -> dict[str, Any]:
    made = claim(name, volumeName="v")
    return {**made, "metadata": {**made["metadata"], **BOUND, **metadata}}


def verdict_on(waiting: dict[str, Any], *claims: dict[str, Any], **lists: Any) -> Verdict:
    nodes = [node("n1", labels={ZONE: "a"}), node("n2", labels={ZONE: "b"})]
    return judge(cluster_from_lists({"nodes": nodes, "pvcs": claims, **lists}), waiting)


@pytest.mark.parametrize(
    ("field", "feasible"),
    [
        pytest.param([], ("n1",), id="labels decide"),
        pytest.param(["n2"], ("n1",), id="a node's name says nothing beside them"),
    ],
)
def test_only_labels_say_where_a_volume_can_be_used(
    field: list[str], feasible: tuple[str, ...]
) -> None:
    term = {
        "matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}],
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": [n]} for n in field],
    }
    place = volume("v", nodeAffinity={"required": {"nodeSelectorTerms": [term]}})

    found = verdict_on(pod("a", volumes=mounts("c")), bound_claim(), pvs=[place])

    assert found.feasible == feasible


@pytest.mark.parametrize(
    ("zones", "feasible"),
    [
        ("a", ("n1",)),
        ("a__b", ("n1", "n2")),
        ("", ("n1", "n2")),
        ("a__", ("n1", "n2")),
    ],
)
def test_a_zone_label_with_an_empty_value_in_it_is_ignored(
    zones: str, feasible: tuple[str, ...]
) -> None:
    labelled = volume("v")
    labelled["metadata"]["labels"] = {ZONE: zones}

    found = verdict_on(pod("a", volumes=mounts("c")), bound_claim(), pvs=[labelled])

    assert found.feasible == feasible


def ephemeral_pod() -> dict[str, Any]:
    made = pod("a", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}])
    made["metadata"]["uid"] = "u"
    return made


OWNED = {"ownerReferences": [{"uid": "u", "controller": True}]}


def test_zone_labels_do_not_bind_ephemeral_claims() -> None:
    labelled = volume("v")
    labelled["metadata"]["labels"] = {ZONE: "a"}

    found = verdict_on(ephemeral_pod(), bound_claim("a-v", **OWNED), pvs=[labelled])

    assert found.feasible == ("n1", "n2")


def test_an_ephemeral_claim_whose_volume_is_gone_is_each_nodes_problem() -> None:
    found = verdict_on(ephemeral_pod(), bound_claim("a-v", **OWNED))

    assert found.pod_refused is None
    assert found.reasons == {
        "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)": 2
    }


def test_of_claims_that_need_new_volumes_the_smallest_is_the_first_to_fail() -> None:
    large = claim("large", class_name="full", resources={"requests": {"storage": "2Gi"}})
    small = claim("small", class_name="static")
    classes = [
        storage_class("full"),
        storage_class("static", provisioner="kubernetes.io/no-provisioner"),
    ]
    drivers = [{"metadata": {"name": "disk.example.com"}, "spec": {"storageCapacity": True}}]

    found = verdict_on(
        pod("a", volumes=mounts("large", "small")),
        large,
        small,
        storageClasses=classes,
        csiDrivers=drivers,
    )

    assert found.reasons == {"node(s) didn't find available persistent volumes to bind": 2}


def test_a_node_that_states_no_allocatable_offers_its_capacity() -> None:
    bare = {"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "1", "pods": "1"}}}

    assert judge(cluster_from_lists({"nodes": [bare]}), pod("a")).feasible == ("n",)


@pytest.mark.parametrize(
    ("annotated", "feasible"),
    [("late", ("n1", "n2")), ("static", ()), ("none-such", ())],
)
def test_the_annotation_of_old_names_a_claims_class_before_its_spec_does(
    annotated: str, feasible: tuple[str, ...]
) -> None:
    waiting = claim("c", class_name="late")
    waiting["metadata"]["annotations"] = {"volume.beta.kubernetes.io/storage-class": annotated}
    classes = [
        storage_class(),
        storage_class("static", provisioner="kubernetes.io/no-provisioner"),
    ]

    found = verdict_on(pod("a", volumes=mounts("c")), waiting, storageClasses=classes)

    assert found.feasible == feasible
