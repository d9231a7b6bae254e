"""Objects as they stand in files: what is wrong, what is unknown, what is only not written yet."""

from typing import Any

import pytest

from libs.apiserver.field_errors import FieldError
from libs.apiserver.objects import builtin_type, judge, judge_custom, judge_metadata
from libs.apiserver.types import table
from libs.kube.crd_files import known_crds

Document = dict[str, Any]
_POD = "core/v1.Pod"


def _pod(**spec: Any) -> Document:
    return {"spec": {"containers": [{"name": "main"}], **spec}}


def _container(**fields: Any) -> Document:
    return _pod(containers=[{"name": "main", **fields}])


def _resources(requests: Document, limits: Document) -> Document:
    return _container(resources={"requests": requests, "limits": limits})


def _near(**term: Any) -> Document:
    preferred = {"weight": 1, "podAffinityTerm": {"topologyKey": "zone"}, **term}
    key = "preferredDuringSchedulingIgnoredDuringExecution"
    return _pod(affinity={"podAffinity": {key: [preferred]}})


def _spread(**fields: Any) -> Document:
    one = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", **fields}
    return _pod(topologySpreadConstraints=[one])


def _template(**spec: Any) -> Document:
    return {"spec": {"template": _pod(**spec)}}


def _shown(errors: tuple[FieldError, ...]) -> list[str]:
    return [f"{one.field}: {one.message}" for one in errors]


