"""Blast radius: the same pods, of which no new node is to have more than costs nothing.

Apart from the score, which tells what more of them cost: here plans are made in which there are no
more. Whether that is worth its price is decided as of any other plan.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from libs.domain.objective import BlastRadius
from services.solver.core.packing.encode import Encoded
from services.solver.core.pods.grouping import Group


def within_radius(encoded: Encoded) -> Encoded | None:
    """Return what was solved with pods of one workload kept apart; None where nothing says so."""
    radius = encoded.options.objective.blast_radius
    if radius is None or not radius.pod_nanos_per_hour:
        return None
    owners = owners_of(encoded)
    total = Counter(owners.values())
    groups = tuple(_apart(group, owners, total, radius) for group in encoded.work.groups)
    return replace(encoded, work=replace(encoded.work, groups=groups))


def owners_of(encoded: Encoded) -> dict[str, str]:
    """Return the uid of the workload of each waiting pod that has one, by uid of the pod."""
    waiting = {uid for group in encoded.work.groups for uid in group.uids if not group.virtual}
    return {
        pod.uid: pod.owner.uid
        for pod in encoded.snapshot.pods.rows()
        if pod.owner is not None and pod.uid in waiting
    }


def _apart(
    group: Group, owners: Mapping[str, str], total: Counter[str], radius: BlastRadius
) -> Group:
    allowed = {radius.allowed(total[owners[uid]]) for uid in group.uids if uid in owners}
    return replace(group, most_on_claim=min(allowed)) if allowed else group
