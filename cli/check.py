"""`joiner check`: could kube-scheduler follow this plan on that cluster?"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cli import clusters
from cli.choices import default_spread
from cli.failures import bad_input_exits, end, progress
from cli.formats import Format, counted, print_json, print_notes
from libs.checker.default_spread import constraint_documents
from libs.checker.plan import check_solution
from libs.domain.errors import InvalidRequest
from libs.domain.solution import Solution
from libs.domain.topology import TopologySpread
from libs.oracle.check import Violation
from libs.oracle.cluster import Cluster
from libs.wire.solution_json import parse_solution


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWith:
    """What a plan was made with and does not record."""

    catalogue: str
    scheduler_config: str
    now: str | None


def run(files: Sequence[str], plan: Path, planned_with: PlannedWith, output: Format) -> None:
    """Carry out `joiner check`."""
    with bad_input_exits(), progress("reading") as status:
        solution = _read_plan(plan)
        spread = default_spread(planned_with.scheduler_config)
        cluster = clusters.load(
            files,
            planned_with.catalogue,
            clusters.instant(planned_with.now),
            gates=solution.options.feature_gates,
            default_spread=spread,
        )
        status.update("judging")
        violations = check_solution(
            _objects(cluster, spread),
            cluster.snapshot,
            solution,
            daemon_sets=[found for kind, found in cluster.documents if kind == "DaemonSet"],
        )
    print_notes(cluster.notes)
    _print(violations, output)
    end(clusters.refusals(cluster), negative=bool(violations))


def _objects(cluster: clusters.OfflineCluster, spread: Sequence[TopologySpread]) -> Cluster:
    objects = Cluster(constraint_documents(spread))
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
