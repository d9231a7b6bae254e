from typing import Any

import pytest

from libs.cluster.state import StateOptions
from libs.cluster.workloads import LOWEST_PRIORITY
from libs.domain.capacity import Catalogue, NodeClassRef
from tests.unit.libs.cluster.clusters import (
    NOW,
    a_state,
    an_object_of,
    reasons,
    row_of,
    snapshot_of,
    taken,
)
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

BUFFERS = StateOptions(capacity_buffers=True)
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _daemonset(**spec: Any) -> Document:
    template = {
        "metadata": {"labels": {"app": "agent"}},
        "spec": {"containers": [a_container("100m")], **spec},
    }
    return an_object("apps/v1", "DaemonSet", "agent", "default", spec={"template": template})


def _daemon_pod(name: str, cpu: str, created: str, **more: Any) -> Document:
    owner = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "name": "agent",
        "uid": "uid-agent",
        "controller": True,
    }
    return a_pod(
        name,
        nodeName="n",
        containers=[a_container(cpu)],
        meta={"ownerReferences": [owner], "creationTimestamp": created, **more},
    )


def test_a_daemonset_has_the_shape_of_its_newest_pod() -> None:
    snapshot = snapshot_of(
        a_node("n"),
        _daemonset(),
        _daemon_pod("old", "1", "2026-01-01T00:00:00Z"),
        _daemon_pod("new", "2", "2026-01-02T00:00:00Z"),
        _daemon_pod("going", "3", "2026-01-03T00:00:00Z", deletionTimestamp="2026-01-04T00:00:00Z"),
    )

    shape = snapshot.shapes[snapshot.daemonsets["default/agent"].shape]
    assert shape.requests.get("cpu") == 2000
    assert snapshot.daemonsets["default/agent"].uid == "uid-agent"


def test_a_daemonset_without_pods_has_the_shape_of_its_template() -> None:
    snapshot = snapshot_of(_daemonset())

    shape = snapshot.shapes[snapshot.daemonsets["default/agent"].shape]
    assert shape.requests.get("cpu") == 100


def test_a_broken_daemonset_is_set_aside() -> None:
    snapshot = snapshot_of(_daemonset(containers=[a_container("-1")]))

    assert dict(snapshot.daemonsets) == {}
    assert reasons(snapshot)["DaemonSet/default/agent"][0] == (
        "spec.template.spec.containers[0].resources.requests.cpu"
    )


def test_selectors_of_daemonsets_are_read_too() -> None:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}
    daemonset = _daemonset(affinity={"podAntiAffinity": {REQUIRED: [term]}})

    snapshot = snapshot_of(daemonset, a_pod("a", labels={"app": "web", "unread": "1"}))

    assert snapshot.shapes[row_of(snapshot, "a").shape].labels == (("app", "web"),)


def _buffer(**spec: Any) -> Document:
    return an_object("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "room", "default", spec=spec)


def _template() -> Document:
    template = {
        "metadata": {"labels": {"app": "spread-buffer"}},
        "spec": {
            "containers": [a_container("1")],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "absent"}}],
            "affinity": {
                "podAntiAffinity": {
                    REQUIRED: [
                        {
                            "topologyKey": "kubernetes.io/hostname",
                            "labelSelector": {"matchLabels": {"app": "spread-buffer"}},
                        }
                    ]
                }
            },
        },
    }
    return an_object("v1", "PodTemplate", "t", "default", template=template)


def test_a_buffer_becomes_virtual_pods_with_the_templates_labels() -> None:
    snapshot = snapshot_of(
        _template(), _buffer(podTemplateRef={"name": "t"}, replicas=2), options=BUFFERS
    )

    rows = list(snapshot.pods.rows())
    assert [row.uid for row in rows] == ["uid-room-1", "uid-room-2"]
    assert [row.name for row in rows] == ["capacity-buffer-room-1", "capacity-buffer-room-2"]
    assert {(row.priority, row.provisionable) for row in rows} == {(LOWEST_PRIORITY, True)}
    buffer = snapshot.buffers["default/room"]
    assert (buffer.replicas, buffer.problem) == (2, "")
    shape = snapshot.shapes[buffer.shape]
    assert (shape.labels, shape.volumes) == ((("app", "spread-buffer"),), ())


