"""Parts: which groups are packed before others begin.

Apart from packing because only the groups decide it: buffers come last, before them who gets what
others leave, and among all others a layer goes before the next.
"""

from collections import defaultdict
from collections.abc import Sequence

from services.solver.core.pods.grouping import Group


def layers(groups: Sequence[Group]) -> dict[int, list[int]]:
    """Return by layer the groups that do not just get what others leave."""
    found: dict[int, list[int]] = defaultdict(list)
    for index, one in enumerate(groups):
        if not one.virtual and one.late <= 0:
            found[one.layer].append(index)
    return found


def parts(groups: Sequence[Group]) -> list[list[int]]:
    """Return the groups in parts, each of which is packed before the next one begins.

    Who has a nominated node comes in the turn of its layer, as nobody else gets its room meanwhile.
    """
    found: dict[tuple[bool, int, int, int], list[int]] = defaultdict(list)
    for index, group in enumerate(groups):
        late = 0 if group.nominated else group.late
        found[group.virtual, max(late, 0), group.layer, late].append(index)
    return [part for _, part in sorted(found.items())]
