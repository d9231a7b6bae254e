from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.domain.pod import HostPort
from libs.kube.convert.requests import host_ports, pod_requests
from tests.unit.libs.kube.manifests import a_container, pod


def _init(cpu: str, **more: Any) -> dict[str, Any]:
    return a_container(cpu, **more)


def _sidecar(cpu: str) -> dict[str, Any]:
    return a_container(cpu, restartPolicy="Always")


def _limits(**amounts: str) -> dict[str, Any]:
    return {"name": "c", "resources": {"limits": amounts}}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        pytest.param({"containers": [a_container("1"), a_container("250m")]}, 1250, id="sum"),
        pytest.param({"containers": [a_container(2)]}, 2000, id="a bare number"),
        pytest.param(
            {"containers": [a_container("0.0004"), a_container("0.0004")]},
            1,
            id="rounded up once, at the end",
        ),
        pytest.param({"containers": [_limits(cpu="2")]}, 2000, id="a limit is a missing request"),
        pytest.param(
            {"containers": [a_container("1")], "initContainers": [_init("3"), _init("2")]},
            3000,
            id="the largest init container",
        ),
        pytest.param(
            {"containers": [a_container("1")], "initContainers": [_init("3"), _sidecar("1")]},
            3000,
            id="an init container before the sidecar runs without it",
        ),
        pytest.param(
            {"containers": [a_container("1")], "initContainers": [_sidecar("1"), _init("3")]},
            4000,
            id="an init container after the sidecar runs beside it",
        ),
        pytest.param(
            {"containers": [a_container("1")], "initContainers": [_sidecar("1")]},
            2000,
            id="a sidecar runs beside the containers",
        ),
        pytest.param(
            {"containers": [a_container("1")], "overhead": {"cpu": "2"}}, 3000, id="overhead"
        ),
        pytest.param(
            {"containers": [a_container("1")], "resources": {"requests": {"cpu": "3"}}},
            3000,
            id="requests of the pod replace the sum",
        ),
        pytest.param(
            {"containers": [a_container("1")], "resources": {"limits": {"cpu": "3"}}},
            1000,
            id="a limit of the pod does not replace requests of containers",
        ),
        pytest.param(
            {"containers": [a_container()], "resources": {"limits": {"cpu": "3"}}},
            3000,
            id="a limit of the pod replaces no requests",
        ),
    ],
)
def test_cpu_of_a_pending_pod(spec: dict[str, Any], cpu: int) -> None:
    assert pod_requests(pod(**spec)).get("cpu") == cpu


def test_a_pod_takes_one_of_pods_and_only_resources_that_a_scheduler_compares() -> None:
    asked = {"memory": "1Gi", "nvidia.com/gpu": 2, "hugepages-2Mi": "2Mi", "strange": 1, "cpu": 0}

    found = pod_requests(pod(containers=[{"name": "c", "resources": {"requests": asked}}]))

    assert dict(found.items()) == {
        "hugepages-2Mi": 2 * 2**20,
        "memory": 2**30,
        "nvidia.com/gpu": 2,
        "pods": 1,
    }


@pytest.mark.parametrize(
    ("node", "conditions", "cpu"),
    [
        pytest.param("n", [], 3000, id="the largest of asked, given and had"),
        pytest.param(
            "n",
            [{"type": "PodResizePending", "reason": "Infeasible"}],
            2000,
            id="infeasible: what it has",
        ),
        pytest.param(
            "n",
            [{"type": "PodResizePending", "reason": "Deferred"}],
            3000,
            id="deferred: what it asks for still counts",
        ),
        pytest.param("", [], 3000, id="a pending pod has nothing"),
    ],
)
def test_a_pod_that_is_resized(node: str, conditions: list[Any], cpu: int) -> None:
    statuses = [
        {
            "name": "main",
            "resources": {"requests": {"cpu": "1"}},
            "allocatedResources": {"cpu": "2"},
        }
    ]
    status = {"containerStatuses": statuses, "conditions": conditions}

    found = pod_requests(pod(containers=[a_container("3")], nodeName=node, status=status))

    assert found.get("cpu") == cpu


