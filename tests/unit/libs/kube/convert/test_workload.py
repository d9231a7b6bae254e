from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.domain.resources import Resources
from libs.kube.convert.pod import raw_shape
from libs.kube.convert.template import Admission, daemon_shape, pod_of
from libs.kube.convert.workload import (
    buffer_replicas,
    gang,
    namespace_labels,
    pod_disruption_budget,
)
from libs.kube.objects.decoding import from_document
from libs.kube.objects.karpenter import CapacityBufferSpec
from libs.kube.objects.metadata import ObjectMeta
from libs.kube.objects.pod import PodTemplateSpec
from libs.kube.objects.policy import (
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    RuntimeClass,
)
from libs.kube.objects.workload import DaemonSet
from tests.unit.libs.kube.manifests import a_container, metadata, pod

NO_CLASSES = Admission(runtimes={}, priorities={})
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@pytest.mark.parametrize(
    ("spec", "never"),
    [
        pytest.param({"maxUnavailable": 0}, True, id="none may go"),
        pytest.param({"maxUnavailable": "0%"}, True, id="0 percent may go"),
        pytest.param({"minAvailable": "100%"}, True, id="all must stay"),
        pytest.param({"minAvailable": 1}, False, id="one must stay"),
    ],
)
def test_a_budget_that_can_never_allow_an_eviction(spec: dict[str, Any], never: bool) -> None:
    document = {"metadata": metadata("b", "default"), "spec": spec}

    found = pod_disruption_budget(from_document(document, PodDisruptionBudget))

    assert found.never_satisfiable is never


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        pytest.param({"minAvailable": "foo"}, "spec.minAvailable", id="a word"),
        pytest.param({"minAvailable": "5"}, "spec.minAvailable", id="a number as text"),
        pytest.param({"minAvailable": "101%"}, "spec.minAvailable", id="more than all"),
        pytest.param({"maxUnavailable": -1}, "spec.maxUnavailable", id="negative"),
        pytest.param({"minAvailable": 1, "maxUnavailable": 1}, "spec", id="both"),
    ],
)
def test_a_budget_that_kubernetes_refuses_is_named_by_its_field(
    spec: dict[str, Any], field: str
) -> None:
    document = {"metadata": metadata("b", "default"), "spec": spec}

    with pytest.raises(InvalidRequest) as refused:
        pod_disruption_budget(from_document(document, PodDisruptionBudget))

    assert refused.value.field == field


@pytest.mark.parametrize(
    ("observed", "allowed"),
    [pytest.param(2, 3, id="up to date"), pytest.param(1, 0, id="lagging behind its spec")],
)
def test_a_budget_allows_what_its_controller_computed(observed: int, allowed: int) -> None:
    document = {
        "metadata": metadata("b", "default", generation=2),
        "status": {"disruptionsAllowed": 3, "observedGeneration": observed},
    }

    found = pod_disruption_budget(from_document(document, PodDisruptionBudget))

    assert found.disruptions_allowed == allowed


@pytest.mark.parametrize(
    ("spec", "members"),
    [
        pytest.param({"schedulingPolicy": {"gang": {"minCount": 4}}}, 4, id="Kubernetes"),
        pytest.param({"minMember": 3}, 3, id="scheduler plug-ins"),
        pytest.param({"schedulingPolicy": {"basic": {}}}, None, id="no gang"),
    ],
)
def test_gangs(spec: dict[str, Any], members: int | None) -> None:
    found = gang(from_document({"metadata": metadata("g", "default"), "spec": spec}, PodGroup))

    assert (found and found.min_members) == members


def test_a_namespace_always_has_its_name_as_a_label() -> None:
    assert namespace_labels("a", {}) == {"kubernetes.io/metadata.name": "a"}


