"""From a packed claim to the NodeClaim to create: what it may be, what it costs, its labels.

Source: `reference/karpenter-behaviour.md` D3.5, D4.6, D12.5, E1.4-5; `reference/karpenter-api.md`
10.1.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.capacity import CapacityType
from libs.domain.plan import LaunchOption, PlannedNodeClaim
from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from services.solver.core import min_values
from services.solver.core.claim_class import ClaimClass
from services.solver.core.template import concrete_labels, exported
from services.solver.core.vectors import Bools, Dimensions, Ints

MOST_TYPES = 600
MIN_VALUES_RELAXED = "karpenter.sh/nodeclaim-min-values-relaxed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchList:
    """What a claim may be bought as."""

    kinds: tuple[int, ...]
    """Types, cheapest first."""
    rows: Bools
    """(n_rows,): their rows that have room."""
    offerings: Ints
    """Offerings, cheapest first."""
    lowered: dict[str, int]
    """Keys whose minValues the list does not reach, with what it reaches."""


def launch_list(known: ClaimClass, used: Ints) -> LaunchList:
    """Return what claims of a class with so much used, (n_resources,), may be bought as."""
    columns = known.template.columns
    rows = known.rows_for(used)
    found = np.flatnonzero(known.narrowed_rows(rows))
    found = found[columns.rank[found].argsort()]
    kinds = list(dict.fromkeys(columns.row_type[columns.row[found]].tolist()))[:MOST_TYPES]
    listed = rows & np.isin(columns.row_type, kinds)
    achieved = {
        key: (min_values.achieved(columns, listed, key), least)
        for key, least in min_values.wanted(known).items()
    }
    return LaunchList(
        kinds=tuple(kinds),
        rows=listed,
        offerings=found[listed[columns.row[found]]],
        lowered={key: there for key, (there, least) in achieved.items() if there < least},
    )


def planned(
    index: int, known: ClaimClass, used: Ints, pod_uids: tuple[str, ...], dimensions: Dimensions
) -> PlannedNodeClaim:
    """Return the NodeClaim to create.

    Args:
        index: its position in the plan.
        known: its class when packing is done.
        used: (n_resources,): requests of its pods.
        pod_uids: its pods, sorted.
        dimensions: the columns of resources.
    """
    template = known.template
    columns = template.columns
    choice = launch_list(known, used)
    names = tuple(columns.types[kind].name for kind in choice.kinds)
    best = columns.offerings[int(choice.offerings[0])]
    requirements = _lowered(known.requirements, choice.lowered)
    return PlannedNodeClaim(
        index=index,
        nodepool=template.pool.name,
        nodepool_uid=template.pool.uid,
        nodepool_hash=template.pool.hash,
        requirements=_launch_requirements(requirements, known, choice, names),
        requests=dimensions.resources(used + template.overhead[choice.rows].min(axis=0)),
        instance_types=names,
        cheapest=LaunchOption(
            instance_type=names[0],
            zone=best.zone,
            capacity_type=best.capacity_type,
            price_nanos_per_hour=best.price_nanos_per_hour,
        ),
        pod_uids=pod_uids,
        labels=concrete_labels(template, requirements),
        annotations=((MIN_VALUES_RELAXED, "true" if choice.lowered else "false"),),
    )


def _lowered(requirements: Requirements, lowered: dict[str, int]) -> Requirements:
    """Return the requirements with the minValues that the list reaches."""
    if not lowered:
        return requirements
    return Requirements(
        one
        if one.key not in lowered
        else Requirement(
            key=one.key,
            complement=one.complement,
            values=one.values,
            absent=one.absent,
            gte=one.gte,
            lte=one.lte,
            min_values=lowered[one.key] or None,
        )
        for one in requirements
    )


def _launch_requirements(
    requirements: Requirements, known: ClaimClass, choice: LaunchList, names: tuple[str, ...]
) -> Requirements:
    columns = known.template.columns
    offered = [columns.offerings[position] for position in choice.offerings.tolist()]
    capacity_types = {offering.capacity_type for offering in offered}
    added = [
        _one_of(label_keys.INSTANCE_TYPE, names),
        _one_of(label_keys.CAPACITY_TYPE, capacity_types),
    ]
    if capacity_types == {CapacityType.RESERVED}:
        ids = {offering.reservation_id for offering in offered}
        keys = {
            one.key
            for offering in offered
            for one in offering.requirements
            if not one.complement and one.values == frozenset({offering.reservation_id})
        }
        added += [_one_of(key, ids) for key in sorted(keys)]
    return exported(requirements).intersection(Requirements(added))


def _one_of(key: str, values: Iterable[str]) -> Requirement:
    return Requirement(key=key, complement=False, values=frozenset(values), absent=False)
