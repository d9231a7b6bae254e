"""Whether plans hold, asked of the checker, which shares nothing with the solver."""

from collections.abc import Iterable

from benchmarks.documents import Document
from libs.checker.plan import check_solution
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution
from libs.oracle.check import Violation
from libs.oracle.cluster import Cluster


def violations(
    documents: Iterable[Document], snapshot: ClusterSnapshot, solution: Solution
) -> list[Violation]:
    """Return every rule that the plan breaks.

    Args:
        documents: all that the snapshot was made from.
        snapshot: what was asked about.
        solution: the answer.
    """
    cluster, daemon_sets = Cluster(), []
    for one in documents:
        cluster.put(one["kind"], one)
        if one["kind"] == "DaemonSet":
            daemon_sets.append(one)
    return check_solution(cluster, snapshot, solution, daemon_sets=daemon_sets)
