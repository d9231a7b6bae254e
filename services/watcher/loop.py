"""Provisioning: a batch closes → publish → solve → apply → wait until the watch shows it.

One decision at a time. Every failure leads back to a fresh snapshot: nothing of a decision that did
not come through is kept. Nobody is bought for twice because

- the next decision begins only when the watch has shown the claims of the last one, or a consistent
  list has shown that they are gone;
- each plan names the claims that it knew, and lifecycle refuses it where there are others.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from libs.cluster.claims import planned_claim
from libs.cluster.state import ClusterState
from libs.collections.batcher import Batcher
from libs.domain.errors import (
    JoinerError,
    NotReady,
    RevisionGone,
    StaleRevision,
    Unavailable,
)
from libs.domain.execution import ApplyResult
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution, SolveOptions, with_unplaced
from libs.runtime.backoff import Backoff
from libs.runtime.clock import Clock
from libs.runtime.latest import LatestValue
from libs.runtime.timeouts import deadline
from services.watcher.core.applying import (
    apply_request,
    created_claims,
    expected_targets,
    pod_targets,
)
from services.watcher.core.waiting import has_waiting_pods
from services.watcher.journal import Journal
from services.watcher.metrics import Metrics, Result
from services.watcher.ports import Catalogues, Lifecycle, Rivals, Solver
from services.watcher.publisher import Publisher

logger = logging.getLogger(__name__)

_RETRY = timedelta(seconds=10)
"""After a decision, pods that still wait make another one due."""

_SHOWN_WITHIN = timedelta(seconds=15)
"""How long the watch may take to show a claim before it is looked for."""

_TARGETS_LAST = 3
"""Nomination windows for which a pod is expected on a node that is there: if kube-scheduler did
not bind it by then, it knows something that the plan did not."""

_RESULTS: tuple[tuple[type[JoinerError], Result], ...] = (
    (StaleRevision, Result.STALE),
    (RevisionGone, Result.STALE),
    (NotReady, Result.NOT_READY),
    (Unavailable, Result.UNAVAILABLE),
)
"""Failures after which it is decided again at once, and how they are counted; others wait for the
next batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peers:
    """Whom provisioning asks."""

    solver: Solver
    lifecycle: Lifecycle
    rivals: Rivals
    catalogues: Catalogues
    relist_claims: Callable[[], Awaitable[None]]
    """Lists NodeClaims with a consistent read and ends when the state has them."""
    require_leadership: Callable[[], None]
    """Raises NotReady if this process may not act now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How provisioning decides."""

    options: SolveOptions
    nomination: timedelta


