"""The official Python client, synchronous and asynchronous, and kubectl as a process."""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import kubernetes.aio.client
import kubernetes.aio.config
import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.objects import a_config_map, a_pod, a_workload, metadata


def test_the_official_client_creates_patches_lists_and_deletes(
    cluster: Cluster, namespace: str
) -> None:
    core = kubernetes.client.CoreV1Api(cluster.official)
    made = core.create_namespaced_pod(namespace, a_pod("p"))
    core.patch_namespaced_pod("p", namespace, {"metadata": {"labels": {"c": "d"}}})
    listed = core.list_namespaced_pod(namespace, label_selector="app=a")
    core.delete_namespaced_pod("p", namespace, grace_period_seconds=0)

    assert made.status.phase == "Pending"
    assert listed.items[0].metadata.labels == {"app": "a", "c": "d"}
    with pytest.raises(kubernetes.client.ApiException) as missing:
        core.read_namespaced_pod("p", namespace)
    assert missing.value.status == 404


def test_the_official_client_watches(cluster: Cluster, namespace: str) -> None:
    core = kubernetes.client.CoreV1Api(cluster.official)
    core.create_namespaced_config_map(namespace, a_config_map("m"))
    watch = kubernetes.watch.Watch()

    events = [
        (event["type"], event["object"].metadata.name)
        for event in watch.stream(
            core.list_namespaced_config_map,
            namespace,
            field_selector="metadata.name=m",
            timeout_seconds=1,
        )
    ]

    assert events == [("ADDED", "m")]


def test_the_official_client_scales_and_evicts(cluster: Cluster, namespace: str) -> None:
    apps = kubernetes.client.AppsV1Api(cluster.official)
    core = kubernetes.client.CoreV1Api(cluster.official)
    apps.create_namespaced_deployment(namespace, a_workload("Deployment", replicas=0))
    apps.patch_namespaced_deployment_scale("w", namespace, {"spec": {"replicas": 1}})
    core.create_namespaced_pod(namespace, a_pod("p"))
    eviction = kubernetes.client.V1Eviction(metadata={"name": "p"})
    core.create_namespaced_pod_eviction("p", namespace, eviction)

    assert apps.read_namespaced_deployment_scale("w", namespace).spec.replicas == 1


def test_the_asynchronous_client_works(cluster: Cluster, namespace: str) -> None:
    async def use() -> list[str]:
        configuration = kubernetes.aio.client.Configuration()
        await kubernetes.aio.config.load_kube_config(
            str(cluster.target.kubeconfig), client_configuration=configuration
        )
        async with kubernetes.aio.client.ApiClient(configuration) as client:
            core = kubernetes.aio.client.CoreV1Api(client)
            await core.create_namespaced_config_map(namespace, a_config_map("m"))
            found = await core.list_namespaced_config_map(namespace)
            return [item.metadata.name for item in found.items]

    assert "m" in asyncio.run(use())


Kubectl = Callable[..., str]


