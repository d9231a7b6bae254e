from typing import Any

import pytest

from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.plugins.admission import ALL_PLUGINS
from tests.unit.services.simulator.cluster import Cluster, a_pod


def admitting() -> Cluster:
    return Cluster(plugins=ALL_PLUGINS)


def test_a_bound_pod_gets_the_zone_of_its_node() -> None:
    api = admitting().server.direct
    zone = "topology.kubernetes.io/zone"
    api.create("nodes", {"metadata": {"name": "n", "labels": {zone: "a", "other": "x"}}})
    api.create("pods", a_pod("p"))
    api.bind("p", "default", "n")

    assert api.get("pods", "p", "default")["metadata"]["labels"] == {zone: "a"}


def test_a_claim_without_a_class_gets_the_default_one() -> None:
    api = admitting().server.direct
    marked = {"storageclass.kubernetes.io/is-default-class": "true"}
    api.create(
        "storageclasses.storage.k8s.io",
        {"metadata": {"name": "s", "annotations": marked}, "provisioner": "p"},
    )
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"metadata": {"name": "c", "namespace": "default"}, "spec": spec}

    assert api.create("persistentvolumeclaims", claim)["spec"]["storageClassName"] == "s"


def a_limit_range(**entry: Any) -> dict[str, Any]:
    limits = [{"type": "Container", **entry}]
    return {"metadata": {"name": "l", "namespace": "default"}, "spec": {"limits": limits}}


def test_limit_ranges_fill_in_requests_and_limits() -> None:
    api = admitting().server.direct
    api.create("limitranges", a_limit_range(default={"cpu": "1"}, defaultRequest={"cpu": "100m"}))
    (container,) = api.create("pods", a_pod("p"))["spec"]["containers"]

    assert container["resources"] == {"limits": {"cpu": "1"}, "requests": {"cpu": "100m"}}


def test_limit_ranges_refuse_what_is_out_of_bounds() -> None:
    api = admitting().server.direct
    api.create("limitranges", a_limit_range(max={"cpu": "1"}))
    resources = {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}

    with pytest.raises(ApiError, match="maximum cpu usage per Container is 1, but limit is 2"):
        api.create(
            "pods", a_pod("p", containers=[{"name": "c", "image": "i", "resources": resources}])
        )


def test_without_plugins_nothing_is_added() -> None:
    pod = Cluster().server.direct.create("pods", a_pod("p"))

    assert "tolerations" not in pod["spec"]
    assert "priority" not in pod["spec"]


@pytest.mark.parametrize(
    ("resource", "obj", "change", "field"),
    [
        pytest.param(
            "priorityclasses.scheduling.k8s.io", {"value": 1}, {"value": 2}, "value", id="priority"
        ),
        pytest.param(
            "storageclasses.storage.k8s.io",
            {"provisioner": "p"},
            {"provisioner": "q"},
            "provisioner",
            id="storage class",
        ),
        pytest.param(
            "configmaps",
            {"immutable": True, "data": {"k": "v"}},
            {"data": {"k": "w"}},
            "data",
            id="immutable data",
        ),
        pytest.param("secrets", {"type": "a"}, {"type": "b"}, "type", id="type of a secret"),
        pytest.param(
            "nodes",
            {"spec": {"providerID": "a"}},
            {"spec": {"providerID": "b"}},
            "spec.providerID",
            id="provider of a node",
        ),
        pytest.param(
            "pods",
            a_pod(),
            {"spec": {"nodeSelector": {"a": "b"}}},
            "spec",
            id="where a pod may run",
        ),
    ],
)
def test_what_may_not_change_is_refused(
    resource: str, obj: dict[str, Any], change: dict[str, Any], field: str
) -> None:
    api = Cluster().server.direct
    stored = api.create(resource, {**obj, "metadata": {"name": "x"}})
    namespace = stored["metadata"].get("namespace", "")

    with pytest.raises(ApiError) as refused:
        api.patch(resource, "x", change, namespace)
    assert refused.value.code == 422
    assert refused.value.details is not None
    assert refused.value.details["causes"][0]["field"] == field


@pytest.mark.parametrize("name", ["default", "kube-system"])
def test_the_first_namespaces_cannot_be_deleted(name: str) -> None:
    with pytest.raises(ApiError) as refused:
        Cluster().server.direct.delete("namespaces", name)

    assert refused.value.code == 403
