"""From a packed claim to the NodeClaim to create: what it may be, what it costs, its labels.

Claims of one class that fit on the same rows are the same but for their pods, so that what they may
be is worked out once.

Source: `docs/sources.md` D3.5, D4.6, D12.5, E1.4-5, 10.1.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.capacity import CapacityType, Offering
from libs.domain.plan import LaunchOption, PlannedNodeClaim
from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from services.solver.core import min_values
from services.solver.core.claim_class import ClaimClass
from services.solver.core.template import concrete_labels, exported
from services.solver.core.vectors import Bools, Ints

MOST_TYPES = 600
MIN_VALUES_RELAXED = "karpenter.sh/nodeclaim-min-values-relaxed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchList:
    """What a claim may be bought as."""

    instance_types: tuple[str, ...]
    """Cheapest first, at most `MOST_TYPES`."""
    cheapest: LaunchOption
    requirements: Requirements
    labels: tuple[tuple[str, str], ...]
    overhead: Ints
    """(n_resources,): the least that daemons take on any of the types."""
    keeps_min_values: bool


@dataclass(slots=True)
class LaunchLists:
    """Launch lists by class and rows."""

    _known: dict[tuple[int, bytes], LaunchList] = field(default_factory=dict)

    def of(self, known: ClaimClass, used: Ints) -> LaunchList:
        """Return what claims of a class with so much used, (n_resources,), may be bought as."""
        rows = known.rows_for(used)
        key = (known.id, rows.tobytes())
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _launch_list(known, rows)
        return found


def planned(
    index: int, choice: LaunchList, known: ClaimClass, used: Ints, pod_uids: tuple[str, ...]
) -> PlannedNodeClaim:
    """Return the NodeClaim to create.

    Args:
        index: its position in the plan.
        choice: what it may be bought as.
        known: its class when packing is done.
        used: (n_resources,): requests of its pods.
        pod_uids: its pods, sorted.
    """
    pool = known.template.pool
    return PlannedNodeClaim(
        index=index,
        nodepool=pool.name,
        nodepool_uid=pool.uid,
        nodepool_hash=pool.hash,
        requirements=choice.requirements,
        requests=known.template.dimensions.resources(used + choice.overhead),
        instance_types=choice.instance_types,
        cheapest=choice.cheapest,
        pod_uids=pod_uids,
        labels=choice.labels,
        annotations=((MIN_VALUES_RELAXED, "false" if choice.keeps_min_values else "true"),),
    )


def _launch_list(known: ClaimClass, rows: Bools) -> LaunchList:
    template = known.template
    columns = template.columns
    found = np.flatnonzero(known.narrowed_rows(rows))
    found = found[columns.rank[found].argsort()]
    kinds = list(dict.fromkeys(columns.row_type[columns.row[found]].tolist()))[:MOST_TYPES]
    listed = rows & np.isin(columns.row_type, kinds)
    offered = [columns.offerings[one] for one in found[listed[columns.row[found]]].tolist()]
    names = tuple(columns.types[kind].name for kind in kinds)
    lowered = {}
    for key, least in min_values.wanted(known).items():
        there = min_values.achieved(columns, listed, key)
        if there < least:
            lowered[key] = there
    requirements = _lowered(known.requirements, lowered)
    return LaunchList(
        instance_types=names,
        cheapest=LaunchOption(
            instance_type=names[0],
            zone=offered[0].zone,
            capacity_type=offered[0].capacity_type,
            price_nanos_per_hour=offered[0].price_nanos_per_hour,
        ),
        requirements=_launch_requirements(requirements, offered, names),
        labels=concrete_labels(template, requirements),
        overhead=template.overhead[listed].min(axis=0),
        keeps_min_values=not lowered,
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
    requirements: Requirements, offered: list[Offering], names: tuple[str, ...]
) -> Requirements:
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
