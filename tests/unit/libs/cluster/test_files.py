"""Clusters out of files: what is assumed, refused, set aside; replicas of workloads."""

from datetime import UTC, datetime
from typing import Any

import pytest

from libs.cluster.files import LoadedCluster, load
from libs.domain.capacity import NodeClassRef
from libs.domain.errors import InvalidRequest
from tests.unit.libs.cluster.clusters import pod_names, reasons, row_of, taken
from tests.unit.libs.kube.manifests import (
    CLASS,
    Document,
    a_container,
    a_node,
    a_nodeclaim,
    a_nodepool,
    a_pod,
    an_object,
)

KWOK = NodeClassRef(**CLASS)


def _load(*documents: object, source: str = "dump.yaml") -> LoadedCluster:
    return load([(source, one) for one in documents], default_class=KWOK)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        pytest.param("text", "dump.yaml: 'text' is not a Kubernetes object", id="text"),
        pytest.param({"kind": "Pod"}, "dump.yaml: an object: apiVersion: is missing", id="version"),
        pytest.param(
            {"apiVersion": "v1", "metadata": {"name": "a"}},
            'dump.yaml: object "a": kind: is missing',
            id="kind",
        ),
        pytest.param(
            {"apiVersion": "v1", "kind": "PodList", "items": 3},
            "dump.yaml: PodList: items: is not a list",
            id="items",
        ),
        pytest.param(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {}},
            "dump.yaml: Pod number 1: metadata.name: has no name",
            id="name",
        ),
        pytest.param(
            a_pod("a", containers=[{"name": 3}]),
            'dump.yaml: Pod "default/a": spec.containers[0].name: expected `string`, got '
            "`integer`; put it in quotes",
            id="type of a field",
        ),
        pytest.param(
            a_pod("a", containers=[a_container("-1")]),
            'dump.yaml: Pod "default/a": spec.containers[0].resources.requests.cpu: '
            "'-1' is negative",
            id="pod",
        ),
        pytest.param(
            a_node("n", status={"capacity": {"cpu": "x"}}),
            "dump.yaml: Node \"n\": status.capacity.cpu: 'x' is not a quantity such as 500m, 2 or "
            "1.5Gi",
            id="node",
        ),
        pytest.param(
            a_nodepool(limits={"cpu": "-1"}),
            "dump.yaml: NodePool \"default\": spec.limits.cpu: '-1' is negative",
            id="pool",
        ),
        pytest.param(
            a_nodeclaim("c", expireAfter="x"),
            "dump.yaml: NodeClaim \"c\": spec.expireAfter: 'x' is not a duration of hours, minutes "
            "and seconds",
            id="claim",
        ),
        pytest.param(
            an_object(
                "apps/v1",
                "Deployment",
                "web",
                "default",
                spec={"template": {"spec": {"containers": [a_container("-1")]}}},
            ),
            'dump.yaml: Deployment "default/web": spec.template.spec.containers[0].resources.'
            'requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
            id="template of a workload",
        ),
        pytest.param(
            an_object(
                "apps/v1",
                "DaemonSet",
                "d",
                spec={"template": {"spec": {"containers": [a_container("-1")]}}},
            ),
            'dump.yaml: DaemonSet "default/d": '
            "spec.template.spec.containers[0].resources.requests.cpu: '-1' is negative",
            id="template of a DaemonSet",
        ),
    ],
)
def test_bad_input_names_source_object_and_field(document: object, message: str) -> None:
    assert [one.message for one in _load(document).refused] == [message]


def test_two_pods_of_one_uid_are_refused() -> None:
    pods = [a_pod("a", meta={"uid": "u"}), a_pod("b", meta={"uid": "u"})]

    for documents in (pods, pods[::-1]):
        [refused] = _load(*documents).refused
        assert refused.message == (
            'dump.yaml: Pod "default/b": metadata.uid: is also that of dump.yaml: Pod "default/a"'
        )


def test_more_replicas_than_any_cluster_runs_are_refused() -> None:
    with pytest.raises(InvalidRequest, match='Deployment "default/web": spec: 1000000000 pods'):
        _load(_workload("Deployment", replicas=10**9))


def test_timestamps_of_yaml_are_read() -> None:
    pod = a_pod("a", meta={"creationTimestamp": datetime(2026, 7, 1, tzinfo=UTC)})

    assert row_of(taken(_load(pod).state), "a").created_ms == 1_782_864_000_000


