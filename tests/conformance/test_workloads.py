"""Workloads beyond their pods: revisions, owners, ends of Jobs, schedules, autoscaling."""

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
def core(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}"


@pytest.fixture
def batch(namespace: str) -> str:
    return f"/apis/batch/v1/namespaces/{namespace}"


def living(found: Object) -> list[Object]:
    return [pod for pod in found["items"] if "deletionTimestamp" not in pod["metadata"]]


def count(number: int) -> Callable[[Object], bool]:
    return lambda found: len(living(found)) == number


def tell(cluster: Cluster, core: str, name: str, status: Object) -> None:
    cluster.patch(f"{core}/pods/{name}/status", {"status": status}).ok()


def fail(cluster: Cluster, core: str, name: str, code: int) -> None:
    """Say that a pod's container has ended badly."""
    end = {
        "exitCode": code,
        "reason": "Error",
        "startedAt": "2026-01-01T00:00:00Z",
        "finishedAt": "2026-01-01T00:00:01Z",
    }
    container = {
        "name": "c",
        "image": "i",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": {"terminated": end},
        "lastState": {},
    }
    tell(cluster, core, name, {"phase": "Failed", "containerStatuses": [container]})


def conditions(obj: Object) -> dict[str, str]:
    found = (obj.get("status") or {}).get("conditions") or ()
    return {one["type"]: one["reason"] for one in found if one["status"] == "True"}


def owned_by(obj: Object, kind: str, name: str) -> bool:
    owners = obj["metadata"].get("ownerReferences") or ()
    return any((one["kind"], one["name"]) == (kind, name) for one in owners)


def messages(cluster: Cluster, core: str, kind: str) -> set[tuple[str, str]]:
    events = cluster.get(f"{core}/events").ok()["items"]
    return {
        (one["reason"], one["message"]) for one in events if one["involvedObject"]["kind"] == kind
    }


def test_a_replica_set_remembers_its_deployment(cluster: Cluster, apps: str, core: str) -> None:
    cluster.post(f"{apps}/deployments", a_workload("Deployment", replicas=4)).ok()
    found = cluster.until(f"{apps}/replicasets", lambda one: len(one["items"]) == 1)

    (one,) = found["items"]
    notes = one["metadata"]["annotations"]
    assert notes["deployment.kubernetes.io/desired-replicas"] == "4"
    assert notes["deployment.kubernetes.io/max-replicas"] == "5"
    assert one["metadata"]["generation"] == 1
    assert one["spec"]["replicas"] == 4
    name = one["metadata"]["name"]
    told = ("ScalingReplicaSet", f"Scaled up replica set {name} from 0 to 4")
    cluster.until(f"{core}/events", lambda _: told in messages(cluster, core, "Deployment"))


def test_growth_in_the_middle_of_a_rollout_is_shared(
    cluster: Cluster, apps: str, core: str
) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}
    body = a_workload("Deployment", replicas=4, strategy=strategy)
    cluster.post(f"{apps}/deployments", body).ok()
    cluster.until(f"{core}/pods", count(4))
    change = {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}}
    cluster.patch(f"{apps}/deployments/w", change).ok()
    cluster.until(f"{apps}/replicasets", lambda found: sizes(found) == [2, 4])

    cluster.patch(f"{apps}/deployments/w", {"spec": {"replicas": 10}}).ok()

    cluster.until(f"{apps}/replicasets", lambda found: sizes(found) == [4, 8])


def sizes(found: Object) -> list[int]:
    return sorted(one["spec"]["replicas"] for one in found["items"])


def test_a_replica_set_says_why_it_cannot_make_pods(cluster: Cluster, apps: str) -> None:
    template = a_template(priorityClassName="none-of-this-name")
    cluster.post(f"{apps}/replicasets", a_workload("ReplicaSet", template=template)).ok()

    found = cluster.until(f"{apps}/replicasets/w", lambda one: "ReplicaFailure" in conditions(one))

    assert conditions(found)["ReplicaFailure"] == "FailedCreate"
    (failure,) = found["status"]["conditions"]
    assert "no PriorityClass with name none-of-this-name was found" in failure["message"]


def test_a_replication_controller_keeps_its_pods(cluster: Cluster, core: str) -> None:
    cluster.post(f"{core}/pods", a_pod("lone", labels={"app": "a"})).ok()
    body = {
        "metadata": metadata("w"),
        "spec": {"replicas": 2, "selector": {"app": "a"}, "template": a_template()},
    }
    cluster.post(f"{core}/replicationcontrollers", body).ok()

    found = cluster.until(f"{core}/pods", count(2))

    assert all(owned_by(pod, "ReplicationController", "w") for pod in found["items"])
    cluster.until(
        f"{core}/replicationcontrollers/w", lambda one: one["status"].get("replicas") == 2
    )


