"""Quotas and limit ranges: what is counted, what is filled in, what is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.cluster import Answer, Cluster
from tests.conformance.objects import Object, a_config_map, metadata
from tests.conformance.targets import CONTROLLERS

pytestmark = pytest.mark.needs(CONTROLLERS)

Quota = Callable[..., None]


def a_pod(name: str, *, init: list[Object] | None = None, **spec: Any) -> Object:
    """Return a pod that nobody schedules; `requests` and `limits` are its container's."""
    sides = {side: spec.pop(side) for side in ("requests", "limits") if side in spec}
    container = {"name": "c", "image": "i", "resources": sides}
    pod = {
        "schedulerName": "nobody",
        "containers": [container],
        "initContainers": init or [],
        **spec,
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": pod}


@pytest.fixture
def place(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}"


@pytest.fixture
def quota(cluster: Cluster, place: str) -> Quota:
    """Make a quota and wait until it is counted."""

    def made(hard: dict[str, str], **spec: Any) -> None:
        body = {"metadata": metadata("q"), "spec": {"hard": hard, **spec}}
        cluster.post(f"{place}/resourcequotas", body).ok()
        cluster.until(f"{place}/resourcequotas/q", lambda one: one.get("status", {}).get("used"))

    return made


def used(cluster: Cluster, place: str, expected: dict[str, str]) -> None:
    def holds(one: Object) -> bool:
        return bool(expected.items() <= one["status"]["used"].items())

    cluster.until(f"{place}/resourcequotas/q", holds)


def is_forbidden(answer: Answer, why: str) -> bool:
    return (answer.status, answer.message.partition("is forbidden: ")[2]) == (403, why)


def test_a_quota_counts_what_is_there_before(cluster: Cluster, place: str, quota: Quota) -> None:
    cluster.post(f"{place}/pods", a_pod("p", requests={"cpu": "100m", "memory": "1Gi"})).ok()
    quota({"pods": "2", "requests.cpu": "1", "memory": "2Gi", "count/pods": "9", "secrets": "5"})
    compute = {"pods": "1", "requests.cpu": "100m", "memory": "1Gi"}

    used(cluster, place, {**compute, "count/pods": "1", "secrets": "0"})


def test_what_exceeds_a_quota_is_refused(cluster: Cluster, place: str, quota: Quota) -> None:
    quota({"requests.cpu": "1", "requests.memory": "1Gi", "pods": "5"})
    pods = f"{place}/pods"
    cluster.post(pods, a_pod("a", requests={"cpu": "600m", "memory": "600Mi"})).ok()
    used(cluster, place, {"requests.cpu": "600m", "requests.memory": "600Mi", "pods": "1"})
    answer = cluster.post(pods, a_pod("b", requests={"cpu": "500m", "memory": "500Mi"}))

    assert is_forbidden(
        answer,
        "exceeded quota: q, requested: requests.cpu=500m,requests.memory=500Mi, "
        "used: requests.cpu=600m,requests.memory=600Mi, "
        "limited: requests.cpu=1,requests.memory=1Gi",
    ), answer


def test_what_a_quota_counts_must_be_stated(cluster: Cluster, place: str, quota: Quota) -> None:
    quota({"cpu": "1", "limits.memory": "1Gi", "requests.ephemeral-storage": "1Gi"})
    init = [{"name": "a", "image": "i"}]
    answer = cluster.post(f"{place}/pods", a_pod("p", init=init, requests={"cpu": "100m"}))

    assert is_forbidden(answer, "failed quota: q: must specify cpu for: a; limits.memory for: a,c")


def test_what_goes_is_released(cluster: Cluster, place: str, quota: Quota) -> None:
    quota({"pods": "1", "configmaps": "3", "count/secrets": "1"})
    cluster.post(f"{place}/pods", a_pod("p")).ok()
    cluster.post(f"{place}/secrets", {"metadata": metadata("s")}).ok()
    used(cluster, place, {"pods": "1", "count/secrets": "1"})
    cluster.delete(f"{place}/pods/p", gracePeriodSeconds=0)
    cluster.delete(f"{place}/secrets/s")
    used(cluster, place, {"pods": "0", "count/secrets": "0"})

    assert cluster.post(f"{place}/pods", a_pod("p")).status == 201


def test_a_pod_that_ended_takes_nothing_but_is_counted(
    cluster: Cluster, place: str, quota: Quota
) -> None:
    quota({"pods": "1", "count/pods": "2"})
    cluster.post(f"{place}/pods", a_pod("p")).ok()
    cluster.patch(f"{place}/pods/p/status", {"status": {"phase": "Succeeded"}}).ok()

    used(cluster, place, {"pods": "0", "count/pods": "1"})


def test_objects_are_counted_by_their_kind(cluster: Cluster, place: str, quota: Quota) -> None:
    quota({"count/configmaps": "2", "services": "1", "services.nodeports": "1"})
    refusals = [cluster.post(f"{place}/configmaps", a_config_map(f"m{n}")) for n in range(3)]
    ports = [{"port": 1, "name": "a"}, {"port": 2, "name": "b"}]
    service = {"metadata": metadata("s"), "spec": {"type": "NodePort", "ports": ports}}
    answer = cluster.post(f"{place}/services", service)

    assert any(one.status == 403 for one in refusals)
    assert is_forbidden(
        answer,
        "exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0, "
        "limited: services.nodeports=1",
    )


def test_claims_are_counted_by_size_and_class(cluster: Cluster, place: str, quota: Quota) -> None:
    fast = "fast.storageclass.storage.k8s.io/requests.storage"
    quota({"requests.storage": "3Gi", "persistentvolumeclaims": "5", fast: "1Gi"})

    def claim(name: str, size: str, class_: str) -> Answer:
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": class_,
            "resources": {"requests": {"storage": size}},
        }
        body = {"metadata": metadata(name), "spec": spec}
        return cluster.post(f"{place}/persistentvolumeclaims", body)

    claim("a", "2Gi", "slow").ok()
    used(cluster, place, {"requests.storage": "2Gi", "persistentvolumeclaims": "1"})

    assert is_forbidden(
        claim("b", "1536Mi", "fast"),
        f"exceeded quota: q, requested: {fast}=1536Mi,requests.storage=1536Mi, "
        f"used: {fast}=0,requests.storage=2Gi, limited: {fast}=1Gi,requests.storage=3Gi",
    )


