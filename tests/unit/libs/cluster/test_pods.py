from typing import Any

import pytest

from libs.cluster.state import ClusterState
from libs.domain.labels import ZONE
from libs.domain.pod import SharedVolume
from libs.domain.reason import Rule
from tests.unit.libs.cluster.clusters import (
    a_state,
    an_object_of,
    pod_names,
    reasons,
    row_of,
    shape_of,
    snapshot_of,
    taken,
)
from tests.unit.libs.kube.manifests import Document, a_container, a_node, a_pod, an_object

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _apart(**labels: str) -> Document:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
    return {"podAntiAffinity": {REQUIRED: [term]}}


def _claiming(name: str = "data") -> list[Document]:
    return [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]


def test_pods_that_ask_for_the_same_share_a_shape() -> None:
    snapshot = snapshot_of(
        a_pod("a", labels={"unread": "1"}),
        a_pod("b", labels={"unread": "2"}),
        a_pod("c", containers=[a_container("2")]),
    )

    assert shape_of(snapshot, "a") == shape_of(snapshot, "b")
    assert len(snapshot.shapes) == 2


def test_equal_shapes_that_are_written_differently_are_one() -> None:
    snapshot = snapshot_of(
        a_pod("a", containers=[a_container("1")]),
        a_pod("b", containers=[a_container("500m"), a_container("500m")]),
    )

    assert len(snapshot.shapes) == 1


def test_a_shape_keeps_only_labels_that_some_selector_reads() -> None:
    budget = an_object(
        "policy/v1",
        "PodDisruptionBudget",
        "b",
        "default",
        spec={"selector": {"matchLabels": {"tier": "x"}}},
    )
    labels = {"app": "web", "tier": "front", "unread": "1"}

    snapshot = snapshot_of(a_pod("a", labels=labels), a_pod("b", affinity=_apart(app="db")), budget)

    assert shape_of(snapshot, "a").labels == (("app", "web"), ("tier", "front"))


def test_a_new_selector_makes_labels_tell_pods_apart() -> None:
    state = a_state(a_pod("a", labels={"app": "1"}), a_pod("b", labels={"app": "2"}))
    before = taken(state)
    state.upsert(an_object_of(a_pod("c", affinity=_apart(app="1"))))

    after = taken(state)

    assert shape_of(before, "a") == shape_of(before, "b")
    assert shape_of(after, "a") != shape_of(after, "b")


def test_numbers_of_shapes_do_not_depend_on_the_order_of_objects() -> None:
    pods = [
        a_pod(name, containers=[a_container(cpu)]) for name, cpu in zip("abc", "123", strict=True)
    ]

    assert snapshot_of(*pods) == snapshot_of(*reversed(pods))


def test_rows_and_shapes_of_unchanged_pods_are_the_same_objects() -> None:
    state = a_state(a_pod("a"), a_pod("b", containers=[a_container("2")]))
    before = taken(state)
    state.upsert(an_object_of(a_pod("c", containers=[a_container("3")])))

    after = taken(state)

    assert shape_of(after, "a") is shape_of(before, "a")
    assert row_of(after, "a") == row_of(before, "a")


def test_a_pod_that_is_removed_is_gone_with_its_shape() -> None:
    state = a_state(a_pod("a"), a_pod("b", containers=[a_container("2")]))
    state.remove("Pod", "default", "b")

    snapshot = taken(state)

    assert (pod_names(snapshot), len(snapshot.shapes)) == (["a"], 1)


def test_a_pod_on_a_node_that_is_gone_is_set_aside() -> None:
    snapshot = snapshot_of(a_pod("a", nodeName="gone"), a_pod("b"))

    assert pod_names(snapshot) == ["b"]
    assert reasons(snapshot) == {
        "Pod/default/a": ("spec.nodeName", 'node "gone" does not exist'),
    }


@pytest.mark.parametrize(
    ("more", "counts"),
    [
        pytest.param({"status": {"phase": "Succeeded"}}, False, id="ended"),
        pytest.param(
            {"meta": {"deletionTimestamp": "2026-07-01T00:00:00Z"}}, True, id="terminating"
        ),
        pytest.param({"status": {"phase": "Pending"}}, True, id="starting"),
    ],
)
def test_pods_count_on_their_node_until_they_ended(more: Document, counts: bool) -> None:
    snapshot = snapshot_of(a_node("n"), a_pod("a", nodeName="n", **more))

    assert pod_names(snapshot) == (["a"] if counts else [])
    assert reasons(snapshot) == {}