@pytest.mark.parametrize(
    ("kind", "plural"), [("StatefulSet", "statefulsets"), ("DaemonSet", "daemonsets")]
)
def test_each_template_has_a_revision(cluster: Cluster, apps: str, kind: str, plural: str) -> None:
    more: Object = {"serviceName": "s", "replicas": 0} if kind == "StatefulSet" else {}
    body = a_workload(kind, **more)
    if kind == "DaemonSet":
        body["spec"]["template"]["spec"]["nodeSelector"] = {"no": "node"}
        body["spec"].pop("replicas", None)
    cluster.post(f"{apps}/{plural}", body).ok()
    revisions = f"{apps}/controllerrevisions"
    (first,) = cluster.until(revisions, lambda found: len(found["items"]) == 1)["items"]
    assert first["revision"] == 1
    assert owned_by(first, kind, "w")
    assert first["data"]["spec"]["template"]["$patch"] == "replace"
    assert first["metadata"]["labels"]["app"] == "a"
    for number, value in ((2, "b"), (3, None)):
        change = {"spec": {"template": {"metadata": {"annotations": {"v": value}}}}}
        cluster.patch(f"{apps}/{plural}/w", change).ok()
        cluster.until(revisions, numbered(number))

    found = cluster.get(revisions).ok()["items"]
    assert sorted(one["revision"] for one in found) == [2, 3]


def numbered(newest: int) -> Callable[[Object], bool]:
    return lambda found: max(one["revision"] for one in found["items"]) == newest


def test_a_stateful_set_takes_over_a_pod_of_its_name(
    cluster: Cluster, apps: str, core: str
) -> None:
    for name in ("w-0", "other"):
        cluster.post(f"{core}/pods", a_pod(name, labels={"app": "a"})).ok()

    cluster.post(f"{apps}/statefulsets", a_workload("StatefulSet", serviceName="s")).ok()

    cluster.until(f"{core}/pods/w-0", lambda pod: owned_by(pod, "StatefulSet", "w"))
    assert "ownerReferences" not in cluster.get(f"{core}/pods/other").ok()["metadata"]


def test_a_stateful_set_tells_what_it_does(cluster: Cluster, apps: str, core: str) -> None:
    cluster.post(f"{apps}/statefulsets", a_workload("StatefulSet", serviceName="s")).ok()
    pod = cluster.until(f"{core}/pods/w-0", bool)

    assert pod["metadata"]["generateName"] == "w-"
    told = ("SuccessfulCreate", "Create Pod w-0 in StatefulSet w successful")
    cluster.until(f"{core}/events", lambda _: told in messages(cluster, core, "StatefulSet"))


def test_pods_of_a_daemon_set_carry_its_generation(
    cluster: Cluster,
    apps: str,
    core: str,
    unique: Callable[[str], str],
    create: Callable[[str, Object], Object],
) -> None:
    label = unique("ds")
    a_ready_node(cluster, create, label, {label: ""})
    template = a_template(nodeSelector={label: ""}, tolerations=[TOLERATED])
    cluster.post(f"{apps}/daemonsets", a_workload("DaemonSet", template=template)).ok()

    (pod,) = cluster.until(f"{core}/pods", count(1))["items"]

    labels = pod["metadata"]["labels"]
    assert labels["pod-template-generation"] == "1"
    (revision,) = cluster.get(f"{apps}/controllerrevisions").ok()["items"]
    assert revision["metadata"]["name"] == f"w-{labels['controller-revision-hash']}"


@pytest.mark.parametrize(
    ("action", "code", "end"),
    [
        pytest.param("FailJob", 3, {"FailureTarget": "PodFailurePolicy"}, id="fails the job"),
        pytest.param("Ignore", 3, {}, id="is ignored"),
    ],
)
def test_a_failure_policy_decides(
    cluster: Cluster, batch: str, core: str, action: str, code: int, end: dict[str, str]
) -> None:
    rule = {"action": action, "onExitCodes": {"operator": "In", "values": [code]}}
    cluster.post(f"{batch}/jobs", a_job(podFailurePolicy={"rules": [rule]})).ok()
    (pod,) = cluster.until(f"{core}/pods", count(1))["items"]

    fail(cluster, core, pod["metadata"]["name"], code)

    def decided(job: Object) -> bool:
        failed = job["status"].get("failed", 0)
        return end.items() <= conditions(job).items() and failed == (1 if end else 0)

    def replaced(found: Object) -> bool:
        return any("job-tracking" not in str(one["metadata"].get("finalizers"))
                   for one in found["items"])  # fmt: skip

    cluster.until(f"{core}/pods", replaced)
    job = cluster.until(f"{batch}/jobs/j", decided)
    if end:
        message = next(
            one["message"] for one in job["status"]["conditions"] if one["type"] == "FailureTarget"
        )
        name = pod["metadata"]["name"]
        space = pod["metadata"]["namespace"]
        assert message == (
            f"Container c for pod {space}/{name} failed with exit code 3 "
            "matching FailJob rule at index 0"
        )


