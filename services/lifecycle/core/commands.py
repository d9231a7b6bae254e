"""Carrying out a command: marks on candidates, wait for replacements, delete; or give it up.

Everything is read off live objects: the annotation on the candidates names the command and its
replacements, the condition DisruptionReason says that the candidate was taken and when. Giving up
is removing the annotation; the claims' own steps then take off taint and condition.

Source: `docs/sources.md` H15.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from libs.domain import command_annotation
from libs.domain.errors import InvalidRequest
from libs.domain.execution import CommandState
from libs.domain.nodeclaim import ClaimCommand, ConditionType
from libs.domain.taint import DISRUPTED
from libs.kube.objects.karpenter import NodeClaim
from libs.kube.objects.node import Node
from services.lifecycle.core import events
from services.lifecycle.core.claim_states import is_true
from services.lifecycle.core.claim_writes import (
    deletion,
    disrupted,
    metadata_patch,
    status_patches,
)
from services.lifecycle.core.conditions import CLAIM_DEPENDENTS, ConditionSet
from services.lifecycle.core.disruption_marks import taints_patch
from services.lifecycle.core.step import Patch, Step

POLL = timedelta(seconds=1)
_REASON = ConditionType.DISRUPTION_REASON
_PER_CANDIDATE = timedelta(milliseconds=80)
_SHORTEST, _LONGEST = timedelta(minutes=10), timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateView:
    """A claim that is under the command, and its node."""

    claim: NodeClaim
    node: Node | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandView:
    """A command as live objects tell it."""

    command: ClaimCommand
    candidates: tuple[CandidateView, ...]
    """Those that exist; none: all are gone."""
    replacements: Mapping[str, NodeClaim]
    """Those that exist, by name."""
    queued: int
    """Candidates of all commands under way; more of them may wait longer."""
    policies: Mapping[str, str]
    """Consolidation policy by claim, for the counters; empty for other reasons."""
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandStep:
    """What to do now, and how far the command is then."""

    step: Step
    state: CommandState
    message: str = ""


def next_step(view: CommandView) -> CommandStep:
    """Return the next step of a command."""
    if not view.candidates:
        return CommandStep(step=Step(), state=CommandState.DONE)
    staying = [one for one in view.candidates if one.claim.metadata.deletion_timestamp is None]
    if not staying:
        return _delete(view, staying)
    failure = _failure(view, staying)
    if failure is not None:
        return _give_up(staying, failure)
    marks = _missing_marks(staying)
    if marks:
        return CommandStep(step=Step(writes=marks), state=CommandState.WAITING)
    if _all_initialized(view):
        return _delete(view, staying)
    if view.now - _since(staying, view.now) > retry_window(view.queued):
        return _give_up(staying, "its replacements were not initialized in time")
    awaited = tuple(
        events.disruption_waiting_readiness(events.claim(claim.metadata))
        for claim in view.replacements.values()
        if not is_true(claim, ConditionType.INITIALIZED)
    )
    return CommandStep(step=Step(events=awaited, check_after=POLL), state=CommandState.WAITING)


def command_of(claim: NodeClaim) -> ClaimCommand | None:
    """Return the command that a claim is under, None if it is under none that can be read."""
    text = claim.metadata.annotations.get(command_annotation.ANNOTATION)
    if text is None:
        return None
    try:
        return command_annotation.decode(text)
    except InvalidRequest:
        return None


def annotation_patch(claim: NodeClaim, command: ClaimCommand) -> Patch:
    """Return the mark that comes before everything else."""
    text = command_annotation.encode(command)
    return metadata_patch(claim, {"annotations": {command_annotation.ANNOTATION: text}})


def reason_patches(claim: NodeClaim, reason: str, now: datetime) -> tuple[Patch, ...]:
    """Return the condition that says why, and since when, the claim is under a command."""
    conditions = ConditionSet.of(claim.metadata, claim.status.conditions, CLAIM_DEPENDENTS, now)
    return status_patches(claim, conditions.set_true(str(_REASON), reason, reason))


def taint_patch(node: Node | None) -> Patch | None:
    """Return the taint that keeps pods off a candidate's node, None where it is there."""
    if node is None or any(taint.key == DISRUPTED.key for taint in node.spec.taints):
        return None
    return taints_patch(node, disrupted=True)


def retry_window(queued: int) -> timedelta:
    """Return how long replacements may take, given the candidates of all commands under way."""
    return min(max(_PER_CANDIDATE * queued, _SHORTEST), _LONGEST)


def reason_of(claim: NodeClaim) -> str:
    """Return why the claim is disrupted, empty if it does not say."""
    return next((one.reason for one in claim.status.conditions if one.type == _REASON), "")


def _failure(view: CommandView, staying: list[CandidateView]) -> str | None:
    for name in view.command.replacements:
        claim = view.replacements.get(name)
        if claim is None:
            return f'replacement "{name}" does not exist'
        if claim.metadata.deletion_timestamp is not None:
            return f'replacement "{name}" was deleted'
    taken = [one for one in staying if is_true(one.claim, _REASON)]
    if not taken or (view.command.replacements and len(taken) < len(staying)):
        return "it was interrupted before all of its nodes were taken"
    return None


def _missing_marks(staying: list[CandidateView]) -> tuple[Patch, ...]:
    """Return what a crash left undone: taints; candidates that were not taken are let go."""
    half_taken = [one for one in staying if not is_true(one.claim, _REASON)]
    taints = (taint_patch(one.node) for one in staying if is_true(one.claim, _REASON))
    return (*_released(half_taken), *(patch for patch in taints if patch is not None))


def _since(taken: Iterable[CandidateView], now: datetime) -> datetime:
    return min(
        one.last_transition_time or now
        for candidate in taken
        for one in candidate.claim.status.conditions
        if one.type == _REASON
    )


def _all_initialized(view: CommandView) -> bool:
    return all(
        is_true(view.replacements[name], ConditionType.INITIALIZED)
        for name in view.command.replacements
    )


def _give_up(staying: list[CandidateView], why: str) -> CommandStep:
    return CommandStep(step=Step(writes=_released(staying)), state=CommandState.FAILED, message=why)


def _released(candidates: Iterable[CandidateView]) -> tuple[Patch, ...]:
    return tuple(
        metadata_patch(one.claim, {"annotations": {command_annotation.ANNOTATION: None}})
        for one in candidates
    )


def _delete(view: CommandView, staying: list[CandidateView]) -> CommandStep:
    told = tuple(
        events.disruption_terminating(subject, reason_of(one.claim))
        for one in staying
        for subject in _subjects(one)
    )
    step = Step(
        writes=tuple(deletion(one.claim) for one in staying),
        events=told,
        counts=tuple(
            disrupted(
                one.claim,
                reason_of(one.claim).lower(),
                view.policies.get(one.claim.metadata.name, ""),
            )
            for one in staying
        ),
        check_after=POLL,
    )
    return CommandStep(step=step, state=CommandState.DELETING)


def _subjects(one: CandidateView) -> tuple[events.Subject, ...]:
    about_claim = events.claim(one.claim.metadata)
    return (about_claim,) if one.node is None else (about_claim, events.node(one.node.metadata))