@pytest.mark.parametrize(
    ("type_", "document", "start"),
    [
        pytest.param(
            _POD,
            _resources({"example.com/gpu": "1500m"}, {"example.com/gpu": "1500m"}),
            "spec.containers[0].resources.limits[example.com/gpu]: Invalid value",
            id="half a device",
        ),
        pytest.param(
            _POD,
            _resources({"cpu": "2"}, {"cpu": "1"}),
            "spec.containers[0].resources.requests: Invalid value",
            id="a request above its limit",
        ),
        pytest.param(
            _POD,
            _resources({"memory": "-1"}, {}),
            "spec.containers[0].resources.requests[memory]: Invalid value",
            id="a negative amount",
        ),
        pytest.param(
            _POD,
            _spread(minDomains=2),
            "spec.topologySpreadConstraints[0].minDomains: Invalid value",
            id="minDomains of a wish",
        ),
        pytest.param(
            _POD,
            _spread(topologyKey=""),
            "spec.topologySpreadConstraints[0].topologyKey: Required value",
            id="no topology key",
        ),
        pytest.param(
            _POD,
            _spread(nodeTaintsPolicy="Maybe"),
            "spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value",
            id="policy of a spread",
        ),
        pytest.param(
            _POD,
            _near(weight=101),
            "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight",
            id="a weight above 100",
        ),
        pytest.param(
            _POD,
            _pod(tolerations=[{"key": "a", "operator": "Exists", "value": "b"}]),
            "spec.tolerations[0].operator: Invalid value",
            id="a value that is not compared",
        ),
        pytest.param(
            _POD,
            _pod(tolerations=[{"key": "a", "operator": "Maybe"}]),
            "spec.tolerations[0].operator: Unsupported value",
            id="operator of a toleration",
        ),
        pytest.param(
            _POD,
            _pod(tolerations=[{"key": "a", "effect": "Maybe"}]),
            "spec.tolerations[0].effect: Unsupported value",
            id="effect of a toleration",
        ),
        pytest.param(
            _POD,
            _pod(initContainers=[{"name": "first", "restartPolicy": "Maybe"}]),
            "spec.initContainers[0].restartPolicy: Unsupported value",
            id="restart policy of an init container",
        ),
        pytest.param(
            _POD,
            _pod(restartPolicy="Maybe"),
            "spec.restartPolicy: Unsupported value",
            id="restart policy",
        ),
        pytest.param(
            _POD,
            _pod(preemptionPolicy="Maybe"),
            "spec.preemptionPolicy: Unsupported value",
            id="preemption policy",
        ),
        pytest.param(
            _POD,
            _container(ports=[{"containerPort": 1, "hostPort": 80}] * 2),
            "spec.containers[0].ports[1].hostPort: Duplicate value",
            id="a host port twice",
        ),
        pytest.param(
            _POD,
            _pod(nodeSelector={"a": "b c"}),
            "spec.nodeSelector: Invalid value",
            id="a value that no label has",
        ),
        pytest.param(
            _POD,
            _container(image=3),
            "spec.containers.image: expected string, got number",
            id="a wrong type",
        ),
        pytest.param(
            "core/v1.Node",
            {"spec": {"taints": [{"key": "a", "effect": "Maybe"}]}},
            "spec.taints[0].effect: Unsupported value",
            id="effect of a taint",
        ),
        pytest.param(_POD, {"spec": {}}, "spec.containers: Required value", id="containers"),
        pytest.param(
            "core/v1.PersistentVolumeClaim",
            {"spec": {}},
            "spec.resources[storage]: Required value",
            id="size of a claim",
        ),
        pytest.param(
            "storage/v1.VolumeAttachment",
            {"spec": {"attacher": "csi.example.com", "nodeName": "n", "source": {}}},
            "spec.source: Required value",
            id="source of an attachment",
        ),
        pytest.param(
            "core/v1.PersistentVolumeClaim",
            {"spec": {"accessModes": ["Maybe"]}},
            "spec.accessModes: Unsupported value",
            id="access mode",
        ),
        pytest.param(
            "core/v1.PersistentVolumeClaim",
            {"spec": {"volumeMode": "Maybe", "resources": {"requests": {"storage": "1Gi"}}}},
            "spec.volumeMode: Unsupported value",
            id="volume mode",
        ),
        pytest.param(
            "core/v1.PersistentVolume",
            {"spec": {"persistentVolumeReclaimPolicy": "Maybe"}},
            "spec.persistentVolumeReclaimPolicy: Unsupported value",
            id="reclaim policy",
        ),
        pytest.param(
            "core/v1.PersistentVolume",
            {"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": []}}}},
            "spec.nodeAffinity.required.nodeSelectorTerms: Required value",
            id="a volume that is nowhere",
        ),
        pytest.param(
            "storage/v1.StorageClass",
            {"provisioner": "x", "volumeBindingMode": "Maybe"},
            "volumeBindingMode: Unsupported value",
            id="binding mode",
        ),
        pytest.param(
            "resource/v1.ResourceClaim",
            {
                "spec": {
                    "devices": {"requests": [{"name": "r", "exactly": {"allocationMode": "Maybe"}}]}
                }
            },
            "spec.devices.requests[0].exactly.allocationMode: Unsupported value",
            id="allocation mode",
        ),
        pytest.param(
            "apps/v1.Deployment",
            _template(restartPolicy="Never"),
            "spec.template.spec.restartPolicy: Unsupported value",
            id="a deployment of pods that end",
        ),
        pytest.param(
            "batch/v1.Job",
            {"spec": {"parallelism": -1}},
            "spec.parallelism: Invalid value",
            id="fewer pods than none",
        ),
        pytest.param(
            "scheduling/v1.PriorityClass",
            {"value": 2_000_000_000},
            "value: Forbidden",
            id="a priority of the system's own",
        ),
    ],
)
def test_what_an_api_server_refuses_is_named_by_its_field(
    type_: str, document: Document, start: str
) -> None:
    shown = _shown(judge(type_, document).errors)

    assert shown
    assert shown[0].startswith(start)


@pytest.mark.parametrize(
    ("type_", "document"),
    [
        pytest.param(_POD, _pod(containers=[{}, {}], initContainers=[{}]), id="unnamed containers"),
        pytest.param(
            _POD, _resources({"example.com/gpu": "1"}, {}), id="a device without its limit"
        ),
        pytest.param(
            _POD,
            _pod(tolerations=[{"key": "a", "operator": "Lt", "value": "3"}]),
            id="what a gate opens",
        ),
        pytest.param(
            "apps/v1.Deployment",
            {"spec": {"selector": {"matchLabels": {"a": "b"}}, **_template()["spec"]}},
            id="a template without labels",
        ),
        pytest.param("batch/v1.Job", _template(), id="a job without a restart policy"),
        pytest.param(
            "core/v1.PersistentVolumeClaim",
            {"spec": {"resources": {"requests": {"storage": "1Gi"}}}},
            id="a claim without access modes",
        ),
        pytest.param("core/v1.Node", {"status": {"allocatable": {"cpu": "4"}}}, id="node"),
    ],
)
def test_what_is_only_not_written_yet_is_no_fault(type_: str, document: Document) -> None:
    assert _shown(judge(type_, document).errors) == []


