"""Who waits comes first: what pods get that wait is theirs before any node is given up.

Apart because it happens once, and by the rules of planning, not of consolidation: the next plan is
made as if no command were given, and what it counts on is left to it, nodes and limits.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from libs.domain.pod import Target
from services.solver.core.consolidating.charging import charge
from services.solver.core.consolidating.remains import Remains, after
from services.solver.core.consolidating.seats import seats
from services.solver.core.packed import Packed, packed
from services.solver.core.packing.encode import Encoded
from services.solver.core.pods.grouping import Group

_PLANNED = "\0planned-"
"""Begins names of claims that the next plan makes; no object has such a name."""


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


def settled(
    encoded: Encoded, plain: Encoded, closed: frozenset[str], cancelled: Callable[[], bool]
) -> Settled:
    """Return the cluster with the pods that wait where the next plan puts them.

    Args:
        encoded: the cluster, ready for pods to move.
        plain: the same as a plan reads it, without regard to who may move.
        closed: bins that take no pods that move.
        cancelled: asked now and then.

    Raises:
        Unavailable: `cancelled` said so.
    """
    remains = Remains(encoded=encoded, closed=closed)
    if not encoded.work.groups:
        return Settled(remains=remains, expected=frozenset(), kept={}, devices=False)
    planned = packed(plain, cancelled)
    targets = _targets(plain, planned)
    work = replace(encoded.work, groups=_seated(encoded.work.groups, targets))
    packer = packed(replace(encoded, work=work), cancelled).packer
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
    remains = replace(remains, encoded=replace(remains.encoded, work=work))
    real = [one for one in here if not one.group.virtual]
    virtual = {uid for group in encoded.work.groups if group.virtual for uid in group.uids}
    return Settled(
        remains=_charged(remains, planned),
        expected=frozenset(standing.names[one.bin] for one in real).union(
            (target.name for uid, target in targets.items() if uid not in virtual),
            (group.nominated for group in encoded.work.groups if group.nominated),
        ),
        kept=kept,
        devices=any(one.group.shape.device_claims for one in here),
    )


def _targets(plain: Encoded, planned: Packed) -> dict[str, Target]:
    """Return the nodes and claims in flight on which the next plan puts pods, by uid."""
    bins = [*map(Target, plain.standing.kinds, plain.standing.names)]
    return {
        uid: bins[one.bin]
        for one in seats(planned.packer)
        if one.bin < len(bins)
        for uid in one.uids
    }


def _seated(groups: Iterable[Group], targets: Mapping[str, Target]) -> tuple[Group, ...]:
    """Return the pods that go to what is there, each expected where the next plan has it.

    Whose room on a nominated node is kept stays as it is.
    """
    found = []
    for group in groups:
        if group.nominated:
            found.append(group)
            continue
        some = group.of([at for at, uid in enumerate(group.uids) if uid in targets])
        if some.uids:
            found.append(
                replace(
                    some,
                    targets=tuple(targets[uid] for uid in some.uids),
                    # Others of a gang may be on new nodes.
                    gangs=("",) * len(some.uids),
                    existing_only=True,
                )
            )
    return tuple(found)


def _charged(remains: Remains, planned: Packed) -> Remains:
    """Return the remains with what the next plan buys charged to the limits of its pools."""
    bins = planned.packer.bins
    claims = {
        (name := f"{_PLANNED}{number}"): charge(name, known, bins.used[number], remains)
        for number, known in enumerate(bins.claims)
        if known.template.pool.limits
    }
    snapshot = remains.encoded.snapshot
    known = MappingProxyType({**snapshot.nodeclaims, **claims})
    snapshot = replace(snapshot, nodeclaims=known) if claims else snapshot
    return replace(remains, encoded=replace(remains.encoded, snapshot=snapshot))