def test_a_buffer_of_a_workload_follows_its_replicas() -> None:
    template = {"spec": {"containers": [a_container("1")]}}
    deployment = an_object(
        "apps/v1", "Deployment", "web", "default", spec={"replicas": 25, "template": template}
    )
    reference = {"apiGroup": "apps", "kind": "Deployment", "name": "web"}

    snapshot = snapshot_of(
        deployment, _buffer(scalableRef=reference, percentage=10), options=BUFFERS
    )

    assert snapshot.buffers["default/room"].replicas == 3


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            {"podTemplateRef": {"name": "t"}, "replicas": 1},
            'podtemplate "default/t"',
            id="no template",
        ),
        pytest.param(
            {"scalableRef": {"kind": "Deployment", "name": "d"}},
            'deployment "default/d"',
            id="no workload",
        ),
        pytest.param(
            {"scalableRef": {"kind": "Job", "name": "d"}}, "'Job' is not one of", id="kind"
        ),
        pytest.param({}, "neither", id="nothing"),
        pytest.param(
            {"podTemplateRef": {"name": "t"}, "scalableRef": {"kind": "Deployment", "name": "d"}},
            "exclude each other",
            id="both",
        ),
        pytest.param(
            {"podTemplateRef": {"name": "t"}, "percentage": 10},
            "give replicas or limits",
            id="a share of a template",
        ),
    ],
)
def test_a_buffer_that_cannot_be_resolved_says_why(spec: Document, message: str) -> None:
    snapshot = snapshot_of(_buffer(**spec), options=BUFFERS)

    assert message in snapshot.buffers["default/room"].problem
    assert len(snapshot.pods) == 0


def test_a_buffer_in_a_namespace_of_its_own_has_that_namespace_told() -> None:
    term = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": {}}
    spec = {"containers": [a_container("1")], "affinity": {"podAffinity": {REQUIRED: [term]}}}
    template = an_object("v1", "PodTemplate", "t", "default", template={"spec": spec})

    snapshot = snapshot_of(
        template, _buffer(podTemplateRef={"name": "t"}, replicas=1), options=BUFFERS
    )

    assert list(snapshot.namespaces) == ["default"]


def test_buffers_are_off_unless_asked_for() -> None:
    snapshot = snapshot_of(_template(), _buffer(podTemplateRef={"name": "t"}, replicas=2))

    assert (dict(snapshot.buffers), len(snapshot.pods)) == ({}, 0)


def test_namespaces_keep_the_labels_that_some_selector_reads() -> None:
    selector = {"matchLabels": {"team": "a"}}
    term = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": selector}
    pod = a_pod("a", affinity={"podAffinity": {REQUIRED: [term]}})
    labels = {"team": "a", "unread": "1"}

    snapshot = snapshot_of(pod, an_object("v1", "Namespace", "other", meta={"labels": labels}))

    assert {name: one.labels for name, one in snapshot.namespaces.items()} == {
        "default": (),
        "other": (("team", "a"),),
    }


def test_the_name_of_a_namespace_is_a_label_that_can_be_selected() -> None:
    selector = {"matchLabels": {"kubernetes.io/metadata.name": "default"}}
    term = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": selector}

    snapshot = snapshot_of(a_pod("a", affinity={"podAffinity": {REQUIRED: [term]}}))

    assert snapshot.namespaces["default"].labels == (("kubernetes.io/metadata.name", "default"),)


@pytest.mark.parametrize(
    ("document", "key"),
    [
        pytest.param(
            an_object("karpenter.sh/v1alpha1", "NodeOverlay", "o", spec={"price": "x"}),
            "NodeOverlay//o",
            id="overlay",
        ),
        pytest.param(
            an_object(
                "policy/v1",
                "PodDisruptionBudget",
                "b",
                "default",
                spec={"selector": {"matchLabels": {"a b": "c"}}},
            ),
            "PodDisruptionBudget/default/b",
            id="budget",
        ),
        pytest.param(
            an_object(
                "autoscaling.x-k8s.io/v1",
                "ProvisioningRequest",
                "r",
                "default",
                spec={
                    "provisioningClassName": "check-capacity.autoscaling.x-k8s.io",
                    "podSets": [{"count": 0, "podTemplateRef": {"name": "t"}}],
                },
            ),
            "ProvisioningRequest/default/r",
            id="request for room",
        ),
        pytest.param(a_nodepool("p", template={"nodeClassRef": {}}), "NodePool//p", id="pool"),
        pytest.param(
            an_object(
                "resource.k8s.io/v1",
                "ResourceSlice",
                "s",
                spec={"devices": [{"name": "d", "capacity": {"m": {"value": "x"}}}]},
            ),
            "ResourceSlice//s",
            id="slice",
        ),
    ],
)
def test_one_bad_thing_stops_only_itself(document: Document, key: str) -> None:
    snapshot = snapshot_of(document, a_pod("a"), a_node("n"), a_nodepool("good"))

    assert list(reasons(snapshot)) == [key]
    assert (len(snapshot.pods), list(snapshot.nodes), list(snapshot.nodepools)) == (
        1,
        ["n"],
        ["good"],
    )


