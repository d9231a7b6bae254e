"""What a server refuses: code 422, with a cause for each field that is wrong."""

from typing import Any

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.objects import (
    Object,
    a_budget,
    a_config_map,
    a_container,
    a_job,
    a_pod,
    a_workload,
    metadata,
)

CORE = "/api/v1/namespaces/{}/"
APPS = "/apis/apps/v1/namespaces/{}/"
BATCH = "/apis/batch/v1/namespaces/{}/"
POLICY = "/apis/policy/v1/namespaces/{}/"

REQUIRED, INVALID, UNSUPPORTED = "FieldValueRequired", "FieldValueInvalid", "FieldValueNotSupported"
FORBIDDEN, DUPLICATE, TOO_LONG = "FieldValueForbidden", "FieldValueDuplicate", "FieldValueTooLong"


def pod(id_: str, causes: list[tuple[str, str]], **spec: Any) -> Any:
    return pytest.param(CORE + "pods", a_pod(**spec), causes, id=f"pod: {id_}")


def container(id_: str, causes: list[tuple[str, str]], **fields: Any) -> Any:
    return pod(id_, causes, containers=[a_container(**fields)])


def other(id_: str, collection: str, body: Object, *causes: tuple[str, str]) -> Any:
    return pytest.param(collection, body, list(causes), id=id_)


def node_affinity(*terms: Object) -> Object:
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}
        }
    }


def pod_affinity(**term: Any) -> Object:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def spread(**fields: Any) -> list[Object]:
    valid = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}
    return [{**valid, **fields}]


