"""What the demonstration runs is what it promises, and the API takes it."""

from collections.abc import Callable

import pytest

from cli.run import cluster, shop
from cli.run.workload import Kind, Workload, manifests
from libs.kube.crd_files import read_crds
from services.simulator.core.api.plugins.admission import ALL_PLUGINS
from tests.unit.services.simulator.cluster import Cluster

RESOURCES = {
    "Namespace": "namespaces",
    "StorageClass": "storageclasses.storage.k8s.io",
    "KWOKNodeClass": "kwoknodeclasses.karpenter.kwok.sh",
    "NodePool": "nodepools.karpenter.sh",
    "PodDisruptionBudget": "poddisruptionbudgets.policy",
    "Deployment": "deployments.apps",
    "StatefulSet": "statefulsets.apps",
    "DaemonSet": "daemonsets.apps",
}


def test_there_are_five_hundred_pods_that_can_run() -> None:
    assert sum(one.replicas for one in shop.WORKLOADS if one.placeable) >= 500


@pytest.mark.parametrize(
    ("fits", "least"),
    [
        pytest.param(lambda one: one.kind is not Kind.DAEMON_SET, 30, id="workloads"),
        pytest.param(lambda one: one.zone_spread, 5, id="spread over zones"),
        pytest.param(lambda one: one.one_per_node, 3, id="one per node"),
        pytest.param(lambda one: bool(one.volume), 2, id="zonal volumes"),
        pytest.param(lambda one: bool(one.max_unavailable), 2, id="disruption budgets"),
        pytest.param(lambda one: bool(one.gpus), 3, id="GPUs"),
        pytest.param(lambda one: bool(one.pool_label), 2, id="taints"),
        pytest.param(lambda one: one.arch == "arm64", 2, id="arm64 only"),
        pytest.param(lambda one: one.kind is Kind.DAEMON_SET, 4, id="DaemonSets"),
        pytest.param(lambda one: one.peak > one.replicas, 2, id="load that rises"),
        pytest.param(lambda one: not one.placeable, 1, id="nothing can place it"),
    ],
)
def test_every_kind_of_workload_is_there(fits: Callable[[Workload], bool], least: int) -> None:
    assert sum(map(fits, shop.WORKLOADS)) >= least


def test_names_are_unique_because_pods_are_counted_by_them() -> None:
    names = [one.name for one in shop.WORKLOADS]
    assert sorted(set(names)) == sorted(names)


def test_what_shrinks_has_no_rule_that_shrinking_may_break() -> None:
    """kube-scheduler evens out no spread when pods go, so the checker would refuse the state."""
    assert not [one.name for one in shop.WORKLOADS if one.peak and one.zone_spread]


def test_the_api_takes_every_object() -> None:
    server = Cluster(plugins=ALL_PLUGINS).server
    for crd in read_crds().values():
        server.direct.create("customresourcedefinitions.apiextensions.k8s.io", crd)
    objects = [*cluster.read_manifests(), *map(cluster.namespace, shop.NAMESPACES)]
    objects += [found for one in shop.WORKLOADS for found in manifests(one)]

    created = [server.direct.create(RESOURCES[one["kind"]], one) for one in objects if _is_new(one)]

    assert len(created) > len(shop.WORKLOADS)


def _is_new(manifest: dict[str, object]) -> bool:
    metadata = manifest["metadata"]
    assert isinstance(metadata, dict)
    return str(metadata["name"]) != "kube-system"


def test_a_workload_without_specialities_is_a_plain_deployment() -> None:
    (deployment,) = manifests(Workload("web", 3, "250m", "1Gi", namespace="shop"))

    assert deployment["kind"] == "Deployment"
    assert deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["template"]["spec"] == {
        "terminationGracePeriodSeconds": 5,
        "containers": [
            {
                "name": "main",
                "image": "demo.joiner.io/web:1",
                "resources": {
                    "requests": {"cpu": "250m", "memory": "1Gi"},
                    "limits": {"memory": "1Gi"},
                },
            }
        ],
    }
