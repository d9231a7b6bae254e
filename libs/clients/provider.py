"""A cloud, asked over gRPC."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import grpc
from joiner.provider.v1 import provider_pb2 as pb
from joiner.provider.v1 import provider_pb2_grpc

from libs.clients.call import seconds
from libs.domain.provider import (
    Capabilities,
    Instance,
    InstanceTypeListing,
    LaunchBatch,
    LaunchOutcome,
    NodeClass,
    ProviderEvent,
    ResolvedNodeClass,
)
from libs.wire.launch import (
    decode_instance,
    decode_instances,
    decode_launch_outcomes,
    encode_launch_batch,
)
from libs.wire.node_class import encode_node_class
from libs.wire.provider import (
    decode_capabilities,
    decode_instance_type_listing,
    decode_provider_event,
    decode_resolved_node_class,
)


class ProviderClient:
    """Asks one provider.

    Every method raises NotReady (the node class is not ready), InvalidRequest, Forbidden,
    Unavailable; every call may be repeated.
    """

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = provider_pb2_grpc.CloudProviderServiceStub(channel)

    async def get_capabilities(self) -> Capabilities:
        """Return what the provider is."""
        return decode_capabilities(await self._stub.GetCapabilities(pb.GetCapabilitiesRequest()))

    async def resolve_node_class(self, node_class: NodeClass) -> ResolvedNodeClass:
        """Turn a class as the user wrote it into its status."""
        request = pb.ResolveNodeClassRequest(node_class=encode_node_class(node_class))
        return decode_resolved_node_class(await self._stub.ResolveNodeClass(request))

    async def release_node_class(self, node_class: NodeClass) -> None:
        """Free what resolving the class made in the cloud; twice is success."""
        request = pb.ReleaseNodeClassRequest(node_class=encode_node_class(node_class))
        await self._stub.ReleaseNodeClass(request)

    async def list_instance_types(
        self, node_class: NodeClass, *, if_none_match: str = ""
    ) -> InstanceTypeListing:
        """List all types of a class; `if_none_match` is the etag of the last answer."""
        request = pb.ListInstanceTypesRequest(
            node_class=encode_node_class(node_class), if_none_match=if_none_match
        )
        return decode_instance_type_listing(await self._stub.ListInstanceTypes(request))

    async def create(
        self, batch: LaunchBatch, *, deadline: timedelta | None = None
    ) -> tuple[LaunchOutcome, ...]:
        """Launch one instance per claim; return one outcome per claim, sorted by claim."""
        response = await self._stub.Create(encode_launch_batch(batch), timeout=seconds(deadline))
        return decode_launch_outcomes(response)

    async def delete(self, provider_id: str, *, nodeclaim: str = "") -> None:
        """Ask for an instance's end; repeat until NotFound.

        Raises:
            NotFound: it is gone, which is success.
        """
        await self._stub.Delete(pb.DeleteRequest(provider_id=provider_id, nodeclaim=nodeclaim))

    async def get(self, provider_id: str) -> Instance:
        """Read one instance.

        Raises:
            NotFound: it is gone.
        """
        response = await self._stub.Get(pb.GetRequest(provider_id=provider_id))
        return decode_instance(response.instance)

    async def list(self) -> tuple[Instance, ...]:
        """Read all instances of this cluster, sorted by provider id; complete or an error."""
        return decode_instances(await self._stub.List(pb.ListRequest()))

    async def is_drifted(
        self, provider_id: str, node_class: NodeClass, *, drift_hash: str = ""
    ) -> str:
        """Return why an instance is not what its class describes; empty where it is.

        Args:
            provider_id: the instance.
            node_class: its class now.
            drift_hash: of the class when it was launched.

        Raises:
            NotFound: it is gone.
        """
        request = pb.IsDriftedRequest(
            provider_id=provider_id, node_class=encode_node_class(node_class), hash=drift_hash
        )
        return (await self._stub.IsDrifted(request)).reason

    @asynccontextmanager
    async def watch_events(self) -> AsyncIterator["EventStream"]:
        """Open a stream of what the cloud is about to do to instances; closed on leaving.

        Raises:
            Unsupported: the cloud gives no notice (by the first event).
        """
        call: Any = self._stub.WatchEvents()
        try:
            await call.write(pb.WatchEventsRequest())
            yield EventStream(call)
        finally:
            call.cancel()


class EventStream:
    """Events, at least once: whatever is not acknowledged comes again."""

    def __init__(self, call: Any) -> None:
        self._call = call

    async def __aiter__(self) -> AsyncIterator[ProviderEvent]:
        while (message := await self._call.read()) is not grpc.aio.EOF:
            yield decode_provider_event(message)

    async def acknowledge(self, *event_ids: str) -> None:
        """Say that events are recorded, so that the provider may forget them."""
        await self._call.write(pb.WatchEventsRequest(acknowledged=event_ids))