@pytest.mark.parametrize(
    ("node", "reason", "cpu"),
    [
        pytest.param("n", "Deferred", 3000, id="the largest of asked, given and had"),
        pytest.param("n", "Infeasible", 2000, id="infeasible: what it has"),
        pytest.param("", "Infeasible", 3000, id="a pending pod has nothing"),
    ],
)
def test_a_pod_whose_own_resources_are_resized(node: str, reason: str, cpu: int) -> None:
    status = {
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
        "allocatedResources": {"cpu": "2"},
        "conditions": [{"type": "PodResizePending", "reason": reason}],
    }
    asked = {"requests": {"cpu": "3"}}

    found = pod_requests(
        pod(containers=[a_container("1")], resources=asked, nodeName=node, status=status)
    )

    assert (found.get("cpu"), found.get("memory")) == (cpu, 0)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        pytest.param(
            {"containers": [a_container("-1")]},
            "spec.containers[0].resources.requests.cpu",
            id="negative",
        ),
        pytest.param(
            {"initContainers": [a_container("1x")]},
            "spec.initContainers[0].resources.requests.cpu",
            id="no quantity",
        ),
        pytest.param({"overhead": {"cpu": "-1"}}, "spec.overhead.cpu", id="overhead"),
        pytest.param(
            {"containers": [{"name": "c", "resources": {"requests": {"a b": 1}}}]},
            "spec.containers[0].resources.requests",
            id="no resource name",
        ),
    ],
)
def test_bad_requests_name_their_field(spec: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        pod_requests(pod(**spec))

    assert caught.value.field == field


def _port(number: int, **more: Any) -> dict[str, Any]:
    return {"name": "c", "ports": [{"containerPort": number, **more}]}


@pytest.mark.parametrize(
    ("spec", "ports"),
    [
        pytest.param({"containers": [_port(80)]}, [], id="a container port takes nothing"),
        pytest.param(
            {"containers": [_port(80, hostPort=8080)]}, [("0.0.0.0", "TCP", 8080)], id="host port"
        ),
        pytest.param(
            {"containers": [_port(80, hostPort=80, hostIP="::", protocol="UDP")]},
            [("::", "UDP", 80)],
            id="the unspecified IPv6 address, which kube-scheduler takes for one like others",
        ),
        pytest.param(
            {"containers": [_port(80, hostPort=80, hostIP="10.0.0.1")]},
            [("10.0.0.1", "TCP", 80)],
            id="one address",
        ),
        pytest.param(
            {"containers": [_port(80)], "hostNetwork": True},
            [("0.0.0.0", "TCP", 80)],
            id="host network",
        ),
        pytest.param(
            {"initContainers": [{**_port(80, hostPort=80), "restartPolicy": "Always"}]},
            [("0.0.0.0", "TCP", 80)],
            id="a sidecar's",
        ),
        pytest.param(
            {"initContainers": [_port(80, hostPort=80)]}, [], id="not an init container's"
        ),
    ],
)
def test_host_ports(spec: dict[str, Any], ports: list[tuple[str, str, int]]) -> None:
    found = host_ports(pod(**spec).spec)

    assert found == tuple(HostPort(ip=ip, protocol=name, port=port) for ip, name, port in ports)


def test_a_protocol_that_there_is_not_is_refused_by_field() -> None:
    with pytest.raises(InvalidRequest, match="'QUIC' is no protocol") as refused:
        host_ports(pod(containers=[_port(80, protocol="QUIC")]).spec)

    assert refused.value.field == "spec.containers[0].ports[0].protocol"


def test_a_port_beyond_the_last_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="70000 is not a port"):
        host_ports(pod(containers=[_port(80, hostPort=70000)]).spec)