PRIORITY = {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}


@pytest.mark.parametrize(
    ("spec", "counted", "free"),
    [
        pytest.param({"scopes": ["BestEffort"]}, {}, {"requests": {"cpu": "1"}}, id="best effort"),
        pytest.param({"scopes": ["NotBestEffort"]}, {"requests": {"cpu": "1"}}, {}, id="another"),
        pytest.param({"scopes": ["Terminating"]}, {"activeDeadlineSeconds": 9}, {}, id="ending"),
        pytest.param({"scopes": ["NotTerminating"]}, {}, {"activeDeadlineSeconds": 9}, id="not"),
        pytest.param(
            {"scopeSelector": {"matchExpressions": [PRIORITY]}},
            {"priorityClassName": "system-node-critical"},
            {},
            id="priority",
        ),
    ],
)
def test_a_scope_says_which_pods_are_counted(
    cluster: Cluster, place: str, quota: Quota, spec: Object, counted: Object, free: Object
) -> None:
    quota({"pods": "0"}, **spec)

    assert cluster.post(f"{place}/pods", a_pod("free", **free)).status == 201
    assert cluster.post(f"{place}/pods", a_pod("counted", **counted)).status == 403


def limits(cluster: Cluster, place: str, entry: Object) -> None:
    body = {"metadata": metadata("l"), "spec": {"limits": [entry]}}
    cluster.post(f"{place}/limitranges", body).ok()


def create_when_known(cluster: Cluster, path: str, body: Object) -> Answer:
    """Create until admission knows of a limit range that was just made."""
    for _ in range(100):
        answer = cluster.post(path, body, dryRun="All")
        if answer.status == 403 or answer.ok()["metadata"].get("annotations"):
            return answer
    raise AssertionError("nothing was refused or filled in")


def test_defaults_are_filled_in_and_told(cluster: Cluster, place: str) -> None:
    defaults = {"default": {"cpu": "2"}, "defaultRequest": {"cpu": "1", "memory": "1Gi"}}
    limits(cluster, place, {"type": "Container", **defaults})
    init = [{"name": "i", "image": "i"}]
    pod = a_pod("p", init=init, requests={"memory": "2Gi"})
    found = create_when_known(cluster, f"{place}/pods", pod).ok()

    assert found["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "2"},
        "requests": {"cpu": "1", "memory": "2Gi"},
    }
    assert found["metadata"]["annotations"] == {
        "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container c; cpu "
        "limit for container c; cpu, memory request for init container i; cpu limit for init "
        "container i"
    }


@pytest.mark.parametrize(
    ("entry", "pod", "why"),
    [
        pytest.param(
            {"type": "Container", "min": {"cpu": "1"}},
            {"requests": {"cpu": "500m"}},
            "minimum cpu usage per Container is 1, but request is 500m",
            id="minimum",
        ),
        pytest.param(
            {"type": "Container", "max": {"memory": "1Gi"}},
            {"limits": {"memory": "2Gi"}},
            "maximum memory usage per Container is 1Gi, but limit is 2Gi",
            id="maximum",
        ),
        pytest.param(
            {"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "100m"}, "limits": {"cpu": "300m"}},
            "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
            id="ratio",
        ),
        pytest.param(
            {"type": "Pod", "max": {"cpu": "1"}},
            {"limits": {"cpu": "2"}},
            "maximum cpu usage per Pod is 1, but limit is 2",
            id="pod",
        ),
        pytest.param(
            {"type": "Pod", "min": {"cpu": "1"}},
            {},
            "minimum cpu usage per Pod is 1.  No request is specified",
            id="pod without requests",
        ),
        pytest.param(
            {"type": "Pod", "maxLimitRequestRatio": {"memory": "2"}},
            {"requests": {"memory": "1Gi"}},
            "memory max limit to request ratio per Pod is 2, but no limit is specified or limit "
            "is 0",
            id="pod ratio without limit",
        ),
    ],
)
def test_what_is_out_of_bounds_is_refused(
    cluster: Cluster, place: str, entry: Object, pod: Object, why: str
) -> None:
    limits(cluster, place, entry)

    assert is_forbidden(create_when_known(cluster, f"{place}/pods", a_pod("p", **pod)), why)


def test_claims_have_bounds(cluster: Cluster, place: str) -> None:
    bounds = {"min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}}
    limits(cluster, place, {"type": "PersistentVolumeClaim", **bounds})

    def claim(size: str) -> Object:
        resources = {"requests": {"storage": size}}
        spec = {"accessModes": ["ReadWriteOnce"], "resources": resources}
        return {"metadata": metadata("c"), "spec": spec}

    path = f"{place}/persistentvolumeclaims"
    assert is_forbidden(
        create_when_known(cluster, path, claim("3Gi")),
        "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi",
    )
    assert is_forbidden(
        cluster.post(path, claim("1Mi")),
        "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi",
    )
