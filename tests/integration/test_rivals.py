"""A live Karpenter: while it holds its lease Joiner only reports, wherever the lease is."""

from datetime import timedelta

import pytest

from tests.integration.story import in_a_cluster
from tests.support.cluster import Cluster
from tests.support.objects import CLAIMS, Object

LEASES = "leases.coordination.k8s.io"
NAME = "karpenter-leader-election"
_LASTS = 15


@pytest.mark.parametrize("namespace", ["kube-system", "default"])
def test_nothing_is_bought_while_karpenter_lives(namespace: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        cluster.api.create(LEASES, a_lease(cluster, namespace))
        cluster.add_pool()
        cluster.scale("web", 4)

        for _ in range(12):
            await cluster.passed(5)
            renew(cluster, namespace)
            assert cluster.all(CLAIMS) == []
            assert cluster.all("nodes") == []

        await cluster.until(lambda: cluster.run(4) and cluster.is_settled())
        assert len(cluster.all(CLAIMS)) == 2

    in_a_cluster(scenario)


def test_karpenter_that_begins_later_stops_buying_and_removing() -> None:
    async def scenario(cluster: Cluster) -> None:
        cluster.add_pool()
        cluster.scale("web", 4)
        await cluster.until(lambda: cluster.run(4) and cluster.is_settled())
        before = claims(cluster)

        cluster.api.create(LEASES, a_lease(cluster, "kube-system"))
        await cluster.passed(6)
        cluster.scale("web", 0)
        for _ in range(12):
            await cluster.passed(5)
            renew(cluster, "kube-system")
            assert claims(cluster) == before
            assert cluster.marks() == []
        cluster.scale("web", 6)
        for _ in range(12):
            await cluster.passed(5)
            renew(cluster, "kube-system")
            assert claims(cluster) == before

        await cluster.until(lambda: cluster.run(6) and cluster.is_settled())
        assert len(cluster.history().claims) == 3
        cluster.scale("web", 0)
        await cluster.until(cluster.is_empty)

    in_a_cluster(scenario)


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"holderIdentity": ""}, id="released"),
        pytest.param({"renewTime": "2025-12-31T23:00:00.000000Z"}, id="run out an hour ago"),
    ],
)
def test_a_lease_that_nobody_holds_hinders_nobody(spec: Object) -> None:
    async def scenario(cluster: Cluster) -> None:
        lease = a_lease(cluster, "kube-system")
        cluster.api.create(LEASES, {**lease, "spec": {**lease["spec"], **spec}})
        cluster.add_pool()
        cluster.scale("web", 4)

        await cluster.until(lambda: cluster.run(4), within=timedelta(seconds=30))

    in_a_cluster(scenario)


def a_lease(cluster: Cluster, namespace: str) -> Object:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {
            "holderIdentity": "karpenter-5c9",
            "leaseDurationSeconds": _LASTS,
            "renewTime": instant(cluster),
        },
    }


def renew(cluster: Cluster, namespace: str) -> None:
    cluster.api.patch(LEASES, NAME, {"spec": {"renewTime": instant(cluster)}}, namespace)


def instant(cluster: Cluster) -> str:
    return cluster.world.clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def claims(cluster: Cluster) -> list[str]:
    return [one["metadata"]["name"] for one in cluster.all(CLAIMS)]
