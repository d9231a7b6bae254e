"""Which of all that refuse a pod comes nearest: what the first line of a reason is about.

Apart because nodes and pools are weighed against each other here alone. Nearest is what the
smallest change would mend: by the order in which changes are held to be small (`ChangeKind`), then
by the share of what is asked that is missing, then nodes before pools, since they cost nothing,
then in the order in which pools are tried. Taints are asked about before most rules and may hide
another one: what would refuse a pod that tolerates them, too, is never nearest if it need not be,
and a pool that nothing is bought from for anybody only where there is nothing else.
An explanation, which tries changes, begins with what the smallest one that works leads to instead.
"""

from collections.abc import Sequence
from itertools import islice

import numpy as np

from libs.domain.reason import Rejection, Rule, TargetKind
from services.solver.core.packing.bins import Bins
from services.solver.core.reasons.case import Case, bearing_all
from services.solver.core.reasons.pool_reasons import pool_rejection
from services.solver.core.reasons.refusals import Refusals
from services.solver.core.reasons.standing_reasons import bin_rejection, rules_at
from services.solver.core.vectors import Ints

_MILLION = 10**6
_SMALLEST_FIRST = (
    Rule.TAINTS,
    Rule.TOPOLOGY_SPREAD,
    Rule.NODE_AFFINITY,
    Rule.POD_AFFINITY,
    Rule.POD_ANTI_AFFINITY,
    Rule.RESOURCES,
    Rule.HOST_PORTS,
    Rule.VOLUME_TOPOLOGY,
    Rule.VOLUME_BINDING,
    Rule.VOLUME_CLAIM,
    Rule.VOLUME_LIMITS,
    Rule.STORAGE_CAPACITY,
    Rule.DEVICES,
    Rule.POOL_LIMITS,
    Rule.MIN_VALUES,
    Rule.RESERVATIONS,
    Rule.OFFERINGS,
    Rule.NODE_FEATURES,
    Rule.NODE_UNAVAILABLE,
)
OUT_FOR_ALL = frozenset(
    {Rule.POOL_REQUIREMENTS, Rule.POOL_NOT_READY, Rule.POOL_STATIC, Rule.CATALOGUE}
)
"""Rules by which a pool is out, whoever waits."""
_SIZES = {rule: size for size, rule in enumerate(_SMALLEST_FIRST)}


def nearest_miss(
    case: Case, bins: Bins, refusals: Refusals, rejections: Sequence[Rejection]
) -> Rejection | None:
    """Return what refuses a pod by the least; None where nothing is there to refuse it.

    Args:
        case: the pod.
        bins: nodes and claims in flight, as packing left them.
        refusals: per one of them the rule by which it refuses.
        rejections: by the pools, in the order in which they are tried.
    """
    bearing = bearing_all(case)
    plain, hiding = _apart(bearing, bins, refusals)
    pools = [one for one in rejections if one.rule not in OUT_FOR_ALL]
    found = [*_nearest_bin(case, bins, plain), *_without_hiding(bearing, pools)]
    found = found or [*_nearest_bin(case, bins, hiding), *pools] or [*rejections]
    return min(found, key=_size, default=None)


def _apart(bearing: Case, bins: Bins, refusals: Refusals) -> tuple[Refusals, Refusals]:
    """Return the refusals of bins without those where taints hide another rule, and these."""
    tainted, none = refusals.by(Rule.TAINTS), Refusals.of(len(refusals))
    if not len(tainted):
        return refusals, none
    hidden = np.ones(len(tainted), np.bool_)
    hidden[rules_at(bearing, bins, tainted).by(None)] = False
    hiding = tainted[hidden]
    return refusals.with_rule(hiding, None), none.with_rule(hiding, Rule.TAINTS)


def _without_hiding(bearing: Case, rejections: Sequence[Rejection]) -> list[Rejection]:
    """Return what pools say, but of those that refuse by taints only the first one that hides none.

    Others would not be nearer than it, and need not be judged.
    """
    found = [one for one in rejections if one.rule is not Rule.TAINTS]
    pools = {template.pool.name: template for template in bearing.problem.templates}
    tainted = (one for one in rejections if one.rule is Rule.TAINTS)
    bare = (one for one in tainted if pool_rejection(bearing, pools[one.target]) is None)
    return [*found, *islice(bare, 1)]


def _nearest_bin(case: Case, bins: Bins, refusals: Refusals) -> list[Rejection]:
    rules = [rule for rule in refusals.counted() if rule is not None]
    if not rules:
        return []
    rule = min(rules, key=lambda one: (_size_of_rule(one), one))
    positions = refusals.by(rule)
    first = _nearest(case.vector, bins.free[positions])
    return [bin_rejection(case, bins, int(positions[first]), rule)]


def _nearest(asked: Ints, room: Ints) -> int:
    """Return the first row of `room`, (n, n_resources), of those that `nearness` would put first.

    Apart from that because plans ask it of every pod that is left over: nothing is sorted.
    """
    missing = np.maximum(asked - room, 0)
    few = (missing > 0).sum(axis=1)
    rows = np.flatnonzero(few == few.min())
    share = (missing[rows] / np.maximum(asked, 1)).max(axis=1, initial=0)
    return int(rows[share.argmin()])


def _size(one: Rejection) -> tuple[int, int, bool]:
    missing = [
        (asked - one.offered.get(name)) * _MILLION // asked
        for name, asked in one.asked.items()
        if asked > one.offered.get(name)
    ]
    pool = one.target_kind is TargetKind.NODEPOOL
    return _size_of_rule(one.rule), max(missing, default=0), pool


def _size_of_rule(rule: Rule) -> int:
    return _SIZES.get(rule, len(_SIZES))