def test_an_illegible_pending_pod_is_set_aside() -> None:
    snapshot = snapshot_of(a_pod("a", containers=[a_container("-1")]), a_pod("b"))

    assert pod_names(snapshot) == ["b"]
    (field, message) = reasons(snapshot)["Pod/default/a"]
    assert (field, message) == ("spec.containers[0].resources.requests.cpu", "'-1' is negative")


def test_a_bound_pod_with_illegible_constraints_weighs_on_its_node_and_stays_there() -> None:
    pod = a_pod("a", nodeName="n", tolerations=[{"key": "a", "operator": "Like"}])

    snapshot = snapshot_of(a_node("n"), pod)

    shape = shape_of(snapshot, "a")
    assert shape.requests.get("cpu") == 500
    assert [term.node_names for term in shape.required_node_terms] == [("n",)]
    assert list(reasons(snapshot)) == ["Pod/default/a"]


def test_a_pod_waits_for_a_claim_that_is_not_there() -> None:
    state = a_state(a_pod("a", volumes=_claiming()))

    before = taken(state)
    state.upsert(
        an_object_of(
            an_object(
                "v1", "PersistentVolumeClaim", "data", "default", spec={"storageClassName": "c"}
            )
        )
    )
    state.upsert(
        an_object_of(
            an_object(
                "storage.k8s.io/v1",
                "StorageClass",
                "c",
                provisioner="p",
                volumeBindingMode="WaitForFirstConsumer",
            )
        )
    )
    after = taken(state)

    assert reasons(before) == {
        "Pod/default/a": (
            "spec.volumes[0].persistentVolumeClaim.claimName",
            'persistentvolumeclaim "default/data" does not exist',
        )
    }
    assert (pod_names(after), reasons(after)) == (["a"], {})
    assert shape_of(after, "a").volume_attach_counts[0].driver == "p"
    assert row_of(after, "a").volume_claims == ("data",)


def _with_a_claim(*pods: Document, modes: tuple[str, ...] = ()) -> ClusterState:
    state = a_state(*pods)
    spec = {"storageClassName": "c", "accessModes": list(modes)}
    claim = an_object("v1", "PersistentVolumeClaim", "data", "default", spec=spec)
    kind = ("storage.k8s.io/v1", "StorageClass", "c")
    late = an_object(*kind, provisioner="p", volumeBindingMode="WaitForFirstConsumer")
    for one in (claim, late):
        state.upsert(an_object_of(one))
    return state


def test_a_claim_is_shared_as_long_as_two_pods_use_it() -> None:
    first, second = (a_pod(name, volumes=_claiming()) for name in ("a", "b"))
    state = _with_a_claim(first, modes=("ReadWriteOncePod",))
    alone = taken(state)

    state.upsert(an_object_of(second))
    both = taken(state)
    state.remove("Pod", "default", "b")

    assert shape_of(alone, "a").shared_volumes == ()
    assert shape_of(both, "a").shared_volumes == (
        SharedVolume(claim="default/data", driver="p", exclusive=True, topology_key=ZONE),
    )
    assert shape_of(taken(state), "a").shared_volumes == ()


def test_a_disk_is_shared_under_its_own_name_as_long_as_it_has_several() -> None:
    disk = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
    bound = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    claim = an_object(
        "v1", "PersistentVolumeClaim", "data", "default", meta=bound, spec={"volumeName": "pv"}
    )
    volume = an_object("v1", "PersistentVolume", "pv", spec=disk)
    state = a_state(a_pod("a", volumes=_claiming()), claim, volume)
    alone = taken(state)

    state.upsert(an_object_of(a_pod("b", volumes=[{"name": "v", **disk}])))
    both = taken(state)
    state.remove("PersistentVolume", "", "pv")

    named = SharedVolume(claim="ebs.csi.aws.com/vol-1", driver="ebs.csi.aws.com")
    assert shape_of(alone, "a").shared_volumes == ()
    assert shape_of(both, "a").shared_volumes == (named,)
    assert shape_of(both, "b").shared_volumes == (named,)
    assert shape_of(taken(state), "b").shared_volumes == ()


def test_a_finished_pod_does_not_share_its_claim() -> None:
    done = a_pod("b", volumes=_claiming(), status={"phase": "Succeeded"})

    snapshot = taken(_with_a_claim(a_pod("a", volumes=_claiming()), done))

    assert shape_of(snapshot, "a").shared_volumes == ()


