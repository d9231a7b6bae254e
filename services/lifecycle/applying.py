"""Applies plans: judge the premise, create claims, publish the rest.

A plan that was applied gives the same answer again: from memory, and after a restart from the
claims, whose names follow from the plan.
"""

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass

from libs.domain.errors import AlreadyExists, InvalidRequest, StaleRevision
from libs.domain.execution import ApplyRequest, ApplyResult, CreatedClaim, RefusedClaim
from libs.domain.plan import Plan, PlannedNodeClaim
from libs.domain.resources import NODES, NOTHING, Resources
from libs.kube.convert.nodepool import nodepool_class
from services.lifecycle.access import Access
from services.lifecycle.adapters.cache import Cache
from services.lifecycle.core.admission import (
    refusal_to_create,
    refusal_to_nominate,
    unknown_claims,
)
from services.lifecycle.core.claim_manifest import (
    MIN_VALUES_RELAXED,
    PLAN_ANNOTATION,
    claim_name,
    manifest,
    plan_mark,
)
from services.lifecycle.premises import Premises
from services.lifecycle.publishing import Publisher
from services.lifecycle.queue import AdmissionQueue

logger = logging.getLogger(__name__)

_REMEMBERED = 64
_PARALLEL = 20
_NAMES_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOrder:
    """A claim that is to be created now."""

    plan_id: str
    planned: PlannedNodeClaim
    reason: str
    """Why, for the counter: `provisioned`, or a disruption reason in lower case."""


class ClaimMaker:
    """Creates claims; the same order twice gives the same claim."""

    def __init__(self, access: Access) -> None:
        self._cache = access.cache
        self._providers = access.providers
        self._writer = access.writer
        self._metrics = access.metrics
        self._places = asyncio.Semaphore(_PARALLEL)

    async def make(self, order: ClaimOrder) -> CreatedClaim | RefusedClaim:
        """Create one claim, or find that it is there.

        Raises:
            Unavailable: it is not known whether it was created; order it again.
        """
        planned = order.planned
        pool = self._cache.pool(planned.nodepool)
        if pool is None:
            why = f'nodepool "{planned.nodepool}" does not exist'
            return RefusedClaim(index=planned.index, message=why)
        rules = self._providers.rules(nodepool_class(pool).group)
        document = manifest(order.plan_id, planned, pool, rules.well_known)
        async with self._places:
            try:
                created = await self._writer.create_claim(document)
            except AlreadyExists:
                return await self._existing(order, document["metadata"]["name"])
            except InvalidRequest as error:
                return RefusedClaim(index=planned.index, message=str(error))
        relaxed = document["metadata"]["annotations"][MIN_VALUES_RELAXED]
        self._metrics.created(order.reason, planned.nodepool, relaxed)
        metadata = created["metadata"]
        return CreatedClaim(index=planned.index, name=metadata["name"], uid=metadata["uid"])

    async def settle(self) -> None:
        """Find out what became of claims whose creation was not answered; before any judgement.

        Raises:
            Unavailable: it cannot be found out now.
        """
        await self._writer.settle_claims()

    async def _existing(self, order: ClaimOrder, name: str) -> CreatedClaim | RefusedClaim:
        metadata = (await self._writer.stored_claim(name))["metadata"]
        index = order.planned.index
        mark = (metadata.get("annotations") or {}).get(PLAN_ANNOTATION)
        if mark != plan_mark(order.plan_id, index):
            return RefusedClaim(index=index, message=f'nodeclaim "{name}" is another plan\'s')
        return CreatedClaim(index=index, name=name, uid=metadata["uid"])


class PlanApplier:
    """Answers ApplyPlan."""

    def __init__(
        self,
        queue: AdmissionQueue,
        cache: Cache,
        premises: Premises,
        maker: ClaimMaker,
        publisher: Publisher,
    ) -> None:
        self._queue = queue
        self._cache = cache
        self._premises = premises
        self._maker = maker
        self._publisher = publisher
        self._answers: OrderedDict[str, ApplyResult] = OrderedDict()

    async def apply(self, request: ApplyRequest) -> ApplyResult:
        """Carry out a plan.

        Raises:
            StaleRevision: a live claim was not known to it, it nominates a node under a command, or
                its maker was superseded.
            NotReady: this process may not act now.
            Unavailable: it was carried out in part; send it again.
        """
        async with self._queue.turn("plan", request.snapshot):
            known = self._answers.get(request.plan_id)
            if known is not None:
                return known
            await self._maker.settle()
            self._judge(request)
            result = await self._create(request)
            self._remember(request.plan_id, result)
            self._nominate(request.plan, result)
        self._publisher.plan(request.plan, result)
        return result

    def _judge(self, request: ApplyRequest) -> None:
        own = {
            claim_name(request.plan_id, planned.index, planned.nodepool)
            for planned in request.plan.nodeclaims
        }
        unknown = unknown_claims(self._cache.claims(), request.known_nodeclaim_uids, own)
        if unknown and request.plan.nodeclaims:
            shown = ", ".join(unknown[:_NAMES_SHOWN])
            raise StaleRevision(f"{len(unknown)} nodeclaims were not known to the plan: {shown}")
        for nomination in request.plan.nominations:
            refusal = refusal_to_nominate(self._premises.to_nominate(nomination))
            if refusal is not None:
                raise StaleRevision(f"the plan nominates what goes: {refusal}")

    async def _create(self, request: ApplyRequest) -> ApplyResult:
        orders, refused = self._admit(request)
        answers = await asyncio.gather(*map(self._maker.make, orders), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        created = [one for one in answers if isinstance(one, CreatedClaim)]
        refused += [one for one in answers if isinstance(one, RefusedClaim)]
        logger.info(
            "applied plan",
            extra={
                "plan": request.plan_id,
                "nodeclaims": [one.name for one in created],
                "refused": [one.message for one in refused],
            },
        )
        return ApplyResult(
            created=tuple(sorted(created, key=lambda one: one.index)),
            refused=tuple(sorted(refused, key=lambda one: one.index)),
        )

    def _admit(self, request: ApplyRequest) -> tuple[list[ClaimOrder], list[RefusedClaim]]:
        """Judge each claim, counting those before it as created."""
        orders: list[ClaimOrder] = []
        refused: list[RefusedClaim] = []
        taken: dict[str, Resources] = {}
        for planned in request.plan.nodeclaims:
            order = ClaimOrder(plan_id=request.plan_id, planned=planned, reason="provisioned")
            name = claim_name(request.plan_id, planned.index, planned.nodepool)
            if self._cache.claim(name) is not None:
                orders.append(order)
                continue
            used = taken.get(planned.nodepool, NOTHING)
            refusal = refusal_to_create(self._premises.to_create(planned, used))
            if refusal is not None:
                refused.append(RefusedClaim(index=planned.index, message=refusal))
                continue
            orders.append(order)
            taken[planned.nodepool] = used.add(planned.requests).add(Resources({NODES: 1}))
        return orders, refused

    def _remember(self, plan_id: str, result: ApplyResult) -> None:
        self._answers[plan_id] = result
        while len(self._answers) > _REMEMBERED:
            self._answers.popitem(last=False)

    def _nominate(self, plan: Plan, result: ApplyResult) -> None:
        for nomination in plan.nominations:
            self._premises.nominations.nominate(nomination.target)
        for created in result.created:
            self._premises.nominations.nominate(created.name)
