"""`joiner check`: could kube-scheduler follow this plan on that cluster?"""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cli import clusters
from cli.failures import UNPLACED, bad_input_exits
from cli.formats import Format
from cli.plan import CatalogueName, Files, Now
from libs.checker.plan import check_plan
from libs.domain.errors import InvalidRequest
from libs.domain.solution import Solution
from libs.oracle.check import Violation
from libs.oracle.cluster import Cluster
from libs.wire.solution_json import parse_solution


def check(
    files: Files,
    plan: Annotated[Path, typer.Option(help="A plan: what `joiner plan --format json` prints.")],
    catalogue: CatalogueName = "kwok",
    output: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.TABLE,
    now: Now = None,
) -> None:
    """Judge every placement of a plan by kube-scheduler's rules, and every claim by its pool's.

    Exit code 0: the plan is right; 3: it is not, each violated rule is named; 2: bad input.
    """
    errors = Console(stderr=True)
    with bad_input_exits(), errors.status("reading") as status:
        cluster = clusters.load(files, catalogue, clusters.instant(now))
        solution = _read_plan(plan)
        status.update("judging")
        violations = check_plan(
            _objects(cluster),
            cluster.snapshot,
            solution.plan,
            daemon_sets=[found for kind, found in cluster.documents if kind == "DaemonSet"],
        )
    _print(violations, output)
    if violations:
        raise typer.Exit(UNPLACED)


def _objects(cluster: clusters.OfflineCluster) -> Cluster:
    objects = Cluster()
    for kind, document in cluster.documents:
        objects.put(kind, document)
    return objects


def _read_plan(path: Path) -> Solution:
    try:
        return parse_solution(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InvalidRequest("not text in UTF-8", field=str(path)) from None
    except InvalidRequest as error:
        raise error.under(str(path)) from None


def _print(violations: list[Violation], output: Format) -> None:
    if output is Format.JSON:
        found = [
            {"pod": one.pod, "node": one.node, "rule": one.rule, "message": one.message}
            for one in violations
        ]
        json.dump({"violations": found}, sys.stdout, indent=1)
        sys.stdout.write("\n")
        return
    for one in violations:
        print(f"{one.pod or '-'} on {one.node or '-'}: {one.rule}: {one.message}")
    print(f"{len(violations)} violations")
