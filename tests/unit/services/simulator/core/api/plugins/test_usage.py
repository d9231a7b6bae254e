"""What objects use of what quotas count."""

from datetime import UTC, datetime
from typing import Any

import pytest

from services.simulator.core.api.plugins.totals import pod_totals
from services.simulator.core.api.plugins.usage import is_counted, usage_of
from tests.unit.services.simulator.cluster import Cluster

NOW = datetime(2030, 1, 1, tzinfo=UTC)
RESOURCES = Cluster().server.store.resources


def asking(cpu: str, **more: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": {"cpu": cpu}, **more.pop("sides", {})}, **more}


def a_pod(*containers: dict[str, Any], **more: Any) -> dict[str, Any]:
    meta = {"name": "p", "namespace": "n", **more.pop("meta", {})}
    status = {"phase": more.pop("phase", "Pending")}
    return {"metadata": meta, "spec": {"containers": list(containers), **more}, "status": status}


def usage(name: str, obj: dict[str, Any]) -> dict[str, str]:
    resource = RESOURCES.named(name)
    assert resource is not None
    return usage_of(resource, obj, NOW)


@pytest.mark.parametrize(
    ("init", "total"),
    [
        pytest.param([], "300m", id="none"),
        pytest.param([asking("1")], "1", id="start is larger"),
        pytest.param([asking("100m")], "300m", id="start is smaller"),
        pytest.param([asking("1", restartPolicy="Always")], "1300m", id="sidecar"),
        pytest.param(
            [asking("500m", restartPolicy="Always"), asking("1")], "1500m", id="start by a sidecar"
        ),
    ],
)
def test_a_pod_asks_for_its_containers_or_its_start(init: list[dict[str, Any]], total: str) -> None:
    pod = a_pod(asking("100m"), asking("200m"), initContainers=init)

    assert pod_totals(pod["spec"], "requests") == {"cpu": total}


def test_what_a_pod_says_of_itself_holds() -> None:
    pod = a_pod(asking("100m"), resources={"requests": {"cpu": "2", "example.com/x": "1"}})

    assert pod_totals(pod["spec"], "requests") == {"cpu": "2"}


def test_a_pod_uses_requests_under_both_names_and_its_overhead() -> None:
    sides = {
        "requests": {"cpu": "1", "example.com/gpu": "2", "hugepages-2Mi": "4Mi"},
        "limits": {"cpu": "2"},
    }
    pod = a_pod({"name": "c", "resources": sides}, overhead={"cpu": "100m"})

    assert usage("pods", pod) == {
        "count/pods": "1",
        "pods": "1",
        "cpu": "1100m",
        "requests.cpu": "1100m",
        "requests.example.com/gpu": "2",
        "hugepages-2Mi": "4Mi",
        "requests.hugepages-2Mi": "4Mi",
        "limits.cpu": "2100m",
    }


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(a_pod(asking("1"), phase="Failed"), id="ended"),
        pytest.param(
            a_pod(
                asking("1"),
                meta={
                    "deletionTimestamp": "2029-12-31T23:59:00Z",
                    "deletionGracePeriodSeconds": 30,
                },
            ),
            id="should have ended",
        ),
    ],
)
def test_a_pod_that_is_over_is_only_counted(pod: dict[str, Any]) -> None:
    assert usage("pods", pod) == {"count/pods": "1"}


def test_a_load_balancer_without_node_ports_uses_those_it_names() -> None:
    ports = [{"port": 1}, {"port": 2, "nodePort": 30000}]
    spec = {"type": "LoadBalancer", "ports": ports, "allocateLoadBalancerNodePorts": False}

    assert usage("services", {"metadata": {}, "spec": spec}) == {
        "count/services": "1",
        "services": "1",
        "services.nodeports": "1",
        "services.loadbalancers": "1",
    }


def test_devices_are_counted_by_class() -> None:
    requests = [
        {"name": "a", "exactly": {"deviceClassName": "gpu", "count": 2}},
        {"name": "b", "exactly": {"deviceClassName": "gpu"}},
    ]
    claim = {"metadata": {}, "spec": {"devices": {"requests": requests}}}

    assert usage("resourceclaims.resource.k8s.io", claim)[
        "gpu.deviceclass.resource.k8s.io/devices"
    ] == ("3")


@pytest.mark.parametrize(
    ("scope", "spec", "counted"),
    [
        ({"operator": "Exists"}, {"priorityClassName": "x"}, True),
        ({"operator": "Exists"}, {}, False),
        ({"operator": "DoesNotExist"}, {}, True),
        ({"operator": "In", "values": ["x", "y"]}, {"priorityClassName": "x"}, True),
        ({"operator": "NotIn", "values": ["x"]}, {"priorityClassName": "x"}, False),
        ({"operator": "NotIn", "values": ["x"]}, {}, True),
    ],
)
def test_a_scope_of_priorities_selects_pods(
    scope: dict[str, Any], spec: dict[str, Any], counted: bool
) -> None:
    expression = {"scopeName": "PriorityClass", **scope}
    quota = {"spec": {"scopeSelector": {"matchExpressions": [expression]}}}
    pods = RESOURCES.named("pods")
    assert pods is not None

    assert is_counted(quota, pods, a_pod(**spec)) is counted


def test_a_scope_of_affinity_selects_pods_that_look_elsewhere() -> None:
    quota, pods = {"spec": {"scopes": ["CrossNamespacePodAffinity"]}}, RESOURCES.named("pods")
    assert pods is not None
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    near, far = ({required: [{"topologyKey": "z", **more}]} for more in ({}, {"namespaces": ["a"]}))

    assert is_counted(quota, pods, a_pod(affinity={"podAffinity": far}))
    assert not is_counted(quota, pods, a_pod(affinity={"podAffinity": near}))


def test_a_quota_with_scopes_counts_pods_alone() -> None:
    maps = RESOURCES.named("configmaps")
    assert maps is not None

    assert not is_counted({"spec": {"scopes": ["BestEffort"]}}, maps, {"metadata": {}})
    assert is_counted({"spec": {}}, maps, {"metadata": {}})
