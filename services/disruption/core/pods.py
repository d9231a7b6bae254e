"""Pods by node, and what disrupting their node means for them.

Apart from `libs/domain/pod.py` because these rules are disruption's own.

Source: `docs/sources.md` B.
"""

from collections.abc import Mapping

from libs.domain import do_not_disrupt
from libs.domain.pod import PodRow, PodShape
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.taint import DISRUPTED, tolerates


def by_node(snapshot: ClusterSnapshot) -> Mapping[str, tuple[PodRow, ...]]:
    """Return the pods that are bound, by node, in order of uid; nodes without any are not there."""
    found: dict[str, list[PodRow]] = {}
    for row in snapshot.pods.rows():
        if row.node:
            found.setdefault(row.node, []).append(row)
    return {node: tuple(rows) for node, rows in found.items()}


def qualified_name(row: PodRow) -> str:
    """Return `namespace/name`."""
    return f"{row.namespace}/{row.name}"


def is_protected(row: PodRow, now_ms: int) -> bool:
    """Tell whether the pod's do-not-disrupt annotation holds now."""
    return do_not_disrupt.protects(row.do_not_disrupt_ms, started_ms=row.started_ms, now_ms=now_ms)


def is_disruptable(row: PodRow, now_ms: int) -> bool:
    """Tell whether the pod lets its node go: it has ended, is ending, or is not protected."""
    return not row.active or not is_protected(row, now_ms)


def is_evictable(row: PodRow, shape: PodShape, now_ms: int) -> bool:
    """Tell whether a drain would evict the pod, so that pod disruption budgets concern it."""
    mirror = row.owner is not None and row.owner.is_node
    return (
        row.active
        and not mirror
        and not is_protected(row, now_ms)
        and not tolerates(shape.tolerations, (DISRUPTED,))
    )
