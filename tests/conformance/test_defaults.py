"""What a server fills in when an object is created with little said."""

from typing import Any

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.objects import (
    Object,
    a_container,
    a_job,
    a_pod,
    a_workload,
    at,
    metadata,
)

CORE = "/api/v1/namespaces/{}/"
APPS = "/apis/apps/v1/namespaces/{}/"
BATCH = "/apis/batch/v1/namespaces/{}/"


def row(collection: str, body: Object, path: str, filled: Any) -> Any:
    return pytest.param(collection, body, path, filled, id=f"{body['kind']} {path}")


def service(**spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata("s"),
        "spec": {"ports": [{"port": 80}], **spec},
    }


def with_container(**fields: Any) -> Object:
    return a_pod(containers=[a_container(**fields)])


LIMITED = with_container(resources={"limits": {"cpu": "1", "memory": "1Gi"}})
CRON_JOB = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": metadata("c"),
    "spec": {
        "schedule": "0 0 1 1 *",
        "suspend": True,
        "jobTemplate": {"spec": a_job()["spec"]},
    },
}
CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": metadata("c"),
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "none",
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
ZONE_SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


@pytest.mark.parametrize(
    ("collection", "body", "path", "filled"),
    [
        row(CORE + "pods", a_pod(), "spec.restartPolicy", "Always"),
        row(CORE + "pods", a_pod(), "spec.dnsPolicy", "ClusterFirst"),
        row(CORE + "pods", a_pod(), "spec.terminationGracePeriodSeconds", 30),
        row(CORE + "pods", a_pod(), "spec.securityContext", {}),
        row(CORE + "pods", a_pod(), "spec.enableServiceLinks", True),
        row(CORE + "pods", a_pod(), "spec.priority", 0),
        row(CORE + "pods", a_pod(), "spec.preemptionPolicy", "PreemptLowerPriority"),
        row(
            CORE + "pods",
            a_pod(),
            "spec.tolerations",
            [
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
                for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
            ],
        ),
        row(CORE + "pods", a_pod(), "status.phase", "Pending"),
        row(CORE + "pods", a_pod(), "status.qosClass", "BestEffort"),
        row(CORE + "pods", a_pod(), "metadata.generation", 1),
        row(CORE + "pods", LIMITED, "status.qosClass", "Guaranteed"),
        row(
            CORE + "pods",
            LIMITED,
            "spec.containers.0.resources.requests",
            {"cpu": "1", "memory": "1Gi"},
        ),
        row(
            CORE + "pods",
            with_container(ports=[{"containerPort": 80}]),
            "spec.containers.0.ports.0.protocol",
            "TCP",
        ),
        row(
            CORE + "pods",
            with_container(image="x:1"),
            "spec.containers.0.imagePullPolicy",
            "IfNotPresent",
        ),
        row(
            CORE + "pods",
            with_container(image="x"),
            "spec.containers.0.imagePullPolicy",
            "Always",
        ),
        row(
            CORE + "pods",
            with_container(livenessProbe={"httpGet": {"port": 80}}),
            "spec.containers.0.livenessProbe",
            {
                "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
                "timeoutSeconds": 1,
                "periodSeconds": 10,
                "successThreshold": 1,
                "failureThreshold": 3,
            },
        ),
        row(
            CORE + "pods",
            a_pod(volumes=[{"name": "v", "configMap": {"name": "m"}}]),
            "spec.volumes.0.configMap.defaultMode",
            420,
        ),
        row(
            CORE + "pods",
            a_pod(volumes=[{"name": "v"}]),
            "spec.volumes.0.emptyDir",
            {},
        ),
        row(
            CORE + "pods",
            a_pod(topologySpreadConstraints=[ZONE_SPREAD]),
            "spec.topologySpreadConstraints.0",
            ZONE_SPREAD,
        ),
        row(APPS + "deployments", a_workload("Deployment"), "spec.replicas", 1),
        row(
            APPS + "deployments",
            a_workload("Deployment", replicas=0),
            "spec.strategy",
            {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
            },
        ),
        row(
            APPS + "deployments",
            a_workload("Deployment", replicas=0),
            "spec.progressDeadlineSeconds",
            600,
        ),
        row(
            APPS + "deployments",
            a_workload("Deployment", replicas=0),
            "spec.revisionHistoryLimit",
            10,
        ),
        row(
            APPS + "statefulsets",
            a_workload("StatefulSet", replicas=0),
            "spec.podManagementPolicy",
            "OrderedReady",
        ),
        row(
            APPS + "statefulsets",
            a_workload("StatefulSet", replicas=0),
            "spec.updateStrategy",
            {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        ),
        row(
            APPS + "statefulsets",
            a_workload("StatefulSet", replicas=0),
            "spec.persistentVolumeClaimRetentionPolicy",
            {"whenDeleted": "Retain", "whenScaled": "Retain"},
        ),
        row(
            APPS + "daemonsets",
            a_workload(
                "DaemonSet",
                template={
                    "metadata": {"labels": {"app": "a"}},
                    "spec": {"nodeSelector": {"no": "where"}, "containers": [a_container()]},
                },
            ),
            "spec.updateStrategy",
            {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
            },
        ),
        row(BATCH + "jobs", a_job(suspend=True), "spec.completions", 1),
        row(BATCH + "jobs", a_job(suspend=True), "spec.parallelism", 1),
        row(BATCH + "jobs", a_job(suspend=True), "spec.backoffLimit", 6),
        row(BATCH + "jobs", a_job(suspend=True), "spec.completionMode", "NonIndexed"),
        row(
            BATCH + "jobs", a_job(suspend=True), "spec.podReplacementPolicy", "TerminatingOrFailed"
        ),
        row(BATCH + "cronjobs", CRON_JOB, "spec.concurrencyPolicy", "Allow"),
        row(BATCH + "cronjobs", CRON_JOB, "spec.successfulJobsHistoryLimit", 3),
        row(BATCH + "cronjobs", CRON_JOB, "spec.failedJobsHistoryLimit", 1),
        row(CORE + "services", service(), "spec.type", "ClusterIP"),
        row(CORE + "services", service(), "spec.sessionAffinity", "None"),
        row(CORE + "services", service(), "spec.internalTrafficPolicy", "Cluster"),
        row(
            CORE + "services",
            service(),
            "spec.ports",
            [{"protocol": "TCP", "port": 80, "targetPort": 80}],
        ),
        row(CORE + "services", service(clusterIP="None"), "spec.clusterIPs", ["None"]),
        row(CORE + "persistentvolumeclaims", CLAIM, "spec.volumeMode", "Filesystem"),
        row(CORE + "persistentvolumeclaims", CLAIM, "status.phase", "Pending"),
    ],
)
def test_what_is_not_said_is_filled_in(
    cluster: Cluster, namespace: str, collection: str, body: Object, path: str, filled: Any
) -> None:
    made = cluster.post(collection.format(namespace), body).ok()

    assert at(made, path) == filled


def test_a_storage_class_binds_at_once_and_deletes(cluster: Cluster) -> None:
    made = cluster.post(
        "/apis/storage.k8s.io/v1/storageclasses",
        {"metadata": metadata("dry"), "provisioner": "conformance.example.com"},
        dryRun="All",
    ).ok()

    assert (made["reclaimPolicy"], made["volumeBindingMode"]) == ("Delete", "Immediate")


def test_a_generated_name_is_the_prefix_and_five_letters(cluster: Cluster, namespace: str) -> None:
    maps = CORE.format(namespace) + "configmaps"
    made = [
        cluster.post(maps, {"metadata": {"generateName": "gen-"}}).ok()["metadata"]["name"]
        for _ in range(3)
    ]

    assert len(set(made)) == 3
    assert all(name.startswith("gen-") and len(name) == len("gen-") + 5 for name in made)


def test_a_dry_run_answers_and_stores_nothing(cluster: Cluster, namespace: str) -> None:
    pods = CORE.format(namespace) + "pods"
    made = cluster.post(pods, a_pod(), dryRun="All")

    assert made.status == 201
    assert made.body["metadata"]["uid"]
    assert cluster.get(f"{pods}/p").status == 404
