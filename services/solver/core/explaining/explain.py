"""`explain`: from a snapshot and a subject to an explanation.

A pure function of (snapshot, options, subject), like `solve`.
"""

from collections.abc import Callable, Iterable, Iterator

from libs.domain import spelling
from libs.domain.errors import NotFound
from libs.domain.explanation import Explanation
from libs.domain.pod import PodRow
from libs.domain.question import SubjectKind
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from libs.domain.workload import SetAside
from services.solver.core.explaining.edits import row_of
from services.solver.core.explaining.node import explain_node
from services.solver.core.explaining.pod import explain_pod, explain_set_aside
from services.solver.core.explaining.pool import explain_pool
from services.solver.core.explaining.trial import Desk
from services.solver.core.offers.market import NOTHING_REMEMBERED, Memory
from services.solver.core.solve import VERSION

_NAMES_SHOWN = 3


def explain(
    snapshot: ClusterSnapshot,
    options: SolveOptions,
    kind: SubjectKind,
    subject: str,
    *,
    memory: Memory = NOTHING_REMEMBERED,
    cancelled: Callable[[], bool] = lambda: False,
) -> Explanation:
    """Say why a pod has no place, what a node or a pool is and does.

    Args:
        snapshot: the cluster; consistent, as `snapshot.inconsistencies` tells.
        options: how decisions are made.
        kind: what the subject is.
        subject: uid, `namespace/name` or name, as the kind says.
        memory: what is known from earlier calls.
        cancelled: asked between groups of pods of each decision; True ends the work.

    Raises:
        NotFound: there is no such subject; names those that were perhaps meant.
        Unavailable: `cancelled` said so.
    """
    base = Explanation(snapshot=snapshot.id, options=options, solver_version=VERSION)
    desk = Desk(options=options, memory=memory, cancelled=cancelled)
    match kind:
        case SubjectKind.POD | SubjectKind.POD_NAME:
            return _pod(desk, snapshot, kind, subject, base)
        case SubjectKind.NODE:
            found = explain_node(desk, snapshot, subject, base)
            names: Iterable[str] = (*snapshot.nodes, *snapshot.nodeclaims)
        case SubjectKind.NODEPOOL:
            found = explain_pool(desk, snapshot, subject, base)
            names = snapshot.nodepools
    if found is None:
        raise _unknown(kind, subject, names)
    return found


def _pod(
    desk: Desk, snapshot: ClusterSnapshot, kind: SubjectKind, subject: str, base: Explanation
) -> Explanation:
    named = _named(snapshot, subject)
    row = row_of(snapshot, subject) if kind is SubjectKind.POD else named
    if row is not None:
        return explain_pod(desk, snapshot, row, base).explanation
    item = _set_aside(snapshot, subject)
    if item is not None:
        return explain_set_aside(item, base)
    if kind is SubjectKind.POD:
        raise NotFound(f'there is no pod with uid "{subject}"')
    raise _unknown("pod", subject, _pod_names(snapshot))


def _named(snapshot: ClusterSnapshot, subject: str) -> PodRow | None:
    namespace, _, name = subject.partition("/")
    for block in snapshot.pods.blocks:
        for index, there in enumerate(block.names):
            if there == name and block.namespaces[index] == namespace:
                return block.row(index)
    return None


def _set_aside(snapshot: ClusterSnapshot, subject: str) -> SetAside | None:
    return snapshot.set_aside.get(f"Pod/{subject}")


def _pod_names(snapshot: ClusterSnapshot) -> Iterator[str]:
    table = snapshot.pods
    yield from map("/".join, zip(table.namespaces, table.names, strict=True))
    yield from (
        f"{one.namespace}/{one.name}" for one in snapshot.set_aside.values() if one.kind == "Pod"
    )


def _unknown(kind: str, subject: str, names: Iterable[str]) -> NotFound:
    known = tuple(names)
    near = spelling.nearest(subject, known, _NAMES_SHOWN)
    last = subject.rpartition("/")[2]
    elsewhere = sorted(name for name in known if name.rpartition("/")[2] == last)
    longer = sorted(name for name in known if name.startswith(subject))
    meant = tuple(dict.fromkeys((*elsewhere, *longer, *near)))[:_NAMES_SHOWN]
    told = "; perhaps " + ", ".join(f'"{name}"' for name in meant) if meant else ""
    some = "" if known else f"; there is no {kind} at all"
    return NotFound(f'there is no {kind} "{subject}"{told}{some}')
