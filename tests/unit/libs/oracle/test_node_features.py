"""Features that kubelets declare, as kube-scheduler 1.36.2 was seen to ask for them."""

import pytest

from libs.oracle.cluster import cluster_from_lists
from libs.oracle.verdict import judge
from tests.unit.libs.oracle.kube import Obj, node, pod

RESTARTS = "RestartAllContainersOnContainerExits"
USERS = "UserNamespacesHostNetworkSupport"


def _container(action: str) -> list[Obj]:
    return [{"name": "c", "restartPolicyRules": [{"action": action}]}]


@pytest.mark.parametrize(
    ("spec", "declared", "feasible"),
    [
        pytest.param({}, [], True, id="nothing is needed"),
        pytest.param(
            {"containers": _container("RestartAllContainers")}, [RESTARTS], True, id="has"
        ),
        pytest.param({"containers": _container("RestartAllContainers")}, [USERS], False, id="not"),
        pytest.param(
            {"initContainers": _container("RestartAllContainers")}, [], False, id="init container"
        ),
        pytest.param({"containers": _container("Restart")}, [], True, id="restarts only itself"),
        pytest.param({"hostNetwork": True, "hostUsers": False}, [], False, id="own users"),
        pytest.param({"hostNetwork": True, "hostUsers": False}, [USERS], True, id="can have them"),
        pytest.param({"hostNetwork": True, "hostUsers": True}, [], True, id="the host's users"),
        pytest.param({"hostNetwork": True}, [], True, id="nothing said of users"),
        pytest.param({"hostUsers": False}, [], True, id="own network"),
    ],
)
def test_a_node_has_to_declare_what_a_pod_needs(
    spec: Obj, declared: list[str], feasible: bool
) -> None:
    there = node("n1")
    there["status"]["declaredFeatures"] = declared

    found = judge(cluster_from_lists({"nodes": [there]}), pod("a", **spec))

    assert bool(found.feasible) is feasible
    plugins = [one.plugin for one in found.rejected.values()]
    assert plugins == ([] if feasible else ["NodeDeclaredFeatures"])
