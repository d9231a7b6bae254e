"""Which of the waiting pods a node or a pool could take, each alone, and which rule keeps others.

Apart because nodes and pools are asked the same: nothing is packed, every shape is asked once.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from libs.domain.explanation import Refusal
from libs.domain.reason import Rejection, Rule
from services.solver.core.packing.bins import Bins
from services.solver.core.packing.encode import Encoded, problem
from services.solver.core.packing.packing import Packer
from services.solver.core.packing.problem import Problem
from services.solver.core.reasons.case import Case, a_case


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """All waiting pods, none of which has a place yet."""

    problem: Problem
    bins: Bins


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """What became of the waiting pods."""

    could_take: tuple[str, ...]
    refusals: tuple[Refusal, ...]


def unpacked(encoded: Encoded) -> Unpacked:
    """Return the waiting pods before anything is packed."""
    made = problem(encoded, encoded.work.groups)
    return Unpacked(problem=made, bins=Packer(made, lambda: False).bins)


def verdicts(state: Unpacked, refuse: Callable[[Case], Rejection | None]) -> Verdicts:
    """Return what becomes of each waiting pod, buffers' apart, by the first rule that refuses."""
    fitting: list[str] = []
    refused: dict[Rule, list[str]] = {}
    messages: dict[Rule, str] = {}
    for index, group in enumerate(state.problem.groups):
        if group.virtual:
            continue
        found = refuse(a_case(state.problem, index))
        if found is None:
            fitting.extend(group.uids)
        else:
            refused.setdefault(found.rule, []).extend(group.uids)
            messages.setdefault(found.rule, found.message)
    return Verdicts(
        could_take=tuple(sorted(fitting)),
        refusals=tuple(_refusals(refused, messages)),
    )


def _refusals(refused: dict[Rule, list[str]], messages: dict[Rule, str]) -> Iterable[Refusal]:
    for rule in sorted(refused):
        yield Refusal(rule=rule, message=messages[rule], pod_uids=tuple(sorted(refused[rule])))
