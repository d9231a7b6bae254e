"""Starts commands: judge the premise, mark the claims, then taint, then order replacements.

The order is law 4 of the design: the annotation, which names command and replacements, stands on
every candidate before anything else happens. Whatever fails half-way is rolled back by taking the
annotations off; what a crash leaves half-way, the command's own steps find and do the same.
"""

import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

from libs.domain import command_annotation
from libs.domain.errors import JoinerError, StaleRevision
from libs.domain.execution import CommandProgress, CommandRequest, RefusedClaim
from libs.domain.nodeclaim import ClaimCommand
from libs.domain.plan import Candidate, Command
from services.lifecycle.access import Access
from services.lifecycle.applying import ClaimMaker, ClaimOrder
from services.lifecycle.commands import CommandReconciler, under_command
from services.lifecycle.core import commands as core
from services.lifecycle.core import events
from services.lifecycle.core.admission import (
    refusal_to_create,
    refusal_to_disrupt,
    unknown_claims,
)
from services.lifecycle.core.claim_manifest import claim_name
from services.lifecycle.core.claim_writes import metadata_patch
from services.lifecycle.core.step import Patch, Step
from services.lifecycle.premises import Premises
from services.lifecycle.queue import AdmissionQueue

logger = logging.getLogger(__name__)

_REMEMBERED = 1000
_TRIES = 5
"""Of a patch whose object changes under our hands."""
_RETRY = timedelta(milliseconds=100)


class CommandExecutor:
    """Answers ExecuteCommand."""

    def __init__(
        self,
        access: Access,
        queue: AdmissionQueue,
        premises: Premises,
        maker: ClaimMaker,
        commands: CommandReconciler,
    ) -> None:
        self._access = access
        self._queue = queue
        self._premises = premises
        self._maker = maker
        self._commands = commands
        self._answers: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    async def execute(self, request: CommandRequest) -> tuple[str, ...]:
        """Start a command and return the names of its replacements.

        Raises:
            StaleRevision: a premise is gone; nothing was changed, or it was taken back.
            NotReady: this process may not act now.
        """
        command = request.command
        async with self._queue.turn("command", request.snapshot):
            known = self._known(command.id)
            if known is not None:
                return known
            await self._maker.settle()
            self._judge(request)
            names = tuple(
                claim_name(command.id, planned.index, planned.nodepool)
                for planned in command.replacements
            )
            with self._commands.starting(command.id):
                await self._start(command, names)
            self._remember(command.id, names)
        return names

    def watch(self) -> AsyncIterator[CommandProgress]:
        """Stream the state of all commands under way, then every change."""
        return self._commands.board.watch()

    def _known(self, command_id: str) -> tuple[str, ...] | None:
        """Return the answer that was given before, from memory or from the claims."""
        if command_id in self._answers:
            return self._answers[command_id]
        claims = under_command(command_id, self._access.cache)
        command = core.command_of(claims[0]) if claims else None
        return None if command is None else command.replacements

    def _judge(self, request: CommandRequest) -> None:
        command = request.command
        window = self._premises.nominations.window
        self._queue.require_age(window, self._access.clock.monotonic())
        if command.replacements:
            unknown = unknown_claims(
                self._access.cache.claims(), request.known_nodeclaim_uids, frozenset()
            )
            if unknown:
                raise StaleRevision(f'nodeclaim "{unknown[0]}" was not known to the command')
        refusals = (
            *map(refusal_to_disrupt, self._premises.to_disrupt(command)),
            *(
                refusal_to_create(self._premises.to_replace(planned, command))
                for planned in command.replacements
            ),
        )
        refusal = next((why for why in refusals if why is not None), None)
        if refusal is not None:
            raise StaleRevision(f'command "{command.id}" does not hold any more: {refusal}')

    async def _start(self, command: Command, names: tuple[str, ...]) -> None:
        mark = ClaimCommand(id=command.id, replacements=names)
        try:
            for candidate in command.candidates:
                await self._patch(candidate, lambda view: core.annotation_patch(view.claim, mark))
            for candidate in command.candidates:
                await self._patch(candidate, lambda view: self._reason_patch(view, command))
                await self._patch(candidate, lambda view: core.taint_patch(view.node))
            await self._replace(command)
        except (JoinerError, TimeoutError):
            await self._take_back(command)
            raise
        logger.info("started command", extra={"command": command.id, "replacements": names})

    async def _patch(
        self, candidate: Candidate, wanted: Callable[[core.CandidateView], Patch | None]
    ) -> None:
        """Patch a candidate or its node as they are now, again if they change meanwhile."""
        for _ in range(_TRIES):
            try:
                patch = wanted(self._candidate(candidate))
                await self._access.writer.carry_out(Step(writes=(patch,) if patch else ()))
            except StaleRevision as error:
                lost = error
                await self._access.clock.sleep(_RETRY)
            else:
                return
        raise lost

    def _candidate(self, candidate: Candidate) -> core.CandidateView:
        claim = self._access.cache.claim(candidate.nodeclaim)
        if claim is None or claim.metadata.uid != candidate.nodeclaim_uid:
            raise StaleRevision(f'nodeclaim "{candidate.nodeclaim}" is gone')
        return core.CandidateView(claim=claim, node=self._access.cache.node(candidate.node))

    def _reason_patch(self, view: core.CandidateView, command: Command) -> Patch | None:
        patches = core.reason_patches(view.claim, command.reason, self._access.clock.now())
        return patches[0] if patches else None

    async def _replace(self, command: Command) -> None:
        for planned in command.replacements:
            order = ClaimOrder(
                plan_id=command.id, planned=planned, reason=str(command.reason).lower()
            )
            made = await self._maker.make(order)
            if isinstance(made, RefusedClaim):
                raise StaleRevision(f"a replacement was refused: {made.message}")
            self._tell_launching(made.name, command)

    def _tell_launching(self, name: str, command: Command) -> None:
        claim = self._access.cache.claim(name)
        if claim is not None:
            subject = events.claim(claim.metadata)
            self._access.writer.publish(events.disruption_launching(subject, str(command.reason)))

    async def _take_back(self, command: Command) -> None:
        """Take the annotations off, as far as that is possible now; the rest is the loop's."""
        off = {"annotations": {command_annotation.ANNOTATION: None}}
        for claim in under_command(command.id, self._access.cache):
            try:
                await self._access.writer.carry_out(Step(writes=(metadata_patch(claim, off),)))
            except (JoinerError, TimeoutError) as error:
                logger.warning(
                    "candidate keeps its mark",
                    extra={"nodeclaim": claim.metadata.name, "error": str(error)},
                )

    def _remember(self, command_id: str, names: tuple[str, ...]) -> None:
        self._answers[command_id] = names
        while len(self._answers) > _REMEMBERED:
            self._answers.popitem(last=False)