@pytest.mark.parametrize(
    ("spec", "scalable", "replicas"),
    [
        pytest.param({"replicas": 3}, None, 3, id="replicas"),
        pytest.param({"percentage": 10}, 25, 3, id="percentage, rounded up"),
        pytest.param({"percentage": 1}, 2, 1, id="at least one"),
        pytest.param({"percentage": 50}, 0, 0, id="of nothing"),
        pytest.param({"replicas": 2, "percentage": 50}, 10, 5, id="the larger"),
        pytest.param({"replicas": 9, "limits": {"cpu": "2"}}, None, 4, id="within limits"),
        pytest.param({"limits": {"cpu": "2", "memory": "1Gi"}}, None, 1, id="limits alone"),
        pytest.param({"replicas": 2, "limits": {"x.io/y": "1"}}, None, 2, id="unrelated limit"),
        pytest.param({}, None, 0, id="nothing said"),
    ],
)
def test_how_many_virtual_pods_a_buffer_has(
    spec: dict[str, Any], scalable: int | None, replicas: int
) -> None:
    requests = Resources({"cpu": 500, "memory": 2**30})

    found = buffer_replicas(from_document(spec, CapacityBufferSpec), scalable, requests)

    assert found == replicas


def _template(**spec: Any) -> PodTemplateSpec:
    given = {"containers": [a_container("1")], **spec}
    return from_document({"metadata": {"labels": {"app": "a"}}, "spec": given}, PodTemplateSpec)


def test_a_pod_from_a_template_passes_admission() -> None:
    runtime = from_document(
        {
            "overhead": {"podFixed": {"cpu": "250m"}},
            "scheduling": {"nodeSelector": {"vm": "yes"}, "tolerations": [{"operator": "Exists"}]},
        },
        RuntimeClass,
    )
    admission = Admission(
        runtimes={("", "vm"): runtime}, priorities={("", "high"): PriorityClass(value=7)}
    )
    template = _template(runtimeClassName="vm", priorityClassName="high", nodeName="ignored")

    found = pod_of(template, ObjectMeta(name="a-0", namespace="default"), admission)

    shape = raw_shape(found)
    assert shape.requests.get("cpu") == 1250
    assert shape.node_selector.allows({"vm": "yes"})
    assert len(shape.tolerations) == 1
    assert (found.spec.priority, found.spec.node_name) == (7, "")
    assert found.metadata.labels == {"app": "a"}


def _daemonset(**spec: Any) -> DaemonSet:
    template = {"spec": {"containers": [a_container("1")], **spec}}
    return from_document(
        {"metadata": metadata("d", "default"), "spec": {"template": template}}, DaemonSet
    )


def _affinity(terms: list[dict[str, Any]]) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}}


def test_a_daemonset_without_pods_tolerates_what_its_controller_adds() -> None:
    keys = {one.key for one in daemon_shape(_daemonset(), None, NO_CLASSES).tolerations}

    assert "node.kubernetes.io/unschedulable" in keys
    assert "node.kubernetes.io/network-unavailable" not in keys


def test_a_daemonset_on_the_host_network_waits_for_no_network() -> None:
    found = daemon_shape(_daemonset(hostNetwork=True), None, NO_CLASSES)

    assert "node.kubernetes.io/network-unavailable" in {one.key for one in found.tolerations}


def test_limits_stand_in_for_requests_that_a_daemonset_does_not_make() -> None:
    resources = {"requests": {"cpu": "750m"}, "limits": {"cpu": "1", "memory": "1000Mi"}}
    daemonset = _daemonset(containers=[{"name": "c", "resources": resources}])

    requests = daemon_shape(daemonset, None, NO_CLASSES).requests

    assert (requests.get("cpu"), requests.get("memory")) == (750, 1000 * 2**20)


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        pytest.param([], 0, id="none"),
        pytest.param([{"matchExpressions": [{"key": "a", "operator": "Exists"}]}], 1, id="its own"),
    ],
)
def test_the_pin_of_a_live_pod_gives_way_to_the_templates_affinity(
    terms: list[dict[str, Any]], expected: int
) -> None:
    pin = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
    live = raw_shape(pod(containers=[a_container("2")], nodeName="n", **_affinity([pin])))
    daemonset = _daemonset(**(_affinity(terms) if terms else {}))

    found = daemon_shape(daemonset, live, NO_CLASSES)

    assert found.requests.get("cpu") == 2000
    assert [one.node_names for one in found.required_node_terms] == [()] * expected
