"""Why a pod has no place: the first rule that leaves nothing of a pool, how many bins each refused.

Apart because it is computed once per shape and only for pods that are left over; nothing here
decides or searches. The rules are asked on the state that packing ended with.

Source: `docs/architecture.md`, law 9.
"""

from dataclasses import dataclass, replace

from libs.domain.reason import Rejection, Rule, TargetKind, Unplaceable
from services.solver.core.offers.template import Refused, Template, in_order
from services.solver.core.packing.bins import Bins
from services.solver.core.packing.packing import Packer
from services.solver.core.reasons.case import Case, a_case
from services.solver.core.reasons.kept_room import without_own
from services.solver.core.reasons.nearest_miss import nearest_miss
from services.solver.core.reasons.pool_reasons import pool_rejection, refused_pool, rejection
from services.solver.core.reasons.refusals import Refusals
from services.solver.core.reasons.standing_reasons import devices_in_sight, standing_rules
from services.solver.core.topology.entangled import MOST_PAIRS

MOST_REJECTIONS = 20_000
"""Rejections by pools that all reasons of a plan have together, or few each: thousands of unlike
pods that none of hundreds of pools takes would make an answer that no message can hold."""
_LEAST_POOLS = 3

_WITHOUT_POOL = {Rule.POOL_NOT_READY: "not ready", Rule.POOL_STATIC: "static"}
"""Rules by which a pool is out for all pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """A group that is left over, with all that was found out about it."""

    case: Case
    reason: Unplaceable
    refusals: Refusals
    bins: Bins
    """How packing ended, but for what is kept for it itself."""


def unplaceable(
    packer: Packer, refused: tuple[Refused, ...], group: int, most_pools: int
) -> Unplaceable:
    """Return why the pods of a group that are left over have no place.

    Args:
        packer: after its run.
        refused: pools that nothing is bought from.
        group: index of the group.
        most_pools: how many pools are asked, the first ones; of the others it is told how many.
    """
    return leftover(packer, refused, group, most_pools=most_pools).reason


def pools_told(leftovers: int) -> int:
    """Return how many pools the reason of each of so many leftover groups tells of."""
    return max(_LEAST_POOLS, MOST_REJECTIONS // max(leftovers, 1))


def leftover(
    packer: Packer,
    refused: tuple[Refused, ...],
    group: int,
    *,
    left: bool = True,
    most_pools: int | None = None,
) -> Leftover:
    """Return why the pods of a group are left over, and which rule each bin refused them by.

    Args:
        packer: after its run.
        refused: pools that nothing is bought from.
        group: index of the group.
        most_pools: as of `unplaceable`; None: all.
        left: whether it is left over indeed; of any other one only what refuses it is told.
    """
    problem, deferred = packer.problem, packer.is_deferred(group)
    case = a_case(problem, group, deferred=deferred)
    bins = without_own(problem, packer.bins, group)
    if problem.topology.is_entangled(case.ask.shape):
        return _entangled(case, bins)
    if claim := problem.topology.in_use(case.ask):
        return _in_use(case, claim, bins)
    pools = in_order((*(one.pool for one in refused), *(one.pool for one in problem.templates)))
    told = {pool.name for pool in pools[:most_pools]}
    by_pool = {one.pool.name: refused_pool(one) for one in refused if one.pool.name in told}
    for template in problem.templates:
        if template.pool.name not in told:
            continue
        found = pool_rejection(case, template) or (_unnamed(template) if left else None)
        if found is not None:
            by_pool[template.pool.name] = found
    refusals = standing_rules(case, bins)
    where, why = devices_in_sight(case, bins, refusals)
    rejections = tuple(
        _beside(by_pool[pool.name], where, why) for pool in pools if pool.name in by_pool
    )
    untold = len(pools) - len(told)
    nearest = nearest_miss(case, bins, refusals, rejections) if left else None
    # What would take a pod that waits for its nominated node says nothing against it.
    puzzling = left and not problem.groups[group].nominated
    counted = {
        rule or Rule.UNKNOWN: count
        for rule, count in refusals.counted().items()
        if puzzling or rule
    }
    return Leftover(
        case=case,
        reason=Unplaceable(
            message=_without_pools(nearest, where, why)
            if not rejections
            else headline(rejections, untold, nearest),
            rejections=rejections,
            existing=tuple(sorted(counted.items())),
            deferred=deferred,
            untold_pools=untold,
        ),
        refusals=refusals,
        bins=bins,
    )


def _beside(found: Rejection, where: str, why: str) -> Rejection:
    """Return the reason of a pool; if new nodes lack devices, with why those there do not do."""
    if found.rule is not Rule.DEVICES or why in found.message:
        return found
    return replace(found, message=f"{found.message}; on {where}, {why}")


def _unnamed(template: Template) -> Rejection:
    """Return the only reason that packing does not leave in its state.

    A claim was taken back, since its launch list was too long to keep its minValues.
    """
    message = "too few types are left to keep minValues"
    return rejection(template.pool.name, Rule.MIN_VALUES, message)


def _entangled(case: Case, bins: Bins) -> Leftover:
    nodes = len(bins.standing)
    rule = Rule.TOPOLOGY_SPREAD if case.ask.spread else Rule.POD_AFFINITY
    rule = Rule.POD_ANTI_AFFINITY if case.ask.anti_affinity else rule
    reason = Unplaceable(
        message=f"its rules about other pods, and theirs, count more than {MOST_PAIRS:,} pairs of "
        "rule and kind of pod in one plan; pods that select fewer others go first",
        existing=((rule, nodes),),
    )
    return Leftover(case=case, reason=reason, refusals=Refusals.of(nodes, rule), bins=bins)


def _in_use(case: Case, claim: str, bins: Bins) -> Leftover:
    nodes = len(bins.standing)
    reason = Unplaceable(
        message=f'persistentvolumeclaim "{claim}" is used by another pod, and only one at a time '
        "may use it (ReadWriteOncePod)",
        existing=((Rule.VOLUME_CLAIM, nodes),),
    )
    return Leftover(
        case=case, reason=reason, refusals=Refusals.of(nodes, Rule.VOLUME_CLAIM), bins=bins
    )


def _without_pools(nearest: Rejection | None, where: str, why: str) -> str:
    message = "no node takes it, and there is no nodepool to buy one from"
    if why:
        return f"{message}; on {where}, {why}"
    return message if nearest is None else f"{message}; {_nearest(nearest)}"


def headline(rejections: tuple[Rejection, ...], untold: int, nearest: Rejection | None) -> str:
    """Return in a sentence why a pod has no place, beginning with what came nearest.

    Args:
        rejections: by pools, one at least, in the order in which they are tried.
        untold: how many pools refuse besides.
        nearest: what came nearest, be it a node or one of the pools; None where nobody knows.
    """
    whole = _of_pools(rejections, untold)
    if nearest is None:
        return whole
    if nearest.target_kind is not TargetKind.NODEPOOL and len(rejections) == 1 and not untold:
        return f"{_nearest(nearest)}; {whole}"
    rules = {one.rule for one in rejections}
    if nearest in rejections and (len(rejections) == 1 or rules <= _WITHOUT_POOL.keys()):
        return whole
    return f"{whole}; {_nearest(nearest)}"


def _nearest(one: Rejection) -> str:
    return f'nearest is {one.target_kind} "{one.target}": {one.message}'


def _of_pools(rejections: tuple[Rejection, ...], untold: int) -> str:
    if untold:
        first = f"the first {len(rejections)} are told of here, all by an explanation"
        return f"none of {len(rejections) + untold} nodepools can take it; {first}"
    rules = {one.rule for one in rejections}
    if len(rejections) > 1 and rules <= _WITHOUT_POOL.keys():
        return f"no node takes it, and none of {len(rejections)} nodepools buys one: " + "; ".join(
            f"{_WITHOUT_POOL[rule]}: {_named(rejections, rule)}" for rule in sorted(rules)
        )
    if len(rejections) > 1:
        return f"none of {len(rejections)} nodepools can take it"
    return f'nodepool "{rejections[0].target}": {rejections[0].message}'


def _named(rejections: tuple[Rejection, ...], rule: Rule) -> str:
    return ", ".join(sorted(one.target for one in rejections if one.rule is rule))