def test_devices_and_their_classes_are_carried() -> None:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    allocation = {"devices": {"results": [{"driver": "d", "pool": "p", "device": "gpu-0"}]}}

    snapshot = snapshot_of(
        an_object(
            "resource.k8s.io/v1",
            "ResourceSlice",
            "s",
            spec={"driver": "d", "pool": pool, "nodeName": "n", "devices": [{"name": "gpu-0"}]},
        ),
        an_object(
            "resource.k8s.io/v1", "ResourceClaim", "c", "default", status={"allocation": allocation}
        ),
        an_object("resource.k8s.io/v1", "DeviceClass", "gpu"),
    )

    assert snapshot.device_pools["d/p"].allocated == ("gpu-0",)
    assert list(snapshot.device_classes) == ["gpu"]


def _node_class(status: str) -> Document:
    conditions = [{"type": "Ready", "status": status}]
    return an_object(
        "karpenter.kwok.sh/v1alpha1", CLASS["kind"], "default", status={"conditions": conditions}
    )


def _catalogue(**more: Any) -> Catalogue:
    return Catalogue(node_class=NodeClassRef(**CLASS), etag="1", observed_at=NOW, **more)


@pytest.mark.parametrize(
    ("documents", "catalogues", "problem"),
    [
        pytest.param([_node_class("True")], [], "", id="ready class"),
        pytest.param([_node_class("False")], [], "is not ready", id="class not ready"),
        pytest.param([], [], "does not exist", id="no class"),
        pytest.param([], [_catalogue()], "", id="a catalogue proves its class"),
    ],
)
def test_a_pool_is_ready_as_far_as_its_class_is(
    documents: list[Document], catalogues: list[Catalogue], problem: str
) -> None:
    state = a_state(a_nodepool(), *documents)
    for one in catalogues:
        state.set_catalogue(one)

    pool = taken(state).nodepools["default"]

    assert pool.ready is not bool(problem)
    assert not problem or problem in pool.problems[0]


def test_a_class_that_becomes_ready_makes_its_pool_ready() -> None:
    state = a_state(a_nodepool(), _node_class("False"))
    before = taken(state)
    state.upsert(an_object_of(_node_class("True")))
    after = taken(state)
    state.remove("KWOKNodeClass", "", "default")

    assert not before.nodepools["default"].ready
    assert after.nodepools["default"].ready
    assert not taken(state).nodepools["default"].ready


def test_label_domains_that_a_provider_keeps_make_a_pool_invalid() -> None:
    key = "karpenter.kwok.sh/instance-size"
    pool = a_nodepool(template={"requirements": [{"key": key, "operator": "Exists"}]})
    state = a_state(pool, _node_class("True"))
    state.restrict_domains("karpenter.kwok.sh", ["karpenter.kwok.sh"])
    before = taken(state)
    state.set_catalogue(_catalogue(well_known_keys=(key,)))

    assert "restricted" in before.nodepools["default"].problems[0]
    assert taken(state).nodepools["default"].ready


def test_classes_to_ask_providers_for_are_those_of_pools_and_claims() -> None:
    other = {"group": "g", "kind": "K", "name": "other"}

    state = a_state(a_nodepool(), a_nodeclaim(nodeClassRef=other))

    assert [one.key for one in state.node_classes()] == [
        "g/K/other",
        "karpenter.kwok.sh/KWOKNodeClass/default",
    ]


def test_a_catalogue_that_is_removed_is_gone() -> None:
    state = a_state()
    state.set_catalogue(_catalogue())
    state.remove_catalogue(_catalogue().key)

    assert dict(taken(state).catalogues) == {}


def test_a_whole_list_forgets_what_is_not_in_it() -> None:
    state = a_state(a_node("a"), a_node("b"), a_pod("p"), a_pod("q"))

    for kind, document in (("Node", a_node("b")), ("Pod", a_pod("q"))):
        state.replace(kind, [an_object_of(document)])

    snapshot = taken(state)
    assert (list(snapshot.nodes), list(snapshot.pods.names)) == (["b"], ["q"])
