"""Every kind: created, read, listed, replaced, patched, deleted, not found."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.objects import (
    Object,
    a_budget,
    a_config_map,
    a_job,
    a_pod,
    a_template,
    a_workload,
    metadata,
)

CORE = "/api/v1/namespaces/{namespace}/"
RBAC = "/apis/rbac.authorization.k8s.io/v1/"
RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]


def plain(version: str, kind: str, **fields: Any) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": metadata("x"), **fields}


CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
CRON_JOB = {"schedule": "0 0 1 1 *", "suspend": True, "jobTemplate": {"spec": a_job()["spec"]}}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "none"}
NAMESPACED = {
    "configmaps": (CORE, a_config_map("x")),
    "secrets": (CORE, plain("v1", "Secret", stringData={"a": "b"})),
    "services": (CORE, plain("v1", "Service", spec={"ports": [{"port": 80}]})),
    "serviceaccounts": (CORE, plain("v1", "ServiceAccount")),
    "pods": (CORE, a_pod("x", terminationGracePeriodSeconds=0)),
    "podtemplates": (CORE, plain("v1", "PodTemplate", template=a_template())),
    "limitranges": (
        CORE,
        plain("v1", "LimitRange", spec={"limits": [{"type": "Pod", "max": {"cpu": "9"}}]}),
    ),
    "resourcequotas": (CORE, plain("v1", "ResourceQuota", spec={"hard": {"pods": "9"}})),
    "replicationcontrollers": (
        CORE,
        plain("v1", "ReplicationController", spec={"replicas": 0, "template": a_template()}),
    ),
    "deployments": (
        "/apis/apps/v1/namespaces/{namespace}/",
        a_workload("Deployment", "x", replicas=0),
    ),
    "replicasets": (
        "/apis/apps/v1/namespaces/{namespace}/",
        a_workload("ReplicaSet", "x", replicas=0),
    ),
    "statefulsets": (
        "/apis/apps/v1/namespaces/{namespace}/",
        a_workload("StatefulSet", "x", replicas=0, serviceName="s"),
    ),
    "jobs": ("/apis/batch/v1/namespaces/{namespace}/", a_job("x", suspend=True)),
    "cronjobs": (
        "/apis/batch/v1/namespaces/{namespace}/",
        plain("batch/v1", "CronJob", spec=CRON_JOB),
    ),
    "horizontalpodautoscalers": (
        "/apis/autoscaling/v2/namespaces/{namespace}/",
        plain(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            spec={"maxReplicas": 2, "scaleTargetRef": TARGET},
        ),
    ),
    "poddisruptionbudgets": (
        "/apis/policy/v1/namespaces/{namespace}/",
        a_budget("x", minAvailable=1),
    ),
    "leases": (
        "/apis/coordination.k8s.io/v1/namespaces/{namespace}/",
        plain("coordination.k8s.io/v1", "Lease", spec={"holderIdentity": "h"}),
    ),
    "roles": (
        RBAC + "namespaces/{namespace}/",
        plain("rbac.authorization.k8s.io/v1", "Role", rules=RULES),
    ),
    "endpointslices": (
        "/apis/discovery.k8s.io/v1/namespaces/{namespace}/",
        plain("discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4", endpoints=[]),
    ),
}
CLUSTER_WIDE = {
    "storageclasses": (
        "/apis/storage.k8s.io/v1/",
        plain("storage.k8s.io/v1", "StorageClass", provisioner="conformance.example.com"),
    ),
    "csidrivers": (
        "/apis/storage.k8s.io/v1/",
        plain("storage.k8s.io/v1", "CSIDriver", spec={"attachRequired": False}),
    ),
    "priorityclasses": (
        "/apis/scheduling.k8s.io/v1/",
        plain("scheduling.k8s.io/v1", "PriorityClass", value=5),
    ),
    "runtimeclasses": (
        "/apis/node.k8s.io/v1/",
        plain("node.k8s.io/v1", "RuntimeClass", handler="h"),
    ),
    "clusterroles": (
        RBAC,
        plain("rbac.authorization.k8s.io/v1", "ClusterRole", rules=RULES),
    ),
    "persistentvolumes": (
        "/api/v1/",
        plain(
            "v1",
            "PersistentVolume",
            spec={
                "accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": "1Gi"},
                "hostPath": {"path": "/x"},
                "storageClassName": "none",
            },
        ),
    ),
    "deviceclasses": (
        "/apis/resource.k8s.io/v1/",
        plain(
            "resource.k8s.io/v1",
            "DeviceClass",
            spec={"selectors": [{"cel": {"expression": "device.driver == 'd'"}}]},
        ),
    ),
}


@pytest.mark.parametrize("plural", NAMESPACED)
def test_a_namespaced_object_lives_from_creation_to_deletion(
    cluster: Cluster, namespace: str, plural: str
) -> None:
    folder, body = NAMESPACED[plural]
    life(cluster, folder.format(namespace=namespace) + plural, body)


@pytest.mark.parametrize("plural", CLUSTER_WIDE)
def test_a_cluster_wide_object_lives_from_creation_to_deletion(
    cluster: Cluster, unique: Callable[[str], str], plural: str
) -> None:
    folder, body = CLUSTER_WIDE[plural]
    life(cluster, folder + plural, {**body, "metadata": metadata(unique("x"))})


def life(cluster: Cluster, collection: str, body: Object) -> None:
    name, kind = body["metadata"]["name"], body["kind"]
    path = f"{collection}/{name}"

    made = cluster.post(collection, body)
    assert (made.status, made.body["kind"], made.body["apiVersion"]) == (
        201,
        kind,
        body["apiVersion"],
    )
    assert made.body["metadata"]["uid"]
    assert made.body["metadata"]["creationTimestamp"]

    again = cluster.post(collection, body)
    assert (again.status, again.body["reason"]) == (409, "AlreadyExists")

    listed = cluster.get(collection, fieldSelector=f"metadata.name={name}").ok()
    assert listed["kind"] == f"{kind}List"
    assert [item["metadata"]["uid"] for item in listed["items"]] == [made.body["metadata"]["uid"]]

    patched = cluster.patch(path, {"metadata": {"labels": {"stage": "patched"}}}).ok()
    assert patched["metadata"]["labels"]["stage"] == "patched"

    replaced = cluster.change(path, lambda found: found["metadata"].update(annotations={"a": "b"}))
    assert replaced["metadata"]["annotations"]["a"] == "b"

    gone = cluster.delete(path, propagationPolicy="Background")
    assert gone.status in (200, 202)
    cluster.until_gone(path)
    missing = cluster.get(path)
    assert (missing.status, missing.body["reason"]) == (404, "NotFound")
    assert missing.body["details"]["name"] == name
    assert cluster.delete(path).status == 404
