"""Who waits comes first: what pods get that wait is theirs before any node is given up.

Apart because it happens once, and by the rules of planning, not of consolidation.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from services.solver.core.consolidating.remains import Remains, after
from services.solver.core.consolidating.seats import seats
from services.solver.core.packed import packed
from services.solver.core.packing.encode import Encoded
from services.solver.core.pods.grouping import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A cluster in which nobody waits any more who has a place on what is there."""

    remains: Remains
    expected: frozenset[str]
    """Nodes that pods are going to which wait: they are needed."""
    kept: Mapping[str, tuple[Group, ...]]
    """By node, virtual pods of buffers for which it keeps room."""
    devices: bool
    """Whether pods that wait get devices."""


def settled(encoded: Encoded, closed: frozenset[str], cancelled: Callable[[], bool]) -> Settled:
    """Return the cluster with the pods that wait where they will be.

    Raises:
        Unavailable: `cancelled` said so.
    """
    remains = Remains(encoded=encoded, closed=closed)
    if not encoded.work.groups:
        return Settled(remains=remains, expected=frozenset(), kept={}, devices=False)
    packer = packed(encoded, cancelled).packer
    standing = encoded.standing
    here = [one for one in seats(packer) if one.bin < len(standing)]
    moved = [(one.group.shape, standing.names[one.bin], len(one.uids)) for one in here]
    kept: dict[str, tuple[Group, ...]] = defaultdict(tuple)
    for one in here:
        if one.group.virtual:
            some = set(one.uids)
            numbers = [at for at, uid in enumerate(one.group.uids) if uid in some]
            kept[standing.names[one.bin]] += (one.group.of(numbers),)
    remains = after(remains, encoded, packer.bins, moved)
    work = replace(remains.encoded.work, groups=())
    return Settled(
        remains=replace(remains, encoded=replace(remains.encoded, work=work)),
        expected=frozenset(standing.names[one.bin] for one in here if not one.group.virtual),
        kept=kept,
        devices=any(one.group.shape.device_claims for one in here),
    )
