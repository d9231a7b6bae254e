"""Objects that nobody should have stored: each stops only itself, and its status or an event says
what is wrong and where.

The API refuses most of them, so they are put beneath it, as an older API server or a CRD that was
changed since would have left them.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from services.simulator.core.api.frozen import thaw
from tests.integration.story import in_a_cluster, scale_down, scale_up
from tests.support.cluster import Cluster
from tests.support.objects import CLAIMS, CLASSES, POOLS, Object, a_class, a_pool

Spoil = Callable[[Object], None]

_LIVENESS = timedelta(minutes=6)
"""A claim that is never launched counts as capacity on its way for five minutes."""


def affinity(operator: str) -> Spoil:
    term = {"matchExpressions": [{"key": "a", "operator": operator, "values": ["b"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return lambda pod: pod["spec"].update({"affinity": {"nodeAffinity": required}})


def requests(**quantities: str) -> Spoil:
    return lambda pod: pod["spec"]["containers"][0]["resources"].update({"requests": quantities})


@pytest.mark.parametrize(
    ("spoil", "field"),
    [
        pytest.param(affinity("Near"), "operator", id="unknown operator"),
        pytest.param(requests(cpu="-1"), "requests.cpu", id="negative request"),
        pytest.param(
            lambda pod: pod["spec"].update(
                tolerations=[{"key": "a", "operator": "Perhaps", "value": "b"}]
            ),
            "tolerations",
            id="unknown operator of a toleration",
        ),
        pytest.param(
            lambda pod: pod["spec"].update(
                topologySpreadConstraints=[
                    {"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}
                ]
            ),
            "maxSkew",
            id="no skew",
        ),
    ],
)
def test_a_broken_pod_is_told_why_and_others_run(spoil: Spoil, field: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        cluster.add_pool()
        cluster.api.create("pods", a_pod("broken"), "default")
        put_beneath(cluster, "pods", "broken", spoil)
        cluster.scale("web", 4)

        await cluster.until(lambda: running(cluster) == 4 and cluster.is_settled())
        await cluster.passed(30)

        assert len(cluster.history().claims) == 2
        told = [one["message"] for one in events_of(cluster, "broken")]
        assert any(field in message for message in told), told

    in_a_cluster(scenario)


@pytest.mark.parametrize(
    ("spoil", "field"),
    [
        pytest.param(
            lambda pool: pool["spec"]["template"]["spec"]["requirements"].append(
                {"key": "a", "operator": "Near", "values": ["b"]}
            ),
            "requirements",
            id="unknown operator",
        ),
        pytest.param(
            lambda pool: pool["spec"].update(limits={"cpu": "-5"}), "limits", id="negative limit"
        ),
        pytest.param(
            lambda pool: pool["spec"]["template"]["spec"].update(
                taints=[{"key": "a", "effect": "Perhaps"}]
            ),
            "taints",
            id="unknown effect",
        ),
    ],
)
def test_a_broken_pool_says_what_is_wrong_and_others_buy(spoil: Spoil, field: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        cluster.add_pool("broken")
        put_beneath(cluster, POOLS, "broken", spoil)
        cluster.add_pool()

        await scale_up(cluster)

        assert condition(cluster, POOLS, "broken", "Ready")["status"] == "False"
        assert field in condition(cluster, POOLS, "broken", "ValidationSucceeded")["message"]
        await scale_down(cluster)

    in_a_cluster(scenario)


def test_a_pool_without_its_class_waits_for_it() -> None:
    async def scenario(cluster: Cluster) -> None:
        cluster.api.create(POOLS, a_pool("orphan", node_class="nowhere"))
        cluster.scale("web", 4)
        await cluster.passed(30)

        said = condition(cluster, POOLS, "orphan", "NodeClassReady")
        assert said["status"] == "False"
        assert condition(cluster, POOLS, "orphan", "Ready")["status"] == "False"
        assert cluster.all("nodes") == []

        cluster.api.create(CLASSES, a_class("nowhere"))
        await cluster.until(lambda: cluster.run(4) and cluster.is_settled())
        assert condition(cluster, POOLS, "orphan", "Ready")["status"] == "True"

    in_a_cluster(scenario)


def test_a_pool_without_its_class_hinders_no_other() -> None:
    async def scenario(cluster: Cluster) -> None:
        cluster.api.create(POOLS, a_pool("orphan", node_class="nowhere", weight=100))
        cluster.add_pool()

        await scale_up(cluster)
        await scale_down(cluster)

    in_a_cluster(scenario)


@pytest.mark.parametrize(
    ("kind", "namespace", "document", "spoil"),
    [
        pytest.param(
            POOLS,
            "",
            a_pool("broken"),
            lambda pool: pool["spec"].update(template="none"),
            id="pool that cannot be read at all",
        ),
        pytest.param(
            CLAIMS,
            "",
            {
                "apiVersion": "karpenter.sh/v1",
                "kind": "NodeClaim",
                "metadata": {"name": "broken", "labels": {"karpenter.sh/nodepool": "default"}},
                "spec": {
                    "nodeClassRef": a_pool()["spec"]["template"]["spec"]["nodeClassRef"],
                    "requirements": a_pool()["spec"]["template"]["spec"]["requirements"],
                },
            },
            lambda claim: claim["spec"]["requirements"].append(
                {"key": "a", "operator": "Near", "values": ["b"]}
            ),
            id="claim with an unknown operator",
        ),
        pytest.param(
            "nodes",
            "",
            {"metadata": {"name": "broken"}, "status": {"capacity": {"cpu": "1"}}},
            lambda node: node["status"].update(allocatable={"cpu": "some"}),
            id="node of unknown size",
        ),
        pytest.param(
            "poddisruptionbudgets.policy",
            "default",
            {
                "metadata": {"name": "broken"},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
            },
            lambda budget: budget["spec"].update(
                selector={"matchExpressions": [{"key": "app", "operator": "Near"}]}
            ),
            id="budget with an unknown operator",
        ),
        pytest.param(
            "daemonsets.apps",
            "default",
            {
                "metadata": {"name": "broken"},
                "spec": {
                    "selector": {"matchLabels": {"app": "daemon"}},
                    "template": {
                        "metadata": {"labels": {"app": "daemon"}},
                        "spec": {
                            "containers": [{"name": "c", "image": "i"}],
                            "nodeSelector": {"only": "there"},
                        },
                    },
                },
            },
            lambda daemons: daemons["spec"]["template"]["spec"]["containers"][0].update(
                resources={"requests": {"cpu": "-1"}}
            ),
            id="daemon set with negative requests",
        ),
        pytest.param(
            "persistentvolumeclaims",
            "default",
            {
                "metadata": {"name": "broken"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            },
            lambda claim: claim["spec"].update(resources={"requests": {"storage": "much"}}),
            id="volume claim of unknown size",
        ),
    ],
)
def test_another_broken_object_hinders_nobody(
    kind: str, namespace: str, document: Object, spoil: Spoil
) -> None:
    async def scenario(cluster: Cluster) -> None:
        cluster.add_pool()
        cluster.api.create(kind, document, namespace)
        put_beneath(cluster, kind, "broken", spoil)
        cluster.scale("web", 4)

        await cluster.until(lambda: running(cluster) == 4, within=_LIVENESS)
        cluster.scale("web", 0)
        await cluster.until(lambda: names(cluster, CLAIMS) <= {"broken"})

    in_a_cluster(scenario)


def put_beneath(cluster: Cluster, kind: str, name: str, spoil: Spoil) -> None:
    """Change a stored object without asking the API."""
    storage = cluster.server.store.storage
    versions = storage.scan(kind)
    (version,) = (one for one in versions if one.object["metadata"]["name"] == name)
    changed: Any = thaw(version.object)
    spoil(changed)
    storage.write(kind, version.key, changed)


def events_of(cluster: Cluster, name: str) -> list[Object]:
    """Return what Joiner said about an object."""
    return [
        one
        for one in cluster.all("events")
        if one["involvedObject"]["name"] == name and one["source"].get("component") == "joiner"
    ]


def condition(cluster: Cluster, kind: str, name: str, type_: str) -> Object:
    found = cluster.api.get(kind, name).get("status", {}).get("conditions") or ()
    return next((dict(one) for one in found if one["type"] == type_), {"status": "", "message": ""})


def running(cluster: Cluster) -> int:
    pods = cluster.all("pods")
    return sum(
        pod["status"].get("phase") == "Running" and pod["metadata"]["name"].startswith("web")
        for pod in pods
    )


def names(cluster: Cluster, kind: str) -> set[str]:
    return {one["metadata"]["name"] for one in cluster.all(kind)}


def a_pod(name: str) -> Object:
    resources = {"requests": {"cpu": "500m"}}
    containers = [{"name": "c", "image": "i", "resources": resources}]
    return {"metadata": {"name": name}, "spec": {"containers": containers}}
