"""`joiner plan`: what would be bought for the pods in some files, without any server."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import Console

from cli import clusters
from cli.choices import load
from cli.failures import bad_input_exits, end, progress
from cli.formats import Format, counted, print_json, print_notes
from cli.options import Choices
from cli.planned import cost, problems, purchases, summary
from cli.refining import Objectives, Refining
from cli.unplaced import unplaced
from libs.domain.plan import Plan
from libs.domain.solution import Solution, SolveOptions, with_unplaced
from libs.runtime.budget import spending
from libs.wire.solution_json import solution_document
from services.solver.core.offers.market import NOTHING_REMEMBERED, market
from services.solver.core.offers.weighing import without_effect
from services.solver.core.solve import solve


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """How to plan, as it was typed."""

    choices: Choices
    refining: Refining
    objectives: Objectives


def run(files: Sequence[str], catalogue: str, output: Format, typed: Typed) -> None:
    """Carry out `joiner plan`."""
    with bad_input_exits(), progress("reading") as status:
        cluster, options = load(files, catalogue, typed.choices)
        objective = typed.objectives.objective()
        options = replace(typed.refining.applied(options), objective=objective)
        status.update("planning")
        spent = spending(options.refine_budget)
        found = solve(cluster.snapshot, options, spent=spent)
        solution = with_unplaced(found, cluster.left_out)
    print_notes((*cluster.notes, *_idle_terms(cluster, options)))
    if output is Format.JSON:
        print_json(solution_document(solution))
    else:
        _print_table(solution, cluster)
    end(clusters.refusals(cluster), negative=bool(solution.pods.unplaced))


def _idle_terms(cluster: clusters.OfflineCluster, options: SolveOptions) -> Iterator[str]:
    """Yield the licences that change nothing, as one that is misspelt would not."""
    snapshot, objective = cluster.snapshot, options.objective
    if not objective.licences:
        return
    for one in without_effect(market(snapshot, options, NOTHING_REMEMBERED), snapshot, objective):
        yield f"no node that could be bought needs the licence for {one.nodes}"


def _print_table(solution: Solution, cluster: clusters.OfflineCluster) -> None:
    console = Console()
    plan = solution.plan
    console.print(summary(solution.pods), highlight=False)
    if plan.nodeclaims:
        console.print(purchases(plan, clusters.virtual_pods(cluster)))
    nodes = counted(len(plan.nodeclaims), "node")
    console.print(f"{nodes}, {cost(solution.cost)}", highlight=False)
    lines = list(problems(plan))
    if plan.unplaced:
        names = clusters.pod_names(cluster)
        lines += unplaced(plan.unplaced, names, clusters.workloads(cluster))
        if uid := _to_explain(plan, cluster):
            name = names.get(uid, uid)
            lines.append(f"joiner explain pod {name} tries which change gives it a place")
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _to_explain(plan: Plan, cluster: clusters.OfflineCluster) -> str:
    """Return the uid of a pod for which changes can be tried: of one that is left out all is said.

    Empty if there is none.
    """
    left_out = {uid for group in cluster.left_out for uid in group.pod_uids}
    undecided = (group.pod_uids[0] for group in plan.unplaced)
    return next((uid for uid in undecided if uid not in left_out), "")
