"""Answers to what-ifs, for people."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from cli import clusters
from cli.formats import counted, dollars, few
from cli.planned import problems, purchases, summary
from cli.unplaced import unplaced
from libs.domain.plan import Plan
from libs.domain.pod import Target
from libs.domain.scenario import PodMove, ScenarioAnswer, ScenarioDiff

_MOVES_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An answer, and the cluster out of files that it is about, before edits."""

    answer: ScenarioAnswer
    cluster: clusters.OfflineCluster

    @property
    def names(self) -> dict[str, str]:
        """Return `namespace/name` of every pod by uid."""
        added = self.answer.diff.added_pods
        return clusters.pod_names(self.cluster) | {
            one.uid: f"{one.namespace}/{one.name}" for one in added
        }


def print_answers(as_it_is: Shown, answers: Sequence[Shown]) -> None:
    """Print what the cluster costs as it is, and what each what-if changes."""
    console = Console()
    for line in _now(as_it_is):
        _print(console, line)
    if len(answers) > 1:
        console.print()
        console.print(_overview(answers))
    for one in answers:
        console.print()
        _print_answer(console, one, as_it_is.answer)


def _now(shown: Shown) -> Iterator[str]:
    answer = shown.answer
    nodes = len(shown.cluster.snapshot.nodes)
    cost = dollars(answer.diff.cost_before_nanos_per_hour)
    yield f"as it is: {counted(nodes, 'node')}, {cost} $/h; {summary(answer.solution.pods)}"
    bought = len(answer.solution.plan.nodeclaims)
    if bought:
        after = dollars(answer.diff.cost_after_nanos_per_hour)
        yield f"    with {counted(bought, 'node')} bought for them: {after} $/h"


def _overview(answers: Sequence[Shown]) -> Table:
    table = Table(
        "what if", "gone", "added", "bought", "pods moved", "without a place", "$/h", "", box=None
    )
    for one in answers:
        diff, solution = one.answer.diff, one.answer.solution
        table.add_row(
            one.answer.scenario,
            str(len(diff.removed_nodes)),
            str(len(diff.added_nodes)),
            str(len(solution.plan.nodeclaims)),
            str(sum(len(move.pod_uids) for move in diff.moves)),
            str(solution.pods.unplaced),
            dollars(diff.cost_after_nanos_per_hour),
            _signed(diff.cost_delta_nanos_per_hour),
        )
    return table


def _print_answer(console: Console, shown: Shown, as_it_is: ScenarioAnswer) -> None:
    answer, names = shown.answer, shown.names
    plan = answer.solution.plan
    _print(console, f"what if: {answer.scenario}")
    for line in _changes(answer.diff, names):
        _print(console, line)
    _print(console, summary(answer.solution.pods))
    if plan.nodeclaims:
        console.print(purchases(plan, clusters.virtual_pods(shown.cluster)))
    for line in (*_moves(answer.diff, plan), *_cost(answer.diff, as_it_is.diff)):
        _print(console, line)
    without = unplaced(plan.unplaced, names, clusters.workloads(shown.cluster))
    for line in (*problems(plan), *without):
        _print(console, line)


def _changes(diff: ScenarioDiff, names: Mapping[str, str]) -> Iterator[str]:
    """Yield what edits took away and added."""
    told = [
        ("gone", "node", diff.removed_nodes),
        ("added", "node", diff.added_nodes),
        ("gone", "pod", tuple(names.get(uid, uid) for uid in diff.removed_pods)),
        ("added", "pod", tuple(names[one.uid] for one in diff.added_pods)),
        ("left without a place", "pod", tuple(names.get(uid, uid) for uid in diff.stranded_pods)),
    ]
    for what, noun, found in told:
        if found:
            yield f"{counted(len(found), noun)} {what}: {few(found)}"


def _moves(diff: ScenarioDiff, plan: Plan) -> Iterator[str]:
    """Yield which pods move where."""
    for move in diff.moves[:_MOVES_SHOWN]:
        count = counted(len(move.pod_uids), "pod")
        yield f"{count} from {move.from_node} to {_where(move, plan)}"
    hidden = len(diff.moves) - _MOVES_SHOWN
    if hidden > 0:
        yield f"and {counted(hidden, 'more move')}; --format json has all"


def _where(move: PodMove, plan: Plan) -> str:
    if isinstance(move.to, Target):
        return f"{move.to.kind} {move.to.name}"
    claim = next(one for one in plan.nodeclaims if one.index == move.to)
    best = claim.cheapest
    return f"a new {best.instance_type} of {claim.nodepool} in {best.zone}"


def _cost(diff: ScenarioDiff, as_it_is: ScenarioDiff) -> Iterator[str]:
    now, then = diff.cost_before_nanos_per_hour, diff.cost_after_nanos_per_hour
    yield f"{dollars(now)} $/h now, {dollars(then)} $/h then: {_signed(then - now)} $/h"
    planned = as_it_is.cost_after_nanos_per_hour
    if planned != now:
        yield (
            f"    without the change the pods that wait now bring it to {dollars(planned)} $/h: "
            f"the change itself is {_signed(then - planned)} $/h"
        )


def _signed(nanos: int) -> str:
    return f"{'-' if nanos < 0 else '+'}{dollars(abs(nanos))}"


def _print(console: Console, line: str) -> None:
    console.print(line, highlight=False, markup=False, soft_wrap=True)
