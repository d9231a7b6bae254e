"""A provider whose catalogue of one class makes no sense: the pools of others go on buying.

The watcher asks a provider that passes the KWOK provider's answers on, but spoils the catalogue of
the class `broken`, which the heaviest pool uses.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import grpc
import pytest
from joiner.provider.v1 import provider_pb2 as pb
from joiner.provider.v1 import provider_pb2_grpc

from libs.domain.errors import InvalidRequest, NotReady, Unavailable
from libs.runtime.app import App, Runtime
from libs.runtime.virtual import run_virtual
from tests.integration.story import NODES, scale_down, scale_up
from tests.support.cluster import GROUP, SETTINGS, Cluster, a_cluster
from tests.support.objects import CLAIMS, CLASSES, POOLS, a_class, a_pool

Spoil = Callable[[pb.ListInstanceTypesResponse], None]

SPOILT = "spoilt:1"


class SpoilingProvider(provider_pb2_grpc.CloudProviderServiceServicer):
    """Asked for capabilities and catalogues only."""

    def __init__(self, honest: Any, spoil: Spoil) -> None:
        self._honest = honest
        self.spoil: Spoil | None = spoil

    async def GetCapabilities(  # noqa: N802  # gRPC names the method
        self, request: pb.GetCapabilitiesRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.GetCapabilitiesResponse:
        answer: pb.GetCapabilitiesResponse = await self._honest.GetCapabilities(request)
        return answer

    async def ListInstanceTypes(  # noqa: N802  # gRPC names the method
        self, request: pb.ListInstanceTypesRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.ListInstanceTypesResponse:
        answer: pb.ListInstanceTypesResponse = await self._honest.ListInstanceTypes(request)
        if request.node_class.ref.name == "broken" and self.spoil is not None:
            self.spoil(answer)
        return answer


def negative_price(answer: pb.ListInstanceTypesResponse) -> None:
    answer.instance_types[0].offerings[0].price_nanos_per_hour = -1


def no_name(answer: pb.ListInstanceTypesResponse) -> None:
    answer.instance_types[0].name = ""


def no_zone(answer: pb.ListInstanceTypesResponse) -> None:
    answer.instance_types[0].offerings[0].zone = ""


def twice_the_same(answer: pb.ListInstanceTypesResponse) -> None:
    answer.instance_types.append(answer.instance_types[0])


def negative_capacity(answer: pb.ListInstanceTypesResponse) -> None:
    answer.instance_types[0].capacity.amounts[0].amount = -1


def nothing_for_sale(answer: pb.ListInstanceTypesResponse) -> None:
    answer.etag = "nothing"
    del answer.instance_types[:]


def no_etag(answer: pb.ListInstanceTypesResponse) -> None:
    answer.etag = ""


def refuses(error: Exception) -> Spoil:
    def raise_it(_answer: pb.ListInstanceTypesResponse) -> None:
        raise error

    return raise_it


@pytest.mark.parametrize(
    "spoil",
    [
        negative_price,
        no_name,
        no_zone,
        twice_the_same,
        negative_capacity,
        nothing_for_sale,
        no_etag,
        pytest.param(refuses(InvalidRequest("no")), id="bad request"),
        pytest.param(refuses(NotReady("not yet")), id="not ready"),
        pytest.param(refuses(Unavailable("down")), id="unavailable"),
        pytest.param(refuses(ZeroDivisionError()), id="internal error"),
    ],
)
def test_a_broken_catalogue_stops_its_own_pools_only(spoil: Spoil) -> None:
    async def scenario(cluster: Cluster, provider: SpoilingProvider) -> None:
        cluster.api.create(CLASSES, a_class("broken"))
        cluster.api.create(POOLS, a_pool("broken", node_class="broken", weight=100))
        cluster.add_pool()

        await scale_up(cluster)
        assert pools(cluster) == ["default"] * NODES
        await scale_down(cluster)

        provider.spoil = None
        await cluster.passed(120)
        await scale_up(cluster)
        assert pools(cluster) == ["broken"] * NODES

    with_spoilt(spoil, scenario)


def pools(cluster: Cluster) -> list[str]:
    return [one["metadata"]["labels"]["karpenter.sh/nodepool"] for one in cluster.all(CLAIMS)]


def with_spoilt(
    spoil: Spoil, scenario: Callable[[Cluster, SpoilingProvider], Awaitable[None]]
) -> None:
    async def run() -> None:
        async with a_cluster() as cluster:
            honest = cluster.world.network.seen_by("spoilt").channel("provider_kwok-1:1")
            provider = SpoilingProvider(provider_pb2_grpc.CloudProviderServiceStub(honest), spoil)  # type: ignore[abstract]  # asked two things
            add = provider_pb2_grpc.add_CloudProviderServiceServicer_to_server

            def build(_settings: None, _runtime: Runtime) -> App:
                return App(servicers=(partial(add, provider),))

            cluster.settings["watcher"] = replace(SETTINGS["watcher"], providers={GROUP: SPOILT})
            await cluster.world.start("spoilt", build, None, SPOILT)
            await cluster.start_all()
            await scenario(cluster, provider)

    run_virtual(run(), limit=timedelta(hours=1))