def test_a_failed_pod_is_not_replaced_at_once(cluster: Cluster, batch: str, core: str) -> None:
    cluster.post(f"{batch}/jobs", a_job()).ok()
    (pod,) = cluster.until(f"{core}/pods", count(1))["items"]

    tell(cluster, core, pod["metadata"]["name"], {"phase": "Failed"})
    cluster.until(f"{batch}/jobs/j", lambda job: job["status"].get("failed") == 1)

    assert len(cluster.get(f"{core}/pods").ok()["items"]) == 1


def test_a_success_policy_ends_a_job_early(cluster: Cluster, batch: str, core: str) -> None:
    policy = {"rules": [{"succeededIndexes": "1"}]}
    body = a_job(completions=3, parallelism=3, completionMode="Indexed", successPolicy=policy)
    cluster.post(f"{batch}/jobs", body).ok()
    found = cluster.until(f"{core}/pods", count(3))
    key = "batch.kubernetes.io/job-completion-index"
    (second,) = (one for one in found["items"] if one["metadata"]["labels"][key] == "1")

    tell(cluster, core, second["metadata"]["name"], {"phase": "Succeeded"})

    job = cluster.until(f"{batch}/jobs/j", lambda one: "SuccessCriteriaMet" in conditions(one))
    assert conditions(job)["SuccessCriteriaMet"] == "SuccessPolicy"
    cluster.until(f"{core}/pods", lambda one: len(living(one)) <= 1)


def test_the_index_stands_in_the_environment(cluster: Cluster, batch: str, core: str) -> None:
    cluster.post(f"{batch}/jobs", a_job(completions=1, completionMode="Indexed")).ok()

    (pod,) = cluster.until(f"{core}/pods", count(1))["items"]

    (variable,) = pod["spec"]["containers"][0]["env"]
    assert variable["name"] == "JOB_COMPLETION_INDEX"
    field = variable["valueFrom"]["fieldRef"]["fieldPath"]
    assert field == "metadata.labels['batch.kubernetes.io/job-completion-index']"
    assert pod["spec"]["hostname"] == "j-0"


def a_cron_job(**spec: object) -> Object:
    return {
        "metadata": metadata("cj"),
        "spec": {
            "schedule": "@every 1s",
            "jobTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": a_job()["spec"]},
            **spec,
        },
    }


def test_a_cron_job_starts_a_job(cluster: Cluster, batch: str, core: str) -> None:
    cluster.post(f"{batch}/cronjobs", a_cron_job()).ok()

    found = cluster.until(f"{batch}/jobs", lambda one: one["items"])

    job = found["items"][0]
    assert owned_by(job, "CronJob", "cj")
    assert job["metadata"]["labels"]["a"] == "b"
    assert "batch.kubernetes.io/cronjob-scheduled-timestamp" in job["metadata"]["annotations"]
    path = f"{batch}/cronjobs/cj"
    cron_job = cluster.until(path, lambda one: one["status"].get("active"))
    assert cron_job["status"]["active"][0]["name"] == job["metadata"]["name"]
    assert "lastScheduleTime" in cron_job["status"]
    told = ("SuccessfulCreate", f"Created job {job['metadata']['name']}")
    assert told in messages(cluster, core, "CronJob")


def test_a_suspended_cron_job_starts_nothing(cluster: Cluster, batch: str) -> None:
    cluster.post(f"{batch}/cronjobs", a_cron_job(suspend=True)).ok()
    cluster.post(f"{batch}/cronjobs", {**a_cron_job(), "metadata": metadata("other")}).ok()

    found = cluster.until(f"{batch}/jobs", lambda one: one["items"])

    assert all(owned_by(one, "CronJob", "other") for one in found["items"])


def test_an_autoscaler_says_what_it_could_not_find_out(
    cluster: Cluster, namespace: str, apps: str
) -> None:
    cluster.post(f"{apps}/deployments", a_workload("Deployment", replicas=2)).ok()
    body = {
        "metadata": metadata("h"),
        "spec": {
            "maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "w"},
        },
    }
    path = f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers"
    cluster.post(path, body).ok()

    found = cluster.until(f"{path}/h", lambda one: len(states(one)) == 2)

    assert states(found) == {
        "AbleToScale": ("True", "SucceededGetScale"),
        "ScalingActive": ("False", "FailedGetResourceMetric"),
    }
    assert found["status"]["currentReplicas"] == 2


def states(obj: Object) -> dict[str, tuple[str, str]]:
    found = (obj.get("status") or {}).get("conditions") or ()
    return {one["type"]: (one["status"], one["reason"]) for one in found}