def test_a_pod_that_no_scheduler_saw_waits_and_a_gated_one_does_not() -> None:
    found = _load(a_pod("a", status={}), a_pod("b", schedulingGates=[{"name": "g"}], status={}))

    snapshot = taken(found.state)
    assert row_of(snapshot, "a").provisionable
    assert not row_of(snapshot, "b").provisionable


def test_without_a_pool_one_is_assumed_and_said() -> None:
    found = _load(a_pod("a"))

    pool = taken(found.state).nodepools["default"]
    assert pool.template.node_class == KWOK
    assert pool.template.requirements.allows({"kubernetes.io/os": "linux"})
    assert not pool.template.requirements.allows({"kubernetes.io/os": "windows"})
    assert found.notes == (
        'no NodePool in the input: one named "default" for Linux nodes of any type is assumed',
    )
    assert found.node_classes == (KWOK,)


def test_a_pool_whose_class_is_missing_among_those_given_gets_no_catalogue() -> None:
    other = an_object("karpenter.kwok.sh/v1alpha1", CLASS["kind"], "other")

    found = _load(a_nodepool(), other)

    assert found.node_classes == ()
    assert "does not exist" in taken(found.state).nodepools["default"].problems[0]


def test_a_claim_that_is_not_in_the_input_sets_only_its_pod_aside() -> None:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]

    snapshot = taken(_load(a_pod("a", volumes=volumes), a_pod("b")).state)

    assert pod_names(snapshot) == ["b"]
    assert list(reasons(snapshot)) == ["Pod/default/a"]


def _workload(kind: str, name: str = "web", **spec: Any) -> Document:
    version = "batch/v1" if kind == "Job" else "apps/v1"
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [a_container("1")], **spec.pop("pod", {})},
    }
    meta = spec.pop("meta", {})
    status = spec.pop("status", {})
    return an_object(
        version,
        kind,
        name,
        "default",
        meta=meta,
        spec={"template": template, **spec},
        status=status,
    )


def _owned_by(kind: str, name: str) -> Document:
    owner = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "name": name,
        "uid": f"uid-{name}",
        "controller": True,
    }
    return {"ownerReferences": [owner]}


DONE = {"conditions": [{"type": "Complete", "status": "True"}]}


@pytest.mark.parametrize(
    ("workload", "pods"),
    [
        pytest.param(_workload("Deployment", replicas=2), ["web-0", "web-1"], id="Deployment"),
        pytest.param(_workload("Deployment"), ["web-0"], id="one replica by default"),
        pytest.param(_workload("Deployment", replicas=0), [], id="scaled to none"),
        pytest.param(_workload("ReplicaSet", replicas=1), ["web-0"], id="ReplicaSet"),
        pytest.param(
            _workload("StatefulSet", replicas=2, ordinals={"start": 3}),
            ["web-3", "web-4"],
            id="StatefulSet",
        ),
        pytest.param(_workload("Job", parallelism=3), ["web-0", "web-1", "web-2"], id="Job"),
        pytest.param(
            _workload("Job", parallelism=3, completions=5, status={"succeeded": 4}),
            ["web-0"],
            id="a Job with one completion to go",
        ),
        pytest.param(_workload("Job", suspend=True), [], id="a suspended Job"),
        pytest.param(_workload("Job", status=DONE), [], id="a Job that is done"),
    ],
)
def test_a_workload_without_pods_counts_as_its_replicas_pending(
    workload: Document, pods: list[str]
) -> None:
    found = _load(workload, a_nodepool())

    snapshot = taken(found.state)
    assert pod_names(snapshot) == pods
    assert all(row.provisionable for row in snapshot.pods.rows())
    assert len(found.notes) == bool(pods)