def test_a_pod_that_runs_and_could_not_be_placed_anew_is_held_where_it_is() -> None:
    hard = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "team", "operator": "Exists"}]}]}
    pods = [
        a_pod("a", nodeName="n", volumes=_claiming()),
        a_pod("b", nodeName="n", volumes=_claiming(), affinity={"nodeAffinity": {REQUIRED: hard}}),
        a_pod("c", nodeName="n"),
    ]
    claim = an_object("v1", "PersistentVolumeClaim", "data", "default", spec={"volumeName": "pv"})

    snapshot = snapshot_of(*pods, a_node("n"), claim)

    assert pod_names(snapshot) == ["a", "b", "c"]
    (plain,), (narrow,) = (shape_of(snapshot, one).required_node_terms for one in ("a", "b"))
    assert (plain.node_names, narrow.node_names) == (("n",), ("n",))
    assert [one.key for one in narrow.requirements] == ["team"]
    assert shape_of(snapshot, "c").required_node_terms == ()


def test_a_claim_that_a_pod_mounts_twice_is_one_volume() -> None:
    twice = [{**one, "name": name} for name in ("v", "w") for one in _claiming()]

    snapshot = taken(_with_a_claim(a_pod("a", volumes=twice)))

    assert [one.count for one in shape_of(snapshot, "a").volume_attach_counts] == [1]


def test_waiting_pods_that_are_left_out_are_known_with_their_reason() -> None:
    state = a_state(
        a_node("n"),
        a_pod("a", volumes=_claiming()),
        a_pod("b", volumes=_claiming()),
        a_pod("c", containers=[a_container("-1")]),
        a_pod("d", resourceClaims=[{"name": "gpu", "resourceClaimName": "x"}]),
        a_pod("e", nodeName="gone"),
        a_pod("f"),
    )
    taken(state)

    found = state.left_out()

    assert [(one.pod_uids, one.reason.existing) for one in found] == [
        (("uid-a", "uid-b"), ((Rule.VOLUME_CLAIM, 1),)),
        (("uid-c",), ((Rule.INVALID_POD, 1),)),
        (("uid-d",), ((Rule.DEVICES, 1),)),
    ]
    assert 'persistentvolumeclaim "default/data" does not exist' in found[0].reason.message


def test_a_running_pod_keeps_its_room_whatever_became_of_its_claims() -> None:
    snapshot = snapshot_of(a_node("n"), a_pod("a", nodeName="n", volumes=_claiming()))

    assert (pod_names(snapshot), reasons(snapshot)) == (["a"], {})


@pytest.mark.parametrize(
    ("documents", "claim", "message"),
    [
        pytest.param([], {"resourceClaimName": "c"}, 'resourceclaim "default/c"', id="claim"),
        pytest.param(
            [],
            {"resourceClaimTemplateName": "t"},
            'resourceclaimtemplate "default/t"',
            id="template",
        ),
        pytest.param(
            [an_object("resource.k8s.io/v1", "ResourceClaim", "c", "default")],
            {"resourceClaimName": "c"},
            "",
            id="there",
        ),
    ],
)
def test_a_pod_waits_for_its_devices(
    documents: list[Document], claim: dict[str, Any], message: str
) -> None:
    snapshot = snapshot_of(a_pod("a", resourceClaims=[{"name": "gpu", **claim}]), *documents)

    if message:
        assert message in reasons(snapshot)["Pod/default/a"][1]
    else:
        assert shape_of(snapshot, "a").device_claims[0].claim == "default/c"


def test_a_pod_belongs_to_its_gang_once_the_group_is_known() -> None:
    pod = a_pod("a", schedulingGroup={"podGroupName": "g"})
    group = an_object(
        "scheduling.k8s.io/v1alpha2", "PodGroup", "g", "default", spec={"minMember": 2}
    )

    alone = snapshot_of(pod)

    assert list(alone.pods.rows()) == []
    assert "waits for it" in reasons(alone)["Pod/default/a"][1]
    assert row_of(snapshot_of(pod, group), "a").gang == "default/g"


def test_shapes_that_are_not_used_any_more_are_forgotten_in_time() -> None:
    state = a_state()
    for number in range(1100):
        state.upsert(an_object_of(a_pod("a", containers=[a_container(f"{number + 1}m")])))
        if number % 100 == 0:
            taken(state)

    snapshot = taken(state)

    assert [shape.requests.get("cpu") for shape in snapshot.shapes.values()] == [1100]
    assert len(state._shapes._by_text) < 10