@pytest.fixture
def kubectl(cluster: Cluster, namespace: str, tmp_path: Path) -> Kubectl:
    assets = os.environ.get("KUBEBUILDER_ASSETS", "")
    program = shutil.which("kubectl", path=os.pathsep.join((os.environ["PATH"], assets)))
    if program is None:
        pytest.skip("there is no kubectl on PATH or in KUBEBUILDER_ASSETS")

    def run(*arguments: str, given: object = None) -> str:
        place = [f"--kubeconfig={cluster.target.kubeconfig}", f"--namespace={namespace}"]
        ended = subprocess.run(
            [program, *place, *arguments],
            env={**os.environ, "HOME": str(tmp_path)},
            input=None if given is None else json.dumps(given),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    return run


def test_kubectl_creates_gets_and_deletes(kubectl: Kubectl) -> None:
    assert kubectl("create", "-f", "-", given=a_config_map("m")) == "configmap/m created\n"
    assert kubectl("get", "configmap", "m", "-o", "jsonpath={.data.a}") == "1"
    assert "m      1" in kubectl("get", "configmaps", "m")
    assert "Name:         m" in kubectl("describe", "configmap", "m")
    assert kubectl("delete", "configmap", "m").startswith('configmap "m" deleted')


def test_kubectl_applies_on_both_sides(kubectl: Kubectl) -> None:
    body = a_config_map("m")
    assert kubectl("apply", "-f", "-", given=body) == "configmap/m created\n"
    assert kubectl("apply", "-f", "-", given=body) == "configmap/m unchanged\n"
    changed = a_config_map("m", a="2")
    assert kubectl("apply", "-f", "-", given=changed) == "configmap/m configured\n"
    server_side = a_config_map("n")
    assert kubectl("apply", "--server-side", "-f", "-", given=server_side) == (
        "configmap/n serverside-applied\n"
    )


@pytest.mark.differs("OpenAPI v2 is served as JSON only")
def test_kubectl_creates_a_list(kubectl: Kubectl) -> None:
    items = [a_config_map("m"), a_config_map("n")]
    both = {"apiVersion": "v1", "kind": "List", "items": items}

    made = kubectl("create", "-f", "-", given=both)

    assert made == "configmap/m created\nconfigmap/n created\n"


def test_kubectl_scales_sets_and_rolls(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", given=a_workload("Deployment", replicas=0))

    assert kubectl("scale", "deployment/w", "--replicas=1") == "deployment.apps/w scaled\n"
    assert "image updated" in kubectl("set", "image", "deployment/w", "c=other:1")
    assert "restarted" in kubectl("rollout", "restart", "deployment/w")
    assert "patched" in kubectl("patch", "deployment", "w", "-p", '{"spec":{"paused":true}}')
    assert "labeled" in kubectl("label", "deployment", "w", "x=y")


def test_kubectl_waits_for_a_condition(cluster: Cluster, namespace: str, kubectl: Kubectl) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    cluster.post(pods, a_pod("p")).ok()
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    cluster.patch(f"{pods}/p/status", {"status": ready}).ok()

    assert kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=5s") == (
        "pod/p condition met\n"
    )


def test_kubectl_cordons_and_drains(
    cluster: Cluster,
    namespace: str,
    kubectl: Kubectl,
    unique: Callable[[str], str],
    create: Callable[[str, dict[str, object]], object],
) -> None:
    name = unique("n")
    create("/api/v1/nodes", {"metadata": metadata(name)})
    pods = f"/api/v1/namespaces/{namespace}/pods"
    cluster.post(pods, a_pod("p", terminationGracePeriodSeconds=0, nodeName=name)).ok()

    assert kubectl("cordon", name) == f"node/{name} cordoned\n"
    assert "evicting pod" in kubectl("drain", name, "--force", "--timeout=20s", "--grace-period=0")
    assert cluster.get(f"/api/v1/nodes/{name}").ok()["spec"]["unschedulable"]
    cluster.until_gone(f"{pods}/p")


def test_kubectl_explains(kubectl: Kubectl) -> None:
    text = kubectl("explain", "pod.spec.containers.image")

    assert "FIELD: image <string>" in text


def test_kubectl_knows_what_it_may(kubectl: Kubectl) -> None:
    assert kubectl("auth", "can-i", "create", "pods") == "yes\n"


def test_kubectl_lists_the_resources(kubectl: Kubectl) -> None:
    listed = kubectl("api-resources", "--no-headers", "-o", "name").split()

    assert {
        "pods",
        "deployments.apps",
        "nodes",
        "customresourcedefinitions.apiextensions.k8s.io",
    } < (set(listed))


def test_kubectl_shows_its_version_and_the_servers(kubectl: Kubectl) -> None:
    versions = json.loads(kubectl("version", "-o", "json"))

    assert versions["serverVersion"]["major"] == "1"


def test_kubectl_asks_what_one_may(
    kubectl: Kubectl, namespace: str, unique: Callable[[str], str]
) -> None:
    user = unique("user")
    kubectl("create", "role", "r", "--verb=list", "--resource=pods")
    kubectl("create", "rolebinding", "r", "--role=r", f"--user={user}")

    assert "pods" in kubectl("auth", "can-i", "--list", "--as", user)
    assert kubectl("auth", "can-i", "list", "pods", "--as", user) == "yes\n"
    assert user in kubectl("auth", "whoami", "--as", user)


def test_kubectl_makes_tokens(cluster: Cluster, kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "robot")
    token = kubectl("create", "token", "robot", "--duration=10m").strip()
    answer = cluster.send("GET", "/apis", headers={"Authorization": f"Bearer {token}"})

    assert token
    assert answer.status == 200
