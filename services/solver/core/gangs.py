"""Gangs: pods that get places together or not at all.

A gang that comes out short is taken out whole and everything is packed anew, since its members
held room that others may need. Members that run already count.
"""

from collections import Counter
from collections.abc import Sequence

from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.workload import Group, Workload


def without_gangs(groups: tuple[Group, ...], gangs: frozenset[str]) -> tuple[Group, ...]:
    """Return the groups without the pods of these gangs."""
    if not gangs:
        return groups
    found = []
    for group in groups:
        kept = [index for index, gang in enumerate(group.gangs) if gang not in gangs]
        if kept:
            found.append(group.of(kept))
    return tuple(found)


def short_gangs(
    snapshot: ClusterSnapshot, work: Workload, groups: tuple[Group, ...], left: Sequence[int]
) -> dict[str, str]:
    """Return the gangs that got places, but too few, each with what to say about it.

    Args:
        snapshot: the cluster.
        work: all pods.
        groups: the groups that were packed.
        left: per group, how many pods at its end have no place.
    """
    placed: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    for group, unplaced in zip(groups, left, strict=True):
        first = len(group.uids) - unplaced
        placed.update(gang for gang in group.gangs[:first] if gang)
        missing.update(gang for gang in group.gangs[first:] if gang)
    found = {}
    for gang in sorted(missing | placed):
        known = snapshot.gangs.get(gang)
        if known is None:
            continue
        total = placed[gang] + work.gang_members.get(gang, 0)
        if total < known.min_members:
            found[gang] = (
                f"gang {gang} needs {known.min_members} pods placed together; "
                f"at most {total} have a place"
            )
    return found