class Provisioning:
    """The loop; `run` is the work of a leader."""

    def __init__(
        self,
        *,
        batcher: Batcher[str],
        state: ClusterState,
        changes: LatestValue[None],
        publisher: Publisher,
        journal: Journal,
        peers: Peers,
        policy: Policy,
        clock: Clock,
        backoff: Backoff,
        metrics: Metrics,
    ) -> None:
        self._batcher = batcher
        self._state = state
        self._changes = changes
        self._publisher = publisher
        self._journal = journal
        self._peers = peers
        self._policy = policy
        self._clock = clock
        self._backoff = backoff
        self._metrics = metrics
        self._waiting = True
        """Whether pods waited at the last decision; a new leader does not know."""
        self._decided_at = -math.inf

    async def run(self) -> None:
        """Decide whenever a batch closes, until cancelled."""
        await self._relist()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._retry(), name="provisioning retry")
            while True:
                await self._batcher.wait()
                began = self._clock.monotonic()
                await self._decide()
                self._decided_at = self._clock.monotonic()
                self._metrics.decision_durations.observe(self._decided_at - began)

    async def _retry(self) -> None:
        """Count from the last decision: what it bought needs that time to become nodes."""
        while True:
            left = self._decided_at + _RETRY.total_seconds() - self._clock.monotonic()
            if left > 0:
                # rounded up: a remainder below a microsecond would be a wait of zero, over and over
                await self._clock.sleep(timedelta(seconds=left) + timedelta.resolution)
                continue
            if self._waiting:
                self._batcher.trigger("retry")
            await self._clock.sleep(_RETRY)

    async def _decide(self) -> None:
        """Decide and apply, again after every failure that a fresh snapshot may mend."""
        self._backoff.reset()
        while True:
            try:
                result = await self._attempt()
                self._metrics.decisions.labels(result).inc()
                return
            except JoinerError as error:
                result = _result_of(error)
                self._metrics.decisions.labels(result).inc()
                if result is Result.REFUSED:
                    logger.error("decision was refused", extra={"error": str(error)})
                    return
                logger.info("deciding again", extra={"result": result, "error": str(error)})
            await self._backoff.wait()

    async def _attempt(self) -> Result:
        await self._peers.catalogues.settle()
        snapshot = self._publisher.publish()
        left_out = self._state.left_out()
        self._waiting = has_waiting_pods(snapshot) or bool(left_out)
        if not self._waiting:
            return Result.NOTHING_WAITS
        answer = await self._peers.solver.solve(snapshot, self._policy.options)
        solution = with_unplaced(answer, left_out)
        premise = self._premise(solution, snapshot)
        self._journal.record(solution, premise)
        if await self._peers.rivals.look():
            logger.info("reporting a plan only", extra=_summary(solution))
            return Result.REPORTED
        await self._apply(solution, premise)
        return Result.APPLIED

    def _premise(self, solution: Solution, asked: ClusterSnapshot) -> ClusterSnapshot:
        """Return the snapshot that the solver used: the one asked about, or one made since.

        Raises:
            StaleRevision: it is an older one, or nobody here knows which claims it had.
        """
        found = self._publisher.find(solution.snapshot)
        if found is None or found.id.revision < asked.id.revision:
            raise StaleRevision(
                f"the solver decided on revision {solution.snapshot.revision} instead of "
                f"{asked.id.revision}"
            )
        return found

    async def _apply(self, solution: Solution, snapshot: ClusterSnapshot) -> None:
        self._peers.require_leadership()
        request = apply_request(solution, snapshot, self._clock.now())
        result = await self._peers.lifecycle.apply_plan(request)
        logger.info(
            "applied plan", extra={**_summary(solution), "claims_created": len(result.created)}
        )
        for refused in result.refused:
            logger.warning(
                "planned claim was refused",
                extra={"plan": solution.plan_id, "index": refused.index, "why": refused.message},
            )
        self._expect(solution, result, snapshot)
        await self._see({created.name for created in result.created})

    def _expect(self, solution: Solution, result: ApplyResult, snapshot: ClusterSnapshot) -> None:
        """Count created claims and remember nominations, before the watch shows either."""
        now = self._clock.now()
        for created, planned in created_claims(solution.plan, result):
            pool = snapshot.nodepools.get(planned.nodepool)
            if pool is not None:
                self._state.claim_in_flight(
                    planned_claim(planned, pool, name=created.name, uid=created.uid, now=now)
                )
        until = now + self._policy.nomination
        for kind, name in expected_targets(solution.plan, result, snapshot):
            self._state.nominate(kind, name, until)
        targets = pod_targets(solution.plan, result)
        self._state.expect(targets, now, _TARGETS_LAST * self._policy.nomination)
        self._changes.set(None)

    async def _see(self, names: set[str]) -> None:
        """Wait until the watch has shown the claims; in the end believe a consistent list."""
        try:
            async with deadline(self._clock, _SHOWN_WITHIN):
                while names & set(self._state.claims_in_flight()):
                    await self._changes.newer_than(self._changes.version)
        except TimeoutError:
            await self._relist()

    async def _relist(self) -> None:
        """Believe a consistent list: what it does not show is gone."""
        await self._peers.relist_claims()
        for name in self._state.claims_in_flight():
            logger.warning("created claim is gone", extra={"nodeclaim": name})
            self._state.forget_in_flight(name)


def _result_of(error: JoinerError) -> Result:
    return next((result for kind, result in _RESULTS if isinstance(error, kind)), Result.REFUSED)


def _summary(solution: Solution) -> dict[str, object]:
    return {
        "plan": solution.plan_id,
        "revision": solution.snapshot.revision,
        "waiting_pods": solution.pods.waiting,
        "on_existing": solution.pods.on_existing,
        "on_new": solution.pods.on_new,
        "unplaced": solution.pods.unplaced,
        "claims": len(solution.plan.nodeclaims),
        "planned_nanos_per_hour": solution.cost.new_nanos_per_hour,
        "lower_bound_nanos_per_hour": solution.cost.lower_bound_nanos_per_hour,
        "refine_iterations": solution.iterations,
    }
