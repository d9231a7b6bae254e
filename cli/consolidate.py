"""`joiner consolidate`: which nodes in some files are best given up or replaced, without a server.

Candidates are the nodes that nothing blocks, as disruption sees them, in pools that consolidate.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cli import clusters
from cli.choices import load
from cli.consolidated import print_table
from cli.consolidation_notes import notes_of
from cli.failures import bad_input_exits, end, progress
from cli.formats import Format, print_json, print_notes
from cli.options import Bounds, Choices
from libs.domain.blockers import blocker
from libs.domain.blocking import BlockerKind
from libs.domain.errors import InvalidRequest
from libs.domain.nodeclaim import ConditionType
from libs.domain.nodepool import ConsolidationPolicy, DisruptionReason
from libs.domain.plan import Blocker, Decision
from libs.domain.question import ConsolidateQuestion, Consolidation
from libs.domain.solution import SolveOptions
from libs.wire.consolidation_json import consolidation_document
from services.disruption.core.budgets import allowances
from services.disruption.core.candidates import Assessment, Candidate, assess
from services.disruption.core.question import Question
from services.solver.core.consolidating.consolidate import consolidate

_NANOS = 10**9
_WHOLE = 100
_REASONS = (DisruptionReason.EMPTY, DisruptionReason.UNDERUTILIZED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limits:
    """The bounds of a question, read."""

    budgets: Mapping[DisruptionReason, Mapping[str, int]]
    move_price: int
    most_moves: int | None


def run(
    files: Sequence[str], catalogue: str, output: Format, choices: Choices, bounds: Bounds
) -> None:
    """Carry out `joiner consolidate`."""
    with bad_input_exits(), progress("reading") as status:
        cluster, options = load(files, catalogue, choices)
        asked = Question(snapshot=cluster.snapshot, now=cluster.snapshot.observed_at)
        limits = _limits(bounds, asked)
        status.update("consolidating")
        found = _consolidated(asked, options, limits)
    print_notes(notes_of(cluster, catalogue, found))
    if output is Format.JSON:
        print_json(consolidation_document(found))
    else:
        print_table(found, clusters.pod_names(cluster), len(cluster.snapshot.nodes))
    end(clusters.refusals(cluster))


def _consolidated(asked: Question, options: SolveOptions, limits: _Limits) -> Consolidation:
    assessments = assess(asked)
    candidates = [one.candidate for one in assessments if one.candidate is not None]
    refused = {one.node.name: why for one in candidates if (why := _refusal(one)) is not None}
    question = ConsolidateQuestion(
        snapshot=asked.snapshot,
        options=options,
        candidates=tuple(one.premise() for one in candidates if one.node.name not in refused),
        node_budgets=tuple(sorted(limits.budgets[DisruptionReason.UNDERUTILIZED].items())),
        empty_node_budgets=tuple(sorted(limits.budgets[DisruptionReason.EMPTY].items())),
        move_price_nanos_per_hour=limits.move_price,
        max_moves=limits.most_moves,
    )
    found = consolidate(asked.snapshot, question)
    left = (*found.left_alone, *_blocked(assessments, refused))
    return Consolidation(
        snapshot=found.snapshot,
        options=found.options,
        commands=found.commands,
        existing_nanos_per_hour=found.existing_nanos_per_hour,
        left_alone=tuple(sorted(left, key=lambda one: one.node)),
        solver_version=found.solver_version,
    )


def _blocked(
    assessments: Sequence[Assessment], refused: Mapping[str, Blocker]
) -> Iterator[Decision]:
    for one in assessments:
        why = refused.get(one.node.name)
        blockers = one.blockers if why is None else (why,)
        if blockers:
            yield Decision(node=one.node.name, nodeclaim=one.node.nodeclaim, blockers=blockers)


def _refusal(candidate: Candidate) -> Blocker | None:
    """Return why a node is not consolidated, None if it may be.

    Source: `docs/sources.md` H7.
    """
    pool, claim = candidate.pool, candidate.claim
    policy = pool.disruption.consolidation_policy
    if pool.disruption.consolidate_after is None:
        message = f'nodepool "{pool.name}" never consolidates'
        return blocker(BlockerKind.CONSOLIDATION_DISABLED, message)
    if candidate.reschedulable and policy is ConsolidationPolicy.WHEN_EMPTY:
        message = f'nodepool "{pool.name}" gives up empty nodes only'
        return blocker(BlockerKind.CONSOLIDATION_DISABLED, message)
    if not claim.is_true(ConditionType.CONSOLIDATABLE):
        message = f'nodeclaim "{claim.name}" is not consolidatable yet'
        return blocker(BlockerKind.NOT_CONSOLIDATABLE, message)
    return None


def _limits(bounds: Bounds, asked: Question) -> _Limits:
    if bounds.max_moves is not None and bounds.max_moves < 0:
        raise InvalidRequest(f"{bounds.max_moves} is below 0", field="--max-moves")
    # A price that is no number fails the comparison, too.
    if not 0 <= bounds.move_price < _NANOS:
        raise InvalidRequest(f"{bounds.move_price} is no price", field="--move-price")
    return _Limits(
        budgets={reason: _budgets(bounds.node_budget, asked, reason) for reason in _REASONS},
        move_price=round(bounds.move_price * _NANOS),
        most_moves=bounds.max_moves,
    )


def _budgets(text: str, asked: Question, reason: DisruptionReason) -> dict[str, int]:
    """Return how many nodes of each pool may go: as typed, else as the pools' own budgets allow."""
    allowed = {pool: one.left for (pool, why), one in allowances(asked).items() if why is reason}
    if not text:
        return allowed
    number = text.removesuffix("%")
    if not (number.isascii() and number.isdecimal()):
        raise InvalidRequest(
            f"{text!r} is neither a number nor a percentage", field="--node-budget"
        )
    if number == text:
        return dict.fromkeys(allowed, int(number))
    nodes = asked.snapshot.nodeclaims.values()
    sizes = {pool: sum(one.nodepool == pool for one in nodes) for pool in allowed}
    return {pool: -(-size * int(number) // _WHOLE) for pool, size in sizes.items()}