_CHOOSING = [
    (name, entry)
    for name, struct in table.structs().items()
    for entry in struct.values()
    if entry.choices
    and name in ("core/v1.Toleration", "core/v1.PodSpec", "resource/v1.DeviceTaint")
]


def test_closed_sets_are_in_the_table() -> None:
    assert {f"{name}.{entry.name}" for name, entry in _CHOOSING} == {
        "core/v1.PodSpec.dnsPolicy",
        "core/v1.PodSpec.preemptionPolicy",
        "core/v1.PodSpec.restartPolicy",
        "core/v1.Toleration.effect",
        "core/v1.Toleration.operator",
        "resource/v1.DeviceTaint.effect",
    }


@pytest.mark.parametrize(
    ("document", "path", "meant"),
    [
        pytest.param(_pod(nodeSelecter={}), "spec.nodeSelecter", "nodeSelector", id="typing"),
        pytest.param(_container(Resources={}), "spec.containers[0].Resources", "resources", id="A"),
        pytest.param(_pod(zzz=1), "spec.zzz", "", id="like nothing"),
    ],
)
def test_unknown_fields_are_named_with_what_may_be_meant(
    document: Document, path: str, meant: str
) -> None:
    assert [(one.path, one.meant) for one in judge(_POD, document).unknown] == [(path, meant)]


def _pool(template: Document, **spec: Any) -> Document:
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "spec": {"template": {"spec": template}, **spec},
    }


@pytest.mark.parametrize(
    ("document", "start"),
    [
        pytest.param(_pool({}, weight=101), "spec.weight: Invalid value", id="schema"),
        pytest.param(
            _pool({"requirements": [{"key": "a", "operator": "In"}] * 101}),
            "spec.template.spec.requirements: Too many",
            id="more than 100",
        ),
        pytest.param(
            _pool({"requirements": [{"key": "a", "operator": "In", "values": []}]}),
            "spec.template.spec.requirements: Invalid value",
            id="rule",
        ),
        pytest.param(
            _pool({"taints": [{"key": "a", "effect": "Maybe"}]}),
            "spec.template.spec.taints[0].effect: Unsupported value",
            id="closed set",
        ),
    ],
)
def test_custom_objects_are_judged_by_their_crd(document: Document, start: str) -> None:
    shown = _shown(
        judge_custom(known_crds()["karpenter.sh", "NodePool"].versions["v1"], document).errors
    )

    assert len(shown) == 1
    assert shown[0].startswith(start)


def test_a_pool_may_leave_out_what_it_does_not_need_here() -> None:
    version = known_crds()["karpenter.sh", "NodePool"].versions["v1"]
    for document in (
        _pool({}),
        {**_pool({}), "spec": {}},
        _pool({"taints": [{"key": "a", "value": "", "effect": "NoSchedule"}]}),
    ):
        assert _shown(judge_custom(version, document).errors) == []


def test_unknown_fields_of_custom_objects_are_named_too() -> None:
    version = known_crds()["karpenter.sh", "NodePool"].versions["v1"]
    document = _pool({"requirments": []}, weigth=3)

    found = judge_custom(version, document).unknown

    assert [(one.path, one.meant) for one in found] == [
        ("spec.template.spec.requirments", "requirements"),
        ("spec.weigth", "weight"),
    ]


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        pytest.param({"name": "A b"}, "metadata.name", id="name"),
        pytest.param({"name": "a", "labels": {"a": "b c"}}, "metadata.labels", id="label"),
        pytest.param({"name": "a", "annotations": {"b c": ""}}, "metadata.annotations", id="key"),
    ],
)
def test_names_and_labels_have_their_form(metadata: Document, field: str) -> None:
    assert [one.field for one in judge_metadata(metadata, "Pod").errors] == [field]


@pytest.mark.parametrize(
    ("api_version", "kind", "type_"),
    [
        ("v1", "Pod", "core/v1.Pod"),
        ("apps/v1", "Deployment", "apps/v1.Deployment"),
        ("resource.k8s.io/v1", "ResourceClaim", "resource/v1.ResourceClaim"),
        ("policy/v1beta1", "PodDisruptionBudget", ""),
        ("autoscaling.x-k8s.io/v1", "HorizontalPodAutoscaler", ""),
        ("example.com/v1", "Pod", ""),
    ],
)
def test_built_in_types_are_known_by_group_version_and_kind(
    api_version: str, kind: str, type_: str
) -> None:
    assert builtin_type(api_version, kind) == type_
