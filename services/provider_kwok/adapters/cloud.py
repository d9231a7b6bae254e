"""`KwokCloud`: a cloud whose instances are Node objects of one API server.

A node appears at once, or after its class's registration delay. A delay that a crash cut short is
taken up again by `resume`, from the NodeClaims that were launched and have no node yet: nothing is
kept in memory alone.
"""

import asyncio
import hashlib
import json
import logging
from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from libs.domain import duration
from libs.domain.capacity import InstanceType
from libs.domain.errors import AlreadyExists, InvalidRequest, JoinerError, NotFound, Unsupported
from libs.domain.nodeclaim import ConditionStatus
from libs.domain.provider import (
    Capabilities,
    ClaimLaunch,
    Instance,
    InstanceTypeListing,
    LaunchBatch,
    LaunchFailure,
    LaunchFailureKind,
    LaunchOutcome,
    NodeClass,
    NodeClassCondition,
    ProviderEvent,
    RepairPolicy,
    ResolvedNodeClass,
)
from libs.kube.api import NODE_CLAIMS, NODES, KubeApi
from libs.runtime.clock import Clock
from services.provider_kwok.core import node as nodes
from services.provider_kwok.core.choosing import Choice, choose

logger = logging.getLogger(__name__)

GROUP = "karpenter.kwok.sh"
KIND = "KWOKNodeClass"
_HASH_VERSION = "v1"
_TOLERATED = timedelta(minutes=10)


