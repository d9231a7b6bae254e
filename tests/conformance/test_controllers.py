"""Controllers: Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, claims.

Pods have no scheduler here (`nobody`); where they must run, the test plays their kubelet.
"""

from collections.abc import Callable

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.nodes import TOLERATED, a_ready_node
from tests.conformance.objects import Object, a_job, a_pod, a_template, a_workload, metadata
from tests.conformance.targets import CONTROLLERS

pytestmark = pytest.mark.needs(CONTROLLERS)


@pytest.fixture
def apps(namespace: str) -> str:
    return f"/apis/apps/v1/namespaces/{namespace}"


@pytest.fixture
def pods(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


def living(found: Object) -> list[Object]:
    return [pod for pod in found["items"] if "deletionTimestamp" not in pod["metadata"]]


def count(number: int) -> Callable[[Object], bool]:
    return lambda found: len(living(found)) == number


def report(cluster: Cluster, pods: str, name: str, phase: str = "Running") -> None:
    """Say of a pod that it runs and is ready, or that it ended."""
    ready = {
        "type": "Ready",
        "status": "True" if phase == "Running" else "False",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    status = {"phase": phase, "conditions": [ready]}
    cluster.patch(f"{pods}/{name}/status", {"status": status}).ok()


def owner(obj: Object) -> tuple[str, str]:
    (reference,) = obj["metadata"]["ownerReferences"]
    assert reference["controller"]
    return reference["kind"], reference["name"]


def test_a_deployment_makes_a_replica_set_that_makes_pods(
    cluster: Cluster, apps: str, pods: str
) -> None:
    cluster.post(f"{apps}/deployments", a_workload("Deployment", replicas=2)).ok()

    found = cluster.until(pods, count(2))
    (replica_set,) = cluster.get(f"{apps}/replicasets").ok()["items"]

    template_hash = replica_set["metadata"]["labels"]["pod-template-hash"]
    assert replica_set["metadata"]["name"] == f"w-{template_hash}"
    assert owner(replica_set) == ("Deployment", "w")
    for pod in found["items"]:
        assert owner(pod) == ("ReplicaSet", replica_set["metadata"]["name"])
        assert pod["metadata"]["generateName"] == f"w-{template_hash}-"
        assert pod["metadata"]["labels"] == {"app": "a", "pod-template-hash": template_hash}
    deployment = cluster.get(f"{apps}/deployments/w").ok()
    assert deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"


def test_a_rollout_replaces_pods_as_they_become_ready(
    cluster: Cluster, apps: str, pods: str
) -> None:
    cluster.post(f"{apps}/deployments", a_workload("Deployment", replicas=2)).ok()
    for pod in cluster.until(pods, count(2))["items"]:
        report(cluster, pods, pod["metadata"]["name"])
    path = f"{apps}/deployments/w"
    cluster.until(path, lambda found: found["status"].get("availableReplicas") == 2)

    cluster.patch(path, {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}}).ok()

    def reported(found: Object) -> bool:
        for pod in living(cluster.get(pods).ok()):
            report_if_there(cluster, pods, pod["metadata"]["name"])
        return is_rolled_out(found, 2)

    done = cluster.until(path, reported)
    assert done["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"
    replicas = cluster.get(f"{apps}/replicasets").ok()["items"]
    assert sorted(one["spec"]["replicas"] for one in replicas) == [0, 2]


def report_if_there(cluster: Cluster, pods: str, name: str) -> None:
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = {"phase": "Running", "conditions": [ready]}
    cluster.patch(f"{pods}/{name}/status", {"status": status})


def is_rolled_out(deployment: Object, replicas: int) -> bool:
    status = deployment["status"]
    return bool(
        status.get("observedGeneration") == deployment["metadata"]["generation"]
        and status.get("replicas") == replicas
        and status.get("updatedReplicas") == replicas
        and status.get("availableReplicas") == replicas
    )


def test_scaling_down_and_up_again(cluster: Cluster, apps: str, pods: str) -> None:
    cluster.post(f"{apps}/deployments", a_workload("Deployment", replicas=3)).ok()
    cluster.until(pods, count(3))

    for number in (1, 4):
        path = f"{apps}/deployments/w/scale"
        cluster.patch(path, {"spec": {"replicas": number}}).ok()
        cluster.until(pods, count(number))


def test_a_lost_pod_is_replaced(cluster: Cluster, apps: str, pods: str) -> None:
    cluster.post(f"{apps}/replicasets", a_workload("ReplicaSet", replicas=1)).ok()
    (pod,) = cluster.until(pods, count(1))["items"]

    cluster.delete(f"{pods}/{pod['metadata']['name']}", gracePeriodSeconds=0).ok()

    (other,) = living(cluster.until(pods, lambda found: is_another(found, pod)))
    assert other["metadata"]["name"] != pod["metadata"]["name"]


def is_another(found: Object, pod: Object) -> bool:
    names = {one["metadata"]["name"] for one in living(found)}
    return len(names) == 1 and pod["metadata"]["name"] not in names


def test_a_replica_set_adopts_a_pod_that_fits(cluster: Cluster, apps: str, pods: str) -> None:
    cluster.post(pods, a_pod("lone", labels={"app": "a"})).ok()
    cluster.post(f"{apps}/replicasets", a_workload("ReplicaSet", replicas=1)).ok()

    adopted = cluster.until(f"{pods}/lone", lambda found: found["metadata"].get("ownerReferences"))

    assert owner(adopted) == ("ReplicaSet", "w")
    assert len(cluster.get(pods).ok()["items"]) == 1


def test_a_replica_set_lets_go_what_it_selects_no_more(
    cluster: Cluster, apps: str, pods: str
) -> None:
    cluster.post(f"{apps}/replicasets", a_workload("ReplicaSet", replicas=1)).ok()
    (pod,) = cluster.until(pods, count(1))["items"]
    name = pod["metadata"]["name"]

    cluster.patch(f"{pods}/{name}", {"metadata": {"labels": {"app": "b"}}}).ok()

    cluster.until(f"{pods}/{name}", lambda found: "ownerReferences" not in found["metadata"])
    cluster.until(pods, count(2))


def test_a_stateful_set_starts_one_pod_after_the_other(
    cluster: Cluster, namespace: str, apps: str, pods: str
) -> None:
    claim = {
        "metadata": metadata("data"),
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "conformance-none",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    body = a_workload("StatefulSet", replicas=2, serviceName="s", volumeClaimTemplates=[claim])
    cluster.post(f"{apps}/statefulsets", body).ok()

    first = cluster.until(f"{pods}/w-0", bool)
    assert first["metadata"]["labels"]["apps.kubernetes.io/pod-index"] == "0"
    assert first["spec"]["hostname"] == "w-0"
    assert cluster.get(f"{pods}/w-1").status == 404
    cluster.until(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/data-w-0", bool)

    report(cluster, pods, "w-0")
    cluster.until(f"{pods}/w-1", bool)
    cluster.until(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/data-w-1", bool)


def test_a_stateful_set_in_parallel_starts_all_at_once(
    cluster: Cluster, apps: str, pods: str
) -> None:
    body = a_workload("StatefulSet", replicas=3, serviceName="s", podManagementPolicy="Parallel")
    cluster.post(f"{apps}/statefulsets", body).ok()

    found = cluster.until(pods, count(3))

    assert [pod["metadata"]["name"] for pod in found["items"]] == ["w-0", "w-1", "w-2"]


def test_a_daemon_set_has_a_pod_for_each_node_it_selects(
    cluster: Cluster,
    apps: str,
    pods: str,
    unique: Callable[[str], str],
    create: Callable[[str, Object], Object],
) -> None:
    label = unique("ds")
    names = {f"{label}-{number}" for number in range(2)}
    for name in names:
        a_ready_node(cluster, create, name, {label: ""})
    a_ready_node(cluster, create, f"{label}-other", {})
    template = a_template(nodeSelector={label: ""}, tolerations=[TOLERATED])

    cluster.post(f"{apps}/daemonsets", a_workload("DaemonSet", template=template)).ok()
    found = cluster.until(pods, count(2))

    assert {pinned_node(pod) for pod in found["items"]} == names
    status = cluster.until(
        f"{apps}/daemonsets/w", lambda one: one["status"]["desiredNumberScheduled"] == 2
    )
    assert status["status"]["currentNumberScheduled"] == 2


def pinned_node(pod: Object) -> str:
    affinity = pod["spec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    (field,) = term["matchFields"]
    assert (field["key"], field["operator"]) == ("metadata.name", "In")
    return str(field["values"][0])


@pytest.fixture
def jobs(namespace: str) -> str:
    return f"/apis/batch/v1/namespaces/{namespace}/jobs"


def test_a_job_runs_to_its_completions(cluster: Cluster, jobs: str, pods: str) -> None:
    cluster.post(jobs, a_job(completions=2, parallelism=1)).ok()

    for done in range(2):
        found = cluster.until(pods, has_items(done + 1))
        (running,) = (one for one in found["items"] if one["status"]["phase"] == "Pending")
        assert running["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "j"
        report(cluster, pods, running["metadata"]["name"], "Succeeded")

    finished = cluster.until(f"{jobs}/j", lambda found: has_condition(found, "Complete"))
    assert finished["status"]["succeeded"] == 2
    assert finished["status"]["completionTime"]


def test_a_job_gives_up_after_its_backoff_limit(cluster: Cluster, jobs: str, pods: str) -> None:
    cluster.post(jobs, a_job(backoffLimit=0)).ok()
    (pod,) = cluster.until(pods, count(1))["items"]

    report(cluster, pods, pod["metadata"]["name"], "Failed")

    failed = cluster.until(f"{jobs}/j", lambda found: has_condition(found, "Failed"))
    (reason,) = (one["reason"] for one in failed["status"]["conditions"] if one["type"] == "Failed")
    assert reason == "BackoffLimitExceeded"


def test_an_indexed_job_numbers_its_pods(cluster: Cluster, jobs: str, pods: str) -> None:
    cluster.post(jobs, a_job(completions=3, parallelism=3, completionMode="Indexed")).ok()

    found = cluster.until(pods, count(3))

    indexes = {
        pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]
        for pod in found["items"]
    }
    assert indexes == {"0", "1", "2"}


def test_a_suspended_job_has_no_pods_until_it_is_resumed(
    cluster: Cluster, jobs: str, pods: str
) -> None:
    cluster.post(jobs, a_job(suspend=True)).ok()
    cluster.until(f"{jobs}/j", lambda found: has_condition(found, "Suspended"))
    assert cluster.get(pods).ok()["items"] == []

    cluster.patch(f"{jobs}/j", {"spec": {"suspend": False}}).ok()

    cluster.until(pods, count(1))


def has_items(number: int) -> Callable[[Object], bool]:
    return lambda found: len(found["items"]) == number


def has_condition(obj: Object, kind: str) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(one["type"] == kind and one["status"] == "True" for one in conditions)


def test_a_claim_is_bound_to_a_volume_that_suits_it(
    cluster: Cluster,
    namespace: str,
    unique: Callable[[str], str],
    create: Callable[[str, Object], Object],
) -> None:
    storage_class = unique("class")
    volume = {
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/x"},
        "storageClassName": storage_class,
        "persistentVolumeReclaimPolicy": "Retain",
    }
    for name, size in (("small", "1Gi"), ("right", "5Gi"), ("big", "50Gi")):
        body = {"metadata": metadata(f"{storage_class}-{name}")}
        create(
            "/api/v1/persistentvolumes",
            {**body, "spec": {**volume, "capacity": {"storage": size}}},
        )
    claims = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": "3Gi"}},
    }
    cluster.post(claims, {"metadata": metadata("c"), "spec": spec}).ok()

    bound = cluster.until(f"{claims}/c", lambda found: found["status"]["phase"] == "Bound")

    assert bound["spec"]["volumeName"] == f"{storage_class}-right"
    assert bound["status"]["capacity"] == {"storage": "5Gi"}
