"""The decision: what would be disrupted now, and of every other node why not.

Laws:
- A verdict is a function of the question and the methods, nothing else.
- Every node of the snapshot has one decision: it is a candidate without blockers, or has some.
- Nothing is remembered from one pass to the next. Karpenter skips a method as long as nothing
  changed since it found nothing; here every pass looks at every node, since budgets and
  protections change by the clock alone.

Source: `docs/sources.md` H1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from libs.domain.plan import Blocker, Command, Decision
from services.disruption.core.budgets import Allowance, Allowances, BrokenBudget, allowances, broken
from services.disruption.core.candidates import Assessment, Candidate, assess
from services.disruption.core.methods import METHODS
from services.disruption.core.methods.method import Method, Move
from services.disruption.core.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What one method would do now."""

    method: Method
    eligible: int
    """How many nodes the method is for, budgets apart."""
    commands: tuple[Command, ...]
    """All may be started together."""
    blockers: Mapping[str, Blocker]
    """Why the method leaves a candidate alone, by node."""

    @property
    def candidates(self) -> int:
        """How many nodes the commands are about."""
        return sum(len(command.candidates) for command in self.commands)

    def without_commands(self) -> "Proposal":
        """Return the proposal to do nothing."""
        return replace(self, commands=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer to a question."""

    decisions: tuple[Decision, ...]
    """One per node, in order of node."""
    proposals: tuple[Proposal, ...]
    """One per method, in order; each as if it were the only one, so one of them may start."""
    allowances: tuple[Allowance, ...]
    broken_budgets: tuple[BrokenBudget, ...]


def decide(question: Question, methods: Sequence[Method] = METHODS) -> Verdict:
    """Return what to do now and what to say of each node."""
    assessments = assess(question)
    candidates = _candidates(assessments)
    allowed = allowances(question)
    proposals = tuple(_propose(method, candidates, allowed, question) for method in methods)
    return Verdict(
        decisions=tuple(_decision(one, proposals) for one in assessments),
        proposals=proposals,
        allowances=tuple(allowed.values()),
        broken_budgets=broken(question),
    )


def recheck(proposal: Proposal, question: Question) -> Proposal:
    """Return what is left of a proposal on a newer snapshot: survivors only, nothing new.

    A node survives if the method is still for it and the budgets still allow it.
    """
    proposed = {
        candidate.nodeclaim_uid for command in proposal.commands for candidate in command.candidates
    }
    candidates = [one for one in _candidates(assess(question)) if one.claim.uid in proposed]
    return _propose(proposal.method, candidates, allowances(question), question)


def _candidates(assessments: Iterable[Assessment]) -> list[Candidate]:
    return [one.candidate for one in assessments if one.candidate is not None]


def _propose(
    method: Method, candidates: Iterable[Candidate], allowed: Allowances, question: Question
) -> Proposal:
    eligible: list[Candidate] = []
    blockers: dict[str, Blocker] = {}
    for candidate in candidates:
        refusal = method.refusal(candidate)
        if refusal is None:
            eligible.append(candidate)
        else:
            blockers[candidate.node.name] = refusal
    selection = method.select(eligible, allowed)
    return Proposal(
        method=method,
        eligible=len(eligible),
        commands=tuple(
            _command(method, move, f"{question.id}-{method.name}-{index}")
            for index, move in enumerate(selection.moves)
        ),
        blockers={**blockers, **selection.refused},
    )


def _command(method: Method, move: Move, command_id: str) -> Command:
    return Command(
        id=command_id,
        reason=method.reason,
        candidates=tuple(one.premise() for one in move.candidates),
        replacements=move.replacements,
        saving_nanos_per_hour=move.saving_nanos_per_hour,
    )


def _decision(assessment: Assessment, proposals: Iterable[Proposal]) -> Decision:
    name = assessment.node.name
    found = [one.blockers.get(name) for one in proposals]
    by_methods = tuple(dict.fromkeys(one for one in found if one is not None))
    # a method that says nothing of a candidate would disrupt it
    chosen = assessment.candidate is not None and None in found
    return Decision(
        node=name,
        nodeclaim=assessment.node.nodeclaim,
        candidate=chosen,
        blockers=() if chosen else (*assessment.blockers, *by_methods),
        command_id=assessment.command_id,
    )
