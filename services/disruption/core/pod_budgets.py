"""Pod disruption budgets that would refuse an eviction now.

Apart because budgets are matched per shape, of which there are far fewer than pods.

Source: `docs/sources.md` H2.11: a pod under several budgets can never be evicted, since the
eviction API refuses it; unhealthy pods pass a budget that says so.
"""

from collections.abc import Iterable

from libs.domain.blocking import BlockerKind
from libs.domain.plan import Blocker
from libs.domain.pod import PodRow
from libs.domain.workload import PodDisruptionBudget
from services.disruption.core.blocking import blocker
from services.disruption.core.pods import is_evictable, qualified_name
from services.disruption.core.question import Question


class PodBudgets:
    """The budgets of one snapshot."""

    def __init__(self, question: Question) -> None:
        self._shapes = question.snapshot.shapes
        self._now_ms = question.now_ms
        self._by_namespace: dict[str, list[PodDisruptionBudget]] = {}
        for budget in question.snapshot.pod_disruption_budgets.values():
            self._by_namespace.setdefault(budget.namespace, []).append(budget)
        self._by_shape: dict[int, tuple[PodDisruptionBudget, ...]] = {}

    def blockers(self, rows: Iterable[PodRow]) -> tuple[Blocker, ...]:
        """Return what refuses the eviction of these pods, one blocker for each budget or pod."""
        found: dict[tuple[str, str], Blocker] = {}
        for row in rows:
            if not is_evictable(row, self._shapes[row.shape], self._now_ms):
                continue
            for one in self._refusals(row):
                found.setdefault((one.kind, one.object), one)
        return tuple(found.values())

    def _refusals(self, row: PodRow) -> tuple[Blocker, ...]:
        budgets = self._matching(row.shape)
        if len(budgets) > 1:
            return (_several(row, budgets),)
        return tuple(_exhausted(row, budget) for budget in budgets if _is_exhausted(budget, row))

    def _matching(self, number: int) -> tuple[PodDisruptionBudget, ...]:
        if number not in self._by_shape:
            shape = self._shapes[number]
            labels = dict(shape.labels)
            self._by_shape[number] = tuple(
                budget
                for budget in self._by_namespace.get(shape.namespace, ())
                if budget.selector is not None and budget.selector.matches(labels)
            )
        return self._by_shape[number]


def _is_exhausted(budget: PodDisruptionBudget, row: PodRow) -> bool:
    unhealthy_pass = budget.evicts_unhealthy_always and not row.ready
    return budget.disruptions_allowed <= 0 and not unhealthy_pass


def _exhausted(row: PodRow, budget: PodDisruptionBudget) -> Blocker:
    when = "ever" if budget.never_satisfiable else "now"
    return blocker(
        BlockerKind.POD_DISRUPTION_BUDGET,
        f'pod disruption budget "{budget.key}" allows no eviction {when}, '
        f'such as of pod "{qualified_name(row)}"',
        budget.key,
    )


def _several(row: PodRow, budgets: Iterable[PodDisruptionBudget]) -> Blocker:
    names = ", ".join(budget.key for budget in budgets)
    return blocker(
        BlockerKind.SEVERAL_POD_DISRUPTION_BUDGETS,
        f'pod "{qualified_name(row)}" is under several pod disruption budgets ({names}), '
        "so it can never be evicted",
        qualified_name(row),
    )
