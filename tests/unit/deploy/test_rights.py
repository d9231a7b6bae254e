import pytest

from tests.support.rights import rights_of
from tests.unit.deploy.manifests import everything

LEASES = "/apis/coordination.k8s.io/v1/namespaces/joiner-system/leases"
CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"


@pytest.mark.parametrize(
    ("service", "method", "path", "query", "permitted"),
    [
        ("watcher", "GET", "/api/v1/pods", "", True),
        ("watcher", "GET", "/api/v1/pods", "watch=true", True),
        ("watcher", "GET", "/api/v1/secrets", "", False),
        ("watcher", "PATCH", "/api/v1/nodes/n", "", False),
        ("watcher", "POST", LEASES, "", True),
        ("watcher", "PUT", f"{LEASES}/joiner-watcher", "", True),
        ("watcher", "PUT", f"{LEASES}/joiner-lifecycle", "", False),
        ("watcher", "GET", "/apis/coordination.k8s.io/v1/leases", "", False),
        (
            "watcher",
            "GET",
            "/apis/coordination.k8s.io/v1/leases",
            "fieldSelector=metadata.name=karpenter-leader-election",
            True,
        ),
        ("lifecycle", "POST", CLAIMS, "", True),
        ("lifecycle", "PATCH", f"{CLAIMS}/c/status", "", True),
        ("lifecycle", "POST", "/api/v1/namespaces/default/pods/p/eviction", "", True),
        ("lifecycle", "POST", "/api/v1/namespaces/default/events", "", True),
        ("lifecycle", "POST", "/api/v1/namespaces/default/pods", "", False),
        ("lifecycle", "DELETE", "/api/v1/nodes", "", False),
        ("lifecycle", "PATCH", "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses/d", "", True),
        ("provider-kwok", "POST", "/api/v1/nodes", "", True),
        ("provider-kwok", "DELETE", "/api/v1/namespaces/default/pods/p", "", False),
        ("disruption", "GET", "/api/v1/nodes", "", False),
        ("solver", "GET", "/api/v1/namespaces", "", False),
        ("solver", "GET", "/version", "", True),
    ],
)
def test_who_may_do_what(service: str, method: str, path: str, query: str, permitted: bool) -> None:
    name, _, value = query.partition("=")
    rights = rights_of(f"joiner-{service}", everything())

    assert rights.permit(method, path, {name: value} if name else {}) is permitted
