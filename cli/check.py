"""`joiner check`: could kube-scheduler follow this plan on that cluster?"""

from collections.abc import Sequence
from pathlib import Path

import typer

from cli import clusters
from cli.failures import UNPLACED, bad_input_exits, progress
from cli.formats import Format, counted, print_json, print_notes
from libs.checker.plan import check_solution
from libs.domain.errors import InvalidRequest
from libs.domain.solution import Solution
from libs.oracle.check import Violation
from libs.oracle.cluster import Cluster
from libs.wire.solution_json import parse_solution


def run(files: Sequence[str], plan: Path, catalogue: str, output: Format, now: str | None) -> None:
    """Carry out `joiner check`."""
    with bad_input_exits(), progress("reading") as status:
        solution = _read_plan(plan)
        gates = solution.options.feature_gates
        cluster = clusters.load(files, catalogue, clusters.instant(now), gates=gates)
        status.update("judging")
        violations = check_solution(
            _objects(cluster),
            cluster.snapshot,
            solution,
            daemon_sets=[found for kind, found in cluster.documents if kind == "DaemonSet"],
        )
    print_notes(cluster.notes)
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
        return parse_solution(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise InvalidRequest("not text in UTF-8", field=str(path)) from None
    except InvalidRequest as error:
        raise InvalidRequest(str(error), field=str(path)) from None


def _print(violations: list[Violation], output: Format) -> None:
    if output is Format.JSON:
        found = [
            {"pod": one.pod, "node": one.node, "rule": one.rule, "message": one.message}
            for one in violations
        ]
        print_json({"violations": found})
        return
    for one in violations:
        where = " on ".join(part for part in (one.pod, one.node) if part)
        print(f"{where or 'plan'}: {one.rule}: {one.message}")
    print(counted(len(violations), "violation"))