TERMS = (
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
)
FIRST = "spec.containers[0]"
PODS = [
    pod("no containers", [(REQUIRED, "spec.containers")], containers=[]),
    container("no name", [(REQUIRED, f"{FIRST}.name")], name=""),
    container("name in capitals", [(INVALID, f"{FIRST}.name")], name="C"),
    container("no image", [(REQUIRED, f"{FIRST}.image")], image=""),
    pod(
        "two containers of a name",
        [(DUPLICATE, "spec.containers[1].name")],
        containers=[a_container(), a_container()],
    ),
    container(
        "negative request",
        [(INVALID, f"{FIRST}.resources.requests[cpu]")],
        resources={"requests": {"cpu": "-1"}},
    ),
    container(
        "request above its limit",
        [(INVALID, f"{FIRST}.resources.requests")],
        resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
    ),
    container(
        "part of an extended resource",
        [
            (INVALID, f"{FIRST}.resources.limits[example.com/gpu]"),
            (INVALID, f"{FIRST}.resources.requests[example.com/gpu]"),
        ],
        resources={"limits": {"example.com/gpu": "500m"}},
    ),
    container(
        "extended resource without limit",
        [(REQUIRED, f"{FIRST}.resources.limits")],
        resources={"requests": {"example.com/gpu": "1"}},
    ),
    container(
        "port out of range",
        [(INVALID, f"{FIRST}.ports[0].containerPort")],
        ports=[{"containerPort": 70000}],
    ),
    container(
        "unknown protocol",
        [(UNSUPPORTED, f"{FIRST}.ports[0].protocol")],
        ports=[{"containerPort": 80, "protocol": "HTTP"}],
    ),
    container(
        "unknown pull policy",
        [(UNSUPPORTED, f"{FIRST}.imagePullPolicy")],
        imagePullPolicy="Sometimes",
    ),
    container(
        "mount of no volume",
        [("FieldValueNotFound", f"{FIRST}.volumeMounts[0].name")],
        volumeMounts=[{"name": "none", "mountPath": "/x"}],
    ),
    pod("unknown restart policy", [(UNSUPPORTED, "spec.restartPolicy")], restartPolicy="Once"),
    pod("unknown DNS policy", [(UNSUPPORTED, "spec.dnsPolicy")], dnsPolicy="Mine"),
    pod(
        "bad node selector",
        [(INVALID, "spec.nodeSelector")],
        nodeSelector={"a b": "c"},
    ),
    pod(
        "unknown toleration operator",
        [(UNSUPPORTED, "spec.tolerations[0].operator")],
        tolerations=[{"key": "k", "operator": "Near"}],
    ),
    pod(
        "toleration of a key's absence with a value",
        [(INVALID, "spec.tolerations[0].operator")],
        tolerations=[{"key": "k", "operator": "Exists", "value": "v"}],
    ),
    pod(
        "seconds on another effect than NoExecute",
        [(INVALID, "spec.tolerations[0].effect")],
        tolerations=[{"key": "k", "effect": "NoSchedule", "tolerationSeconds": 5}],
    ),
    pod("node affinity without terms", [(REQUIRED, TERMS)], affinity=node_affinity()),
    pod(
        "In without values",
        [(REQUIRED, f"{TERMS}[0].matchExpressions[0].values")],
        affinity=node_affinity({"matchExpressions": [{"key": "a", "operator": "In"}]}),
    ),
    pod(
        "Gt of two values",
        [(REQUIRED, f"{TERMS}[0].matchExpressions[0].values")],
        affinity=node_affinity(
            {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1", "2"]}]}
        ),
    ),
    pod(
        "pod affinity over a bad topology key",
        [
            (
                INVALID,
                "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"
                ".topologyKey",
            ),
        ],
        affinity=pod_affinity(topologyKey="a b", labelSelector={}),
    ),
    pod(
        "skew of zero",
        [(INVALID, "spec.topologySpreadConstraints[0].maxSkew")],
        topologySpreadConstraints=spread(maxSkew=0),
    ),
    pod(
        "minDomains of a soft spread",
        [(INVALID, "spec.topologySpreadConstraints[0].minDomains")],
        topologySpreadConstraints=spread(minDomains=2, whenUnsatisfiable="ScheduleAnyway"),
    ),
    pod(
        "the same spread twice",
        [
            (
                DUPLICATE,
                "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}",
            )
        ],
        topologySpreadConstraints=spread() * 2,
    ),
    pod(
        "a scheduling gate with a bad name",
        [(INVALID, "spec.schedulingGates[0]")],
        schedulingGates=[{"name": "a b"}],
    ),
    pod(
        "two sources of a volume",
        [(FORBIDDEN, "spec.volumes[0].hostPath")],
        volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"}}],
    ),
    pod(
        "two volumes of a name",
        [(DUPLICATE, "spec.volumes[1].name")],
        volumes=[{"name": "v", "emptyDir": {}}] * 2,
    ),
    pod(
        "no time to run",
        [(INVALID, "spec.activeDeadlineSeconds")],
        activeDeadlineSeconds=0,
    ),
]
OTHERS = [
    other(
        "name in capitals",
        CORE + "configmaps",
        a_config_map("A"),
        (INVALID, "metadata.name"),
    ),
    other(
        "bad label value",
        CORE + "configmaps",
        {"metadata": metadata("m", labels={"a": "b c"})},
        (INVALID, "metadata.labels"),
    ),
    other(
        "bad key of a config map",
        CORE + "configmaps",
        a_config_map(**{"a b": "c"}),
        (INVALID, "data[a b]"),
    ),
    other(
        "no name",
        CORE + "configmaps",
        {"metadata": {}},
        (REQUIRED, "metadata.name"),
    ),
    other(
        "deployment: selector unlike its template's labels",
        APPS + "deployments",
        a_workload("Deployment", selector={"matchLabels": {"app": "b"}}),
        (INVALID, "spec.template.metadata.labels"),
    ),
    other(
        "deployment: negative replicas",
        APPS + "deployments",
        a_workload("Deployment", replicas=-1),
        (INVALID, "spec.replicas"),
    ),
    other(
        "deployment: neither surge nor unavailable",
        APPS + "deployments",
        a_workload(
            "Deployment",
            strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}},
        ),
        (INVALID, "spec.strategy.rollingUpdate.maxUnavailable"),
    ),
    other(
        "stateful set: unknown policy",
        APPS + "statefulsets",
        a_workload("StatefulSet", podManagementPolicy="Random"),
        (INVALID, "spec.podManagementPolicy"),
    ),
    other(
        "job: restarts always",
        BATCH + "jobs",
        {**a_job(), "spec": {"template": {"spec": {"containers": [a_container()]}}}},
        (REQUIRED, "spec.template.spec.restartPolicy"),
    ),
    other(
        "job: negative parallelism",
        BATCH + "jobs",
        a_job(parallelism=-1),
        (INVALID, "spec.parallelism"),
    ),
    other(
        "cron job: bad schedule",
        BATCH + "cronjobs",
        {
            "metadata": metadata("c"),
            "spec": {"schedule": "soon", "jobTemplate": {"spec": a_job()["spec"]}},
        },
        (INVALID, "spec.schedule"),
    ),
    other(
        "budget: both bounds",
        POLICY + "poddisruptionbudgets",
        a_budget(minAvailable=1, maxUnavailable=1),
        (INVALID, "spec"),
    ),
    other(
        "budget: negative",
        POLICY + "poddisruptionbudgets",
        a_budget(minAvailable=-1),
        (INVALID, "spec.minAvailable"),
    ),
    other(
        "service: no ports",
        CORE + "services",
        {"metadata": metadata("s"), "spec": {}},
        (REQUIRED, "spec.ports"),
    ),
    other(
        "service: port out of range",
        CORE + "services",
        {"metadata": metadata("s"), "spec": {"ports": [{"port": 0, "targetPort": 80}]}},
        (INVALID, "spec.ports[0].port"),
    ),
    other(
        "claim: no storage",
        CORE + "persistentvolumeclaims",
        {"metadata": metadata("c"), "spec": {"accessModes": ["ReadWriteOnce"]}},
        (REQUIRED, "spec.resources[storage]"),
    ),
    other(
        "claim: unknown access mode",
        CORE + "persistentvolumeclaims",
        {
            "metadata": metadata("c"),
            "spec": {
                "accessModes": ["Once"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
        (UNSUPPORTED, "spec.accessModes"),
    ),
    other(
        "quota: negative",
        CORE + "resourcequotas",
        {"metadata": metadata("q"), "spec": {"hard": {"pods": "-1"}}},
        (INVALID, "spec.hard[pods]"),
    ),
]


@pytest.mark.parametrize(("collection", "body", "causes"), PODS + OTHERS)
def test_a_wrong_field_is_refused_by_its_name(
    cluster: Cluster,
    namespace: str,
    collection: str,
    body: Object,
    causes: list[tuple[str, str]],
) -> None:
    answer = cluster.post(collection.format(namespace), body)

    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    assert answer.causes == sorted(causes)


def test_a_pod_cannot_choose_its_priority(cluster: Cluster, namespace: str) -> None:
    answer = cluster.post(CORE.format(namespace) + "pods", a_pod(priority=5))

    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")
    assert "the integer value of priority (5) must not be provided" in answer.message


@pytest.mark.parametrize(
    ("value", "words"),
    [
        pytest.param({"spec": 5}, "cannot unmarshal number into Go struct field", id="number"),
        pytest.param(
            {"metadata": {"labels": ["a"]}}, "cannot unmarshal array into Go struct", id="array"
        ),
        pytest.param(
            {"metadata": {"name": 5}}, "cannot unmarshal number into Go struct field", id="name"
        ),
        pytest.param(
            {"spec": {"containers": {"a": 1}}},
            "cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
            "[]v1.Container",
            id="object",
        ),
    ],
)
def test_a_field_of_the_wrong_type_is_a_bad_request(
    cluster: Cluster, namespace: str, value: Object, words: str
) -> None:
    answer = cluster.post(
        CORE.format(namespace) + "pods", {"apiVersion": "v1", "kind": "Pod", **value}
    )

    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert words in answer.message


@pytest.mark.parametrize(
    ("mode", "status", "warned"),
    [("Strict", 400, False), ("Warn", 201, True), ("Ignore", 201, False)],
)
def test_unknown_fields_are_dropped_warned_of_or_refused(
    cluster: Cluster, namespace: str, mode: str, status: int, warned: bool
) -> None:
    body = {**a_config_map(), "odd": 1}
    answer = cluster.post(CORE.format(namespace) + "configmaps", body, fieldValidation=mode)

    assert answer.status == status
    assert ("warning" in answer.headers) == warned
    if status == 400:
        assert 'strict decoding error: unknown field "odd"' in answer.message
