"""Are the members of each gang placed together, or none of them?

Apart because kube-scheduler's default profile knows no gangs.
"""

from collections import Counter
from collections.abc import Collection, Iterator

from libs.domain.plan import Plan
from libs.domain.snapshot import ClusterSnapshot
from libs.oracle.check import Violation


def broken_gangs(snapshot: ClusterSnapshot, placed: Collection[str]) -> Iterator[Violation]:
    """Yield the gangs of which the plan places too few; those that run already count.

    Args:
        snapshot: what the plan was made from.
        placed: uids of the pods that it gives a place.
    """
    new: Counter[str] = Counter()
    running: Counter[str] = Counter()
    for row in snapshot.pods.rows():
        if row.uid in placed:
            new[row.gang] += 1
        elif row.node and not row.terminal:
            running[row.gang] += 1
    for name, gang in snapshot.gangs.items():
        together = new[name] + running[name]
        if new[name] and together < gang.min_members:
            message = (
                f'gang "{name}" needs {gang.min_members} pods together, {together} have a place'
            )
            yield Violation(pod="", node="", rule="Gang", message=message)


def bought_in_vain(snapshot: ClusterSnapshot, plan: Plan) -> Iterator[Violation]:
    """Yield the pods that a node is bought for though they only ask if there is room."""
    asking = {
        row.uid: row.key
        for row in snapshot.pods.rows()
        if row.gang in snapshot.gangs and snapshot.gangs[row.gang].existing_only
    }
    for claim in plan.nodeclaims:
        for uid in claim.pod_uids:
            if uid in asking:
                message = "it only asks if there is room: no node may be bought for it"
                yield Violation(pod=asking[uid], node="", rule="Gang", message=message)