class KwokCloud:
    """Keeps the laws of `libs.providerkit.port.CloudProvider`."""

    def __init__(
        self,
        api: KubeApi,
        clock: Clock,
        instance_types: tuple[InstanceType, ...],
        well_known_keys: tuple[str, ...],
    ) -> None:
        self._api = api
        self._clock = clock
        self._types = {kind.name: kind for kind in instance_types}
        self._well_known = frozenset(well_known_keys)
        self._etag = hashlib.sha256(repr(instance_types).encode()).hexdigest()[:16]
        self._delayed: set[asyncio.Task[None]] = set()

    def capabilities(self) -> Capabilities:
        """Return what KWOK is."""
        ready_policies = tuple(
            RepairPolicy(condition_type="Ready", condition_status=state, toleration=_TOLERATED)
            for state in (ConditionStatus.FALSE, ConditionStatus.UNKNOWN)
        )
        return Capabilities(
            name="kwok",
            group=GROUP,
            kind=KIND,
            versions=("v1alpha1",),
            well_known_keys=tuple(sorted(self._well_known)),
            restricted_domains=(GROUP,),
            repair_policies=ready_policies,
        )

    async def resolve_node_class(self, node_class: NodeClass) -> ResolvedNodeClass:
        """Return a ready class, unless its delay cannot be read."""
        text = json.dumps(dict(node_class.spec), sort_keys=True)
        ready = NodeClassCondition(type="Ready", status=ConditionStatus.TRUE, reason="Ready")
        try:
            _delay(node_class)
        except InvalidRequest as error:
            ready = NodeClassCondition(
                type="Ready",
                status=ConditionStatus.FALSE,
                reason="SpecInvalid",
                message=str(error),
            )
        return ResolvedNodeClass(
            conditions=(ready,),
            hash=hashlib.sha256(text.encode()).hexdigest()[:16],
            hash_version=_HASH_VERSION,
        )

    async def release_node_class(self, node_class: NodeClass) -> None:
        """Do nothing: a class makes nothing in this cloud."""

    async def list_instance_types(
        self, node_class: NodeClass, if_none_match: str
    ) -> InstanceTypeListing:
        """Return the catalogue, the same for every class."""
        if if_none_match == self._etag:
            return InstanceTypeListing(etag=self._etag, not_modified=True)
        types = tuple(self._types[name] for name in sorted(self._types))
        return InstanceTypeListing(etag=self._etag, instance_types=types)

    async def create(self, batch: LaunchBatch) -> tuple[LaunchOutcome, ...]:
        """Create one Node per claim; a Node that is there already is the claim's own."""
        return tuple([await self._outcome(batch, claim) for claim in batch.claims])

    async def delete(self, provider_id: str, nodeclaim: str) -> None:
        """Delete the Node; raises NotFound once it is gone or on its way."""
        node = await self._read(provider_id)
        if node is None or "deletionTimestamp" in node["metadata"]:
            raise NotFound(f'instance "{provider_id}" does not exist')
        await self._api.request("DELETE", NODES.path(name=node["metadata"]["name"]))

    async def get(self, provider_id: str) -> Instance:
        """Return the instance of a Node that is not being deleted."""
        node = await self._read(provider_id)
        if node is None or "deletionTimestamp" in node["metadata"]:
            raise NotFound(f'instance "{provider_id}" does not exist')
        return nodes.instance(node, self._clock.now())

    async def list(self) -> tuple[Instance, ...]:
        """Return the instances of all Nodes whose provider id is ours."""
        listed = json.loads(await self._api.request("GET", NODES.path()))
        ours = (
            nodes.instance(node, self._clock.now())
            for node in listed["items"]
            if node.get("spec", {}).get("providerID", "").startswith(nodes.PREFIX)
        )
        return tuple(sorted(ours, key=lambda one: one.provider_id))

    async def is_drifted(self, provider_id: str, node_class: NodeClass, launch_hash: str) -> str:
        """Return nothing: KWOK instances never drift."""
        await self.get(provider_id)
        return ""

    def watch_events(
        self, acknowledged: AsyncIterator[tuple[str, ...]]
    ) -> AsyncIterator[ProviderEvent]:
        """Refuse: KWOK gives no notice of anything."""
        raise Unsupported("the kwok provider has no events")

    async def resume(self) -> None:
        """Create the nodes of launched claims that an earlier process did not come to create."""
        listed = json.loads(await self._api.request("GET", NODE_CLAIMS.path()))
        existing = {one.provider_id for one in await self.list()}
        for claim in listed["items"]:
            if nodes.awaits_node(claim) and claim["status"]["providerID"] not in existing:
                self._create_later(timedelta(0), nodes.manifest_of_claim(claim))

    async def _outcome(self, batch: LaunchBatch, claim: ClaimLaunch) -> LaunchOutcome:
        choice = choose(batch.spec, claim.uid, self._types, self._well_known)
        if isinstance(choice, LaunchFailure):
            return LaunchOutcome(nodeclaim=claim.name, result=choice)
        try:
            wait = _delay(batch.spec.node_class)
        except InvalidRequest as error:
            failure = LaunchFailure(kind=LaunchFailureKind.NODE_CLASS_NOT_READY, message=str(error))
            return LaunchOutcome(nodeclaim=claim.name, result=failure)
        manifest = nodes.manifest(claim, batch.spec, choice)
        if wait > timedelta(0):
            self._create_later(wait, manifest)
        else:
            await self._create_node(manifest)
        return LaunchOutcome(
            nodeclaim=claim.name,
            result=_launched(batch, claim, choice, self._clock.now()),
        )

    def _create_later(self, wait: timedelta, manifest: dict[str, Any]) -> None:
        async def create() -> None:
            await self._clock.sleep(wait)
            try:
                await self._create_node(manifest)
            except JoinerError as error:
                logger.warning(
                    "delayed node could not be created",
                    extra={"node": manifest["metadata"]["name"], "error": str(error)},
                )

        task = asyncio.create_task(create(), name=f"register {manifest['metadata']['name']}")
        self._delayed.add(task)
        task.add_done_callback(self._delayed.discard)

    async def _create_node(self, manifest: dict[str, Any]) -> None:
        """Create the Node; it may be there already."""
        try:
            await self._api.request("POST", NODES.path(), body=json.dumps(manifest).encode())
        except AlreadyExists:
            logger.debug("node exists", extra={"node": manifest["metadata"]["name"]})

    async def _read(self, provider_id: str) -> Mapping[str, Any] | None:
        name = provider_id.removeprefix(nodes.PREFIX)
        if name == provider_id or not name:
            raise InvalidRequest(f'"{provider_id}" is not {nodes.PREFIX}…', field="provider_id")
        try:
            found: Mapping[str, Any] = json.loads(
                await self._api.request("GET", NODES.path(name=name))
            )
        except NotFound:
            return None
        return found


def _delay(node_class: NodeClass) -> timedelta:
    text = node_class.spec.get("nodeRegistrationDelay", "0s")
    try:
        return duration.parse_plain(str(text))
    except InvalidRequest as error:
        raise error.under("spec.nodeRegistrationDelay") from None


def _launched(batch: LaunchBatch, claim: ClaimLaunch, choice: Choice, now: datetime) -> Instance:
    manifest = nodes.manifest(claim, batch.spec, choice)
    return Instance(
        provider_id=manifest["spec"]["providerID"],
        nodeclaim=claim.name,
        nodeclaim_uid=claim.uid,
        labels=tuple(sorted(manifest["metadata"]["labels"].items())),
        annotations=tuple(sorted(nodes.FAKE.items())),
        capacity=nodes.capacity(batch.spec, choice),
        allocatable=nodes.allocatable(batch.spec, choice),
        launched_at=now,
    )
