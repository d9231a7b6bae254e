"""The gRPC edge of every provider: decode, call the port, encode."""

from collections.abc import AsyncIterator
from typing import Any

from joiner.provider.v1 import provider_pb2 as pb
from joiner.provider.v1 import provider_pb2_grpc

from libs.domain.errors import InvalidRequest
from libs.providerkit.port import CloudProvider
from libs.wire.launch import (
    decode_launch_batch,
    encode_instance,
    encode_instances,
    encode_launch_outcomes,
)
from libs.wire.node_class import decode_node_class
from libs.wire.provider import (
    encode_capabilities,
    encode_instance_type_listing,
    encode_provider_event,
    encode_resolved_node_class,
)

Context = Any


class ProviderServicer(provider_pb2_grpc.CloudProviderServiceServicer):
    """Serves one cloud."""

    def __init__(self, provider: CloudProvider) -> None:
        self._provider = provider

    async def GetCapabilities(
        self, request: pb.GetCapabilitiesRequest, context: Context
    ) -> pb.GetCapabilitiesResponse:
        """Describe the provider."""
        return encode_capabilities(self._provider.capabilities())

    async def ResolveNodeClass(
        self, request: pb.ResolveNodeClassRequest, context: Context
    ) -> pb.ResolveNodeClassResponse:
        """Turn a class as the user wrote it into its status."""
        node_class = decode_node_class(request.node_class)
        return encode_resolved_node_class(await self._provider.resolve_node_class(node_class))

    async def ReleaseNodeClass(
        self, request: pb.ReleaseNodeClassRequest, context: Context
    ) -> pb.ReleaseNodeClassResponse:
        """Free what resolving made."""
        await self._provider.release_node_class(decode_node_class(request.node_class))
        return pb.ReleaseNodeClassResponse()

    async def ListInstanceTypes(
        self, request: pb.ListInstanceTypesRequest, context: Context
    ) -> pb.ListInstanceTypesResponse:
        """List the types of a class."""
        listing = await self._provider.list_instance_types(
            decode_node_class(request.node_class), request.if_none_match
        )
        return encode_instance_type_listing(listing)

    async def Create(self, request: pb.CreateRequest, context: Context) -> pb.CreateResponse:
        """Launch one instance per claim."""
        return encode_launch_outcomes(await self._provider.create(decode_launch_batch(request)))

    async def Delete(self, request: pb.DeleteRequest, context: Context) -> pb.DeleteResponse:
        """Ask for an instance's end."""
        await self._provider.delete(_provider_id(request.provider_id), request.nodeclaim)
        return pb.DeleteResponse()

    async def Get(self, request: pb.GetRequest, context: Context) -> pb.GetResponse:
        """Read one instance."""
        instance = await self._provider.get(_provider_id(request.provider_id))
        return pb.GetResponse(instance=encode_instance(instance))

    async def List(self, request: pb.ListRequest, context: Context) -> pb.ListResponse:
        """Read all instances."""
        return encode_instances(await self._provider.list())

    async def IsDrifted(
        self, request: pb.IsDriftedRequest, context: Context
    ) -> pb.IsDriftedResponse:
        """Say whether an instance still is what its class describes."""
        reason = await self._provider.is_drifted(
            _provider_id(request.provider_id), decode_node_class(request.node_class), request.hash
        )
        return pb.IsDriftedResponse(reason=reason)

    async def WatchEvents(
        self, request_iterator: AsyncIterator[pb.WatchEventsRequest], context: Context
    ) -> AsyncIterator[pb.WatchEventsResponse]:
        """Stream events until they are acknowledged."""
        acknowledged = (tuple(message.acknowledged) async for message in request_iterator)
        async for event in self._provider.watch_events(acknowledged):
            yield encode_provider_event(event)


def _provider_id(text: str) -> str:
    if not text:
        raise InvalidRequest("a provider id is needed", field="provider_id")
    return text
