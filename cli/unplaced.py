"""Pods without a place, for people: what is the same is said once, and never more than fits a page.

Apart because a plan tells of each kind of pod by itself, and of thousands of pods people want to
know first how many kinds of trouble there are. The JSON has every pod.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cli.formats import counted, few, nameless
from libs.domain.plan import UnplacedPods
from libs.domain.reason import Rejection, Unplaceable

_REASONS_SHOWN = 20
_SUMMED_UP = 4
"""From so many reasons on a line sums them up first."""
_KINDS_SHOWN = 6


def unplaced(
    groups: Sequence[UnplacedPods], names: Mapping[str, str], workloads: Mapping[str, str]
) -> Iterator[str]:
    """Yield why pods have no place, most pods first; not all reasons are told where they are many.

    Args:
        groups: the pods.
        names: `namespace/name` by uid.
        workloads: kind and `namespace/name` of their controllers by uid, of those that have one.
    """
    alike = sorted(_alike(groups).values(), key=_most_pods_first)
    if len(alike) >= _SUMMED_UP:
        yield _summed_up(groups, len(alike))
    for same in alike[:_REASONS_SHOWN]:
        uids = [uid for group in same for uid in group.pod_uids]
        yield f"{counted(len(uids), 'pod')} without a place: {_listed(uids, names, workloads)}"
        lines = list(_why(same[0].reason))
        if len({tuple(_why(group.reason)) for group in same}) > 1:
            first = uids[0]
            yield f"    {names.get(first, first)}, and the others likewise:"
        yield from lines
    hidden = len(alike) - _REASONS_SHOWN
    if hidden > 0:
        yield f"and {counted(hidden, 'more reason')}; --format json has all"


def _alike(groups: Iterable[UnplacedPods]) -> dict[tuple[str, ...], list[UnplacedPods]]:
    """Return the pods by what is said of them, whatever names it mentions."""
    found: dict[tuple[str, ...], list[UnplacedPods]] = {}
    for group in groups:
        lines = tuple(map(nameless, _why(group.reason)))
        found.setdefault(lines, []).append(group)
    return found


def _most_pods_first(same: list[UnplacedPods]) -> tuple[int, tuple[str, ...]]:
    return -sum(len(group.pod_uids) for group in same), same[0].pod_uids


def _summed_up(groups: Iterable[UnplacedPods], reasons: int) -> str:
    counts: Counter[str] = Counter()
    for group in groups:
        counts[_kind(group.reason)] += len(group.pod_uids)
    kinds = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    told = ", ".join(f"{count} by {kind}" for kind, count in kinds[:_KINDS_SHOWN])
    more = sum(count for _, count in kinds[_KINDS_SHOWN:])
    others = f", {more} by other rules" if more else ""
    return f"{sum(counts.values())} pods without a place, for {reasons} reasons: {told}{others}"


def _kind(reason: Unplaceable) -> str:
    """Return the rule of the pool that is named as nearest, or of the first one.

    Without pools it is the one by which most nodes refuse.
    """
    if reason.rejections:
        told = (one for one in reason.rejections if _is_named(one, reason.message))
        return str(next(told, reason.rejections[0]).rule)
    return str(max(reason.existing, key=lambda item: item[1])[0]) if reason.existing else "gang"


def _is_named(one: Rejection, message: str) -> bool:
    return message.endswith(f'{one.target_kind} "{one.target}": {one.message}')


def _listed(uids: Sequence[str], names: Mapping[str, str], workloads: Mapping[str, str]) -> str:
    """Return the workloads that have several of the pods, largest first, then other pods."""
    many = Counter(workloads[uid] for uid in uids if uid in workloads)
    whole = {name for name, count in many.items() if count > 1}
    texts = [
        f"{counted(count, 'pod')} of {name}"
        for name, count in sorted(many.items(), key=lambda item: (-item[1], item[0]))
        if name in whole
    ]
    alone = [uid for uid in uids if workloads.get(uid) not in whole]
    return few((*texts, *(names.get(uid, uid) for uid in alone)))


def _why(reason: Unplaceable) -> Iterator[str]:
    """Yield what came nearest, if that is not the only pool, then what each pool and rule says."""
    yield from (f"    {line}" for line in _headline(reason))
    for rejection in reason.rejections:
        yield f"    {rejection.target_kind} {rejection.target}: {rejection.message}"
        if rejection.suggestion:
            yield f"        may help: {rejection.suggestion}"
    if reason.untold_pools:
        yield f"    and {counted(reason.untold_pools, 'nodepool')} more"
    for rule, count in reason.existing:
        if count:
            yield f"    {counted(count, 'existing node')}: {rule}"


def _headline(reason: Unplaceable) -> Iterator[str]:
    if len(reason.rejections) != 1:
        yield reason.message
        return
    (only,) = reason.rejections
    of_pool = f'{only.target_kind} "{only.target}": {only.message}'
    if reason.message != of_pool:
        yield reason.message.removesuffix(f"; {of_pool}")
