"""`joiner plan`: what would be bought for the pods in some files, without any server."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.console import Console

from cli import clusters
from cli.choices import load
from cli.failures import bad_input_exits, end, progress
from cli.formats import Format, counted, print_json, print_notes
from cli.options import Choices
from cli.planned import cost, problems, purchases, summary, unplaced
from cli.refining import Objectives, Refining
from libs.domain.solution import Solution, with_unplaced
from libs.runtime.budget import spending
from libs.wire.solution_json import solution_document
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
    print_notes(cluster.notes)
    if output is Format.JSON:
        print_json(solution_document(solution))
    else:
        _print_table(solution, cluster)
    end(clusters.refusals(cluster), negative=bool(solution.pods.unplaced))


def _print_table(solution: Solution, cluster: clusters.OfflineCluster) -> None:
    console = Console()
    plan = solution.plan
    console.print(summary(solution.pods), highlight=False)
    if plan.nodeclaims:
        console.print(purchases(plan, clusters.virtual_pods(cluster)))
    nodes = counted(len(plan.nodeclaims), "node")
    console.print(f"{nodes}, {cost(solution.cost)}", highlight=False)
    names = clusters.pod_names(cluster) if plan.unplaced else {}
    lines = [*problems(plan), *unplaced(plan.unplaced, names)]
    if plan.unplaced:
        uid = plan.unplaced[0].pod_uids[0]
        lines.append(
            f"joiner explain pod {names.get(uid, uid)} tries which change gives it a place"
        )
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
