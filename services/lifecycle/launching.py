"""`Launcher`: joins claims that ask to be launched into batches, and asks the provider once each.

Laws:
- Before the provider is called every member carries the batch's id; whoever carries it is in the
  call. So a call that is repeated after a crash is the same call.
- Claims that ask while a batch forms share it if the provider is to be asked for the same.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any, TypeVar

from libs.domain.errors import JoinerError, NotFound, NotReady, StaleRevision
from libs.domain.provider import (
    Instance,
    LaunchFailure,
    LaunchFailureKind,
    LaunchSpec,
)
from libs.kube.objects.karpenter import NodeClaim
from services.lifecycle.access import Access
from services.lifecycle.adapters.providers import Served
from services.lifecycle.core import launch
from services.lifecycle.core.claim_writes import metadata_patch
from services.lifecycle.core.launch import BATCH_ANNOTATION
from services.lifecycle.core.node_classes import domain_class
from services.lifecycle.core.step import Step

logger = logging.getLogger(__name__)

_WINDOW = timedelta(milliseconds=20)
"""How long a batch waits for more claims of the same plan."""
_LARGEST = 100

Outcome = Instance | LaunchFailure

T = TypeVar("T")


class Launcher:
    """Launches claims; each caller waits for its own claim's outcome."""

    def __init__(self, access: Access, new_id: Callable[[], str]) -> None:
        self._cache = access.cache
        self._providers = access.providers
        self._writer = access.writer
        self._clock = access.clock
        self._new_id = new_id
        self._forming: list[_Forming] = []
        self._calls: dict[str, asyncio.Future[dict[str, Outcome]]] = {}
        self._group: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """Be ready to launch, until cancelled; batches and calls live in here."""
        self._forming, self._calls = [], {}
        try:
            async with asyncio.TaskGroup() as self._group:
                await asyncio.Event().wait()
        finally:
            self._group = None

    async def launch(self, claim: NodeClaim) -> Outcome:
        """Return what became of a claim's launch, by this call or an earlier one.

        Raises:
            Unavailable: it is not known what became of it; ask again.
            StaleRevision: the claim changed meanwhile; look again.
        """
        wrong = launch.illegible(claim)
        if wrong is not None:
            return wrong
        served = self._providers.served(claim.spec.node_class_ref.group)
        node_class = self._cache.node_class(served.resource, claim.spec.node_class_ref.name)
        if node_class is None:
            return LaunchFailure(
                kind=LaunchFailureKind.NODE_CLASS_NOT_READY, message="the node class does not exist"
            )
        spec = launch.spec_of(claim, domain_class(node_class))
        batch_id = claim.metadata.annotations.get(BATCH_ANNOTATION)
        if batch_id is None:
            batch_id = await self._join(claim, spec)
        outcomes = await self._call_once(batch_id, spec, served)
        try:
            return outcomes[claim.metadata.name]
        except KeyError:
            raise StaleRevision(f'nodeclaim "{claim.metadata.name}" left its batch') from None

    async def _join(self, claim: NodeClaim, spec: LaunchSpec) -> str:
        """Put a claim into a batch and return the batch's id once every member carries it."""
        forming = next(
            (
                one
                for one in self._forming
                if len(one.claims) < _LARGEST and launch.same_launch(one.spec, spec)
            ),
            None,
        )
        if forming is None:
            forming = _Forming(self._new_id(), spec)
            self._forming.append(forming)
            forming.closed = self._start(self._close(forming), f"batch {forming.batch_id}")
        forming.claims.append(claim)
        assert forming.closed is not None
        await asyncio.shield(forming.closed)
        return forming.batch_id

    async def _close(self, forming: "_Forming") -> None:
        """Wait for more members, then mark each; one that changed meanwhile stays outside."""
        await self._clock.sleep(_WINDOW)
        self._forming.remove(forming)
        for claim in forming.claims:
            mark = metadata_patch(claim, {"annotations": {BATCH_ANNOTATION: forming.batch_id}})
            try:
                await self._writer.carry_out(Step(writes=(mark,)))
            except (StaleRevision, NotFound) as error:
                logger.debug("claim left out of a batch", extra={"error": str(error)})

    async def _call_once(
        self, batch_id: str, spec: LaunchSpec, served: Served
    ) -> dict[str, Outcome]:
        """Join the call of a batch that is under way, or begin it."""
        call = self._calls.get(batch_id)
        if call is None:
            call = self._start(self._call(batch_id, spec, served), f"launch {batch_id}")
            self._calls[batch_id] = call
            call.add_done_callback(lambda _: self._calls.pop(batch_id, None))
        return await asyncio.shield(call)

    async def _call(self, batch_id: str, spec: LaunchSpec, served: Served) -> dict[str, Outcome]:
        members = tuple(
            claim
            for claim in self._cache.claims()
            if claim.metadata.annotations.get(BATCH_ANNOTATION) == batch_id
        )
        if not members:
            raise StaleRevision(f'launch batch "{batch_id}" has no members')
        outcomes = await served.provider.create(launch.batch(batch_id, spec, members))
        logger.info(
            "launched", extra={"batch": batch_id, "nodeclaims": [one.nodeclaim for one in outcomes]}
        )
        return {one.nodeclaim: one.result for one in outcomes}

    def _start(self, work: Coroutine[Any, Any, T], name: str) -> "asyncio.Future[T]":
        """Run work that several callers wait for; its failure is theirs, not the group's."""
        if self._group is None:
            work.close()
            raise NotReady("launching has not begun")
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        task = self._group.create_task(_settle(done, work), name=name)
        task.add_done_callback(lambda _: work.close())  # cancelled before its first step
        return done


async def _settle(done: "asyncio.Future[T]", work: Awaitable[T]) -> None:
    try:
        done.set_result(await work)
    except (JoinerError, TimeoutError) as error:
        done.set_exception(error)
        done.exception()  # marks it as seen: those who waited may have been cancelled
    finally:
        done.cancel()


class _Forming:
    """A batch that still takes members."""

    def __init__(self, batch_id: str, spec: LaunchSpec) -> None:
        self.batch_id = batch_id
        self.spec = spec
        self.claims: list[NodeClaim] = []
        self.closed: asyncio.Future[None] | None = None