@pytest.mark.parametrize(
    ("documents", "pods"),
    [
        pytest.param(
            [
                _workload("StatefulSet", replicas=3),
                a_pod("web-0", meta=_owned_by("StatefulSet", "web")),
            ],
            ["web-0"],
            id="its own pod",
        ),
        pytest.param(
            [
                _workload("Deployment", replicas=3),
                _workload("ReplicaSet", "web-1", replicas=3, meta=_owned_by("Deployment", "web")),
                a_pod("p", meta=_owned_by("ReplicaSet", "web-1")),
            ],
            ["p"],
            id="a pod of its ReplicaSet",
        ),
        pytest.param(
            [
                _workload("Deployment", replicas=3),
                a_pod(
                    "p",
                    labels={"pod-template-hash": "7d4b"},
                    meta=_owned_by("ReplicaSet", "web-7d4b"),
                ),
            ],
            ["p"],
            id="a pod of its ReplicaSet, which is not in the input",
        ),
        pytest.param(
            [
                _workload("Deployment", replicas=1),
                _workload("ReplicaSet", "web-1", replicas=1, meta=_owned_by("Deployment", "web")),
            ],
            ["web-0"],
            id="a ReplicaSet counts through its Deployment",
        ),
        pytest.param(
            [_workload("ReplicaSet", "web-1", replicas=1, meta=_owned_by("Deployment", "web"))],
            ["web-1-0"],
            id="a ReplicaSet whose Deployment is not in the input",
        ),
        pytest.param(
            [_workload("Deployment", replicas=1), a_pod("other")],
            ["other", "web-0"],
            id="a pod of nobody",
        ),
    ],
)
def test_replicas_are_added_only_where_a_workload_has_no_pod(
    documents: list[Document], pods: list[str]
) -> None:
    assert pod_names(taken(_load(*documents).state)) == pods


def test_replicas_of_a_statefulset_have_claims_of_their_own() -> None:
    claim = {"metadata": {"name": "data"}, "spec": {"storageClassName": "c"}}
    storage = an_object(
        "storage.k8s.io/v1",
        "StorageClass",
        "c",
        provisioner="p",
        volumeBindingMode="WaitForFirstConsumer",
    )

    found = _load(_workload("StatefulSet", replicas=2, volumeClaimTemplates=[claim]), storage)

    snapshot = taken(found.state)
    assert [row.volume_claims for row in snapshot.pods.rows()] == [("data-web-0",), ("data-web-1",)]
    assert len(snapshot.shapes) == 1


def test_a_replica_brings_its_ephemeral_claim() -> None:
    volume = {
        "name": "v",
        "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "c"}}},
    }
    storage = an_object(
        "storage.k8s.io/v1",
        "StorageClass",
        "c",
        provisioner="p",
        volumeBindingMode="WaitForFirstConsumer",
    )

    found = _load(_workload("Deployment", pod={"volumes": [volume]}), storage)

    assert pod_names(taken(found.state)) == ["web-0"]


def test_replicas_have_the_classes_that_admission_would_give_them() -> None:
    runtime = an_object("node.k8s.io/v1", "RuntimeClass", "vm", overhead={"podFixed": {"cpu": "2"}})
    workload = _workload("Deployment", pod={"runtimeClassName": "vm"})

    snapshot = taken(_load(workload, runtime).state)

    assert [shape.requests.get("cpu") for shape in snapshot.shapes.values()] == [3000]


def test_the_order_of_documents_does_not_matter() -> None:
    documents = [a_pod("a"), a_node("n"), _workload("Deployment", replicas=2), a_nodepool()]

    assert taken(_load(*documents).state) == taken(_load(*reversed(documents)).state)


def test_workloads_together_have_no_more_pods_than_a_cluster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("libs.cluster.replicas.MOST_PODS", 5)
    one, other = (_workload("Deployment", name, replicas=3) for name in ("web", "zeb"))

    with pytest.raises(InvalidRequest, match=r'"default/zeb": spec: 3 pods .* those before it'):
        _load(one, other)


def test_a_waiting_pod_has_what_its_runtime_class_adds() -> None:
    runtime = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
        "overhead": {"podFixed": {"cpu": "250m"}},
        "scheduling": {
            "nodeSelector": {"kata": "y"},
            "tolerations": [{"key": "kata", "operator": "Exists"}],
        },
    }
    own = [{"key": "own", "operator": "Exists"}]

    loaded = _load(runtime, a_pod("a", runtimeClassName="kata", tolerations=own), a_nodepool())

    [pod] = [document for kind, document in loaded.documents if kind == "Pod"]
    assert pod["spec"]["nodeSelector"] == {"kata": "y"}
    assert [one["key"] for one in pod["spec"]["tolerations"]] == ["own", "kata"]
    [shape] = taken(loaded.state).shapes.values()
    assert str(shape.node_selector) == "kata In [y]"
    assert sorted(one.key for one in shape.tolerations) == ["kata", "own"]
    assert shape.requests.get("cpu") == 750
