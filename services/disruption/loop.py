"""The loop of the leader: decide, look again after a while, have it carried out, say why not.

Laws:
- A command is sent only while this process leads, on a watcher that was heard of lately, and not
  within a nomination window after another watcher has taken over.
- The first method of which a command starts ends the pass.
- What lifecycle refuses is dropped; the next pass decides anew.
- Decisions are reported once per change, all of them, and again if the report was not taken.

Source: `docs/sources.md` H1, H4 and H15.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from libs.domain.errors import JoinerError
from libs.domain.execution import CommandRequest, DecisionReport
from libs.domain.plan import Command, Decision
from libs.domain.snapshot import ClusterSnapshot, Epoch
from libs.runtime.app import Runtime
from libs.runtime.backoff import retrying
from libs.snapshots.holder import SnapshotHolder
from services.disruption.config import Settings
from services.disruption.core.budgets import BrokenBudget
from services.disruption.core.decide import Proposal, decide, recheck
from services.disruption.core.methods.method import Method
from services.disruption.core.question import Question
from services.disruption.metrics import Metrics, Result
from services.disruption.ports import Lifecycle
from services.disruption.record import CommandRecord

logger = logging.getLogger(__name__)

_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the loop works with."""

    holder: SnapshotHolder
    lifecycle: Lifecycle
    record: CommandRecord
    metrics: Metrics
    runtime: Runtime
    require_leadership: Callable[[], None]
    """Raises NotReady where nothing may be started."""


class DisruptionLoop:
    """Decides again and again."""

    def __init__(self, around: Surroundings, settings: Settings, methods: Sequence[Method]) -> None:
        self._around = around
        self._settings = settings
        self._methods = around.metrics.measured(methods)
        self._clock = around.runtime.clock
        self._cluster_id = around.runtime.settings.cluster_id
        self._epoch: Epoch | None = None
        self._epoch_since = 0.0
        self._reported: tuple[Decision, ...] | None = None
        self._broken: tuple[BrokenBudget, ...] = ()
        self._last = Result.NOTHING_TO_DO

    async def run(self) -> NoReturn:
        """Decide until cancelled; a term of leadership begins without memory."""
        self._epoch, self._reported = None, None
        while True:
            snapshot = await self._around.holder.newer_than(self._cluster_id, None)
            result = await self._pass(snapshot)
            self._note_result(result)
            if result is not Result.STARTED:
                await self._clock.sleep(self._settings.poll_period)

    async def _pass(self, snapshot: ClusterSnapshot) -> Result:
        metrics = self._around.metrics
        metrics.snapshot_age.set(self._around.holder.silence(self._cluster_id).total_seconds())
        question = self._question(snapshot)
        with metrics.pass_durations.time():
            verdict = await self._around.runtime.compute(decide, question, self._methods)
        metrics.note(verdict)
        self._complain(verdict.broken_budgets)
        await self._report(snapshot, verdict.decisions)
        hindrance = self._hindrance()
        if hindrance is not None:
            return hindrance
        proposals = [one for one in verdict.proposals if one.commands]
        for proposal in proposals:
            if await self._carry_out(proposal, snapshot):
                return Result.STARTED
        return Result.NOT_STARTED if proposals else Result.NOTHING_TO_DO

    async def _carry_out(self, proposal: Proposal, snapshot: ClusterSnapshot) -> bool:
        """Return whether at least one command was started."""
        if proposal.method.validated:
            await self._clock.sleep(self._settings.validation_delay)
            snapshot = self._around.holder.latest(self._cluster_id)
            proposal = await self._survivors(proposal, snapshot)
        async with asyncio.TaskGroup() as group:
            sent = [
                group.create_task(
                    self._send(proposal.method, command, snapshot), name=f"send {command.id}"
                )
                for command in proposal.commands
            ]
        return any(task.result() for task in sent)

    async def _survivors(self, proposal: Proposal, snapshot: ClusterSnapshot) -> Proposal:
        """Return what of a proposal still holds; nothing where nothing may be started any more."""
        left = await self._around.runtime.compute(recheck, proposal, self._question(snapshot))
        if self._hindrance() is not None:
            left = proposal.without_commands()
        lost = proposal.candidates - left.candidates
        if lost:
            counter = self._around.metrics.failed_validations
            counter.labels(proposal.method.consolidation_type).inc(lost)
            logger.info(
                "validation dropped candidates",
                extra={"method": proposal.method.name, "lost": lost, "left": left.candidates},
            )
        return left

    async def _send(self, method: Method, command: Command, snapshot: ClusterSnapshot) -> bool:
        """Have one command started and return whether it was."""
        request = CommandRequest(
            snapshot=snapshot.id,
            command=command,
            known_nodeclaim_uids=tuple(sorted(one.uid for one in snapshot.nodeclaims.values())),
        )
        nodes = [one.node for one in command.candidates]
        extra = {"command": command.id, "reason": command.reason.value, "nodes": nodes}
        try:
            await retrying(
                lambda: self._execute(request), self._around.runtime.backoff(), attempts=_ATTEMPTS
            )
        except JoinerError as error:
            self._around.record.refused(command, self._clock.now(), str(error))
            logger.warning("command was refused", extra={**extra, "error": str(error)})
            return False
        self._around.record.accepted(command, self._clock.now())
        self._around.metrics.started(method, command)
        logger.info("disrupting nodes", extra=extra)
        return True

    async def _execute(self, request: CommandRequest) -> None:
        self._around.require_leadership()
        await self._around.lifecycle.execute_command(request)

    async def _report(self, snapshot: ClusterSnapshot, decisions: tuple[Decision, ...]) -> None:
        if decisions == self._reported:
            return
        report = DecisionReport(snapshot=snapshot.id, decisions=decisions)
        try:
            await self._around.lifecycle.report_decisions(report)
        except JoinerError as error:
            logger.info("decisions were not taken", extra={"error": str(error)})
        else:
            self._reported = decisions

    def _question(self, snapshot: ClusterSnapshot) -> Question:
        if snapshot.id.epoch != self._epoch:
            self._epoch, self._epoch_since = snapshot.id.epoch, self._clock.monotonic()
        now = self._clock.now()
        return Question(
            snapshot=snapshot,
            now=now,
            id=self._around.runtime.new_id(),
            in_flight=self._around.record.in_flight(snapshot, now),
        )

    def _hindrance(self) -> Result | None:
        """Return why nothing may be started now, None if something may."""
        if self._around.holder.silence(self._cluster_id) > self._settings.stale_after:
            return Result.STALE
        known_for = self._clock.monotonic() - self._epoch_since
        if known_for < self._settings.nomination_window.total_seconds():
            return Result.SETTLING
        return None

    def _note_result(self, result: Result) -> None:
        self._around.metrics.passes.labels(result).inc()
        if result is Result.STALE and self._last is not Result.STALE:
            logger.warning("the watcher is silent, nothing is disrupted")
        self._last = result

    def _complain(self, broken: tuple[BrokenBudget, ...]) -> None:
        for one in broken:
            if one not in self._broken:
                logger.warning(
                    "a budget cannot be evaluated, so nothing of its nodepool is disrupted",
                    extra={"nodepool": one.nodepool, "problem": one.problem},
                )
        self._broken = broken
