"""Which pods a drain would evict now, and which pod disruption budgets have a say in it.

Apart because the solver (whose pods need another place), disruption (whose node may go) and
explanations have to answer alike.

Source: `docs/sources.md` B, H2.11.
"""

from libs.domain import do_not_disrupt
from libs.domain.pod import PodRow
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.taint import DISRUPTED, tolerates
from libs.domain.workload import PodDisruptionBudget


def is_protected(row: PodRow, now_ms: int) -> bool:
    """Tell whether the pod's do-not-disrupt annotation holds now, in milliseconds since 1970."""
    return do_not_disrupt.protects(row.do_not_disrupt_ms, started_ms=row.started_ms, now_ms=now_ms)


def is_disruptable(row: PodRow, now_ms: int) -> bool:
    """Tell whether the pod lets its node go: it has ended, is ending, or is not protected."""
    return not row.active or not is_protected(row, now_ms)


def is_evictable(row: PodRow, snapshot: ClusterSnapshot, now_ms: int) -> bool:
    """Tell whether a drain would evict the pod, so that pod disruption budgets concern it."""
    mirror = row.owner is not None and row.owner.is_node
    return (
        row.active
        and not mirror
        and not is_protected(row, now_ms)
        and not tolerates(snapshot.shapes[row.shape].tolerations, (DISRUPTED,))
    )


class PodBudgets:
    """The pod disruption budgets of a snapshot, matched per shape: there are far fewer than pods.

    A pod under several of them can never be evicted, since the eviction API refuses it.
    """

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._shapes = snapshot.shapes
        self._by_namespace: dict[str, list[PodDisruptionBudget]] = {}
        for budget in snapshot.pod_disruption_budgets.values():
            self._by_namespace.setdefault(budget.namespace, []).append(budget)
        self._by_shape: dict[int, tuple[PodDisruptionBudget, ...]] = {}

    def of(self, row: PodRow) -> tuple[PodDisruptionBudget, ...]:
        """Return the budgets that select the pod, in order of their names."""
        found = self._by_shape.get(row.shape)
        if found is None:
            found = self._by_shape[row.shape] = self._selecting(row.shape)
        return found

    def forbid_for_ever(self, row: PodRow) -> bool:
        """Tell whether the pod can never be evicted, however healthy it and its siblings are."""
        budgets = self.of(row)
        return len(budgets) > 1 or any(budget.never_satisfiable for budget in budgets)

    def exhausted(self, row: PodRow) -> tuple[PodDisruptionBudget, ...]:
        """Return the budgets that allow no eviction of the pod now; unhealthy ones pass some."""
        return tuple(budget for budget in self.of(row) if _is_exhausted(budget, row))

    def _selecting(self, number: int) -> tuple[PodDisruptionBudget, ...]:
        shape = self._shapes[number]
        labels = dict(shape.labels)
        return tuple(
            budget
            for budget in self._by_namespace.get(shape.namespace, ())
            if budget.selector is not None and budget.selector.matches(labels)
        )


def _is_exhausted(budget: PodDisruptionBudget, row: PodRow) -> bool:
    unhealthy_pass = budget.evicts_unhealthy_always and not row.ready
    return budget.disruptions_allowed <= 0 and not unhealthy_pass
