"""Which groups go first to a place that several could use: those with less of a choice.

Apart because it is about groups and each other, not about room: pods of one set differ only in
where their volumes are, or in what node they select, and a spread counts them all. One that may go
anywhere should leave the zones to those that are tied to them.
"""

from collections import defaultdict
from collections.abc import Sequence

from services.solver.core.pods.choice import choice
from services.solver.core.pods.grouping import Group


def with_less_choice(groups: Sequence[Group]) -> tuple[tuple[int, ...], ...]:
    """Return for each group those before it that a spread counts with it and that are more tied."""
    alike: dict[object, list[tuple[int, int]]] = defaultdict(list)
    found: list[tuple[int, ...]] = [()] * len(groups)
    spread = [
        (index, group, choice(group.shape))
        for index, group in enumerate(groups)
        if any(one.required for one in group.shape.topology_spread)
    ]
    if len({mine for *_, mine in spread}) < 2:  # most often nobody is tied
        return tuple(found)
    for index, group, mine in spread:
        shape = group.shape
        kind = (shape.namespace, shape.labels, shape.topology_spread, group.late, group.virtual)
        found[index] = tuple(one for one, other in alike[kind] if other < mine)
        alike[kind].append((index, mine))
    return tuple(found)
