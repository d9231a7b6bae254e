"""From a packed claim to the NodeClaim to create: what it may be, what it costs, its labels.

Claims of one class that fit on the same rows are the same but for their pods, so that what they may
be is worked out once.

Source: `docs/sources.md` D3.5, D4.6, D12.5, E1.4-5, 10.1.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.capacity import CapacityType
from libs.domain.plan import LaunchOption, PlannedNodeClaim
from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from services.solver.core.answer.holes import without_holes
from services.solver.core.answer.steering import steered
from services.solver.core.offers import min_values
from services.solver.core.offers.catalogue import CatalogueColumns
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.offers.market import Offers
from services.solver.core.offers.template import concrete_labels, exported
from services.solver.core.vectors import Bools, Ints

MOST_TYPES = 600
MIN_VALUES_RELAXED = "karpenter.sh/nodeclaim-min-values-relaxed"
PRICE_OVERLAY = "karpenter.sh/price-overlay-applied"
CAPACITY_OVERLAY = "karpenter.sh/capacity-overlay-applied"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchList:
    """What a claim may be bought as."""

    instance_types: tuple[str, ...]
    """Cheapest first, at most `MOST_TYPES`."""
    cheapest: LaunchOption
    weight: int
    """What it counts for in the objective: its price and what else nodes count for."""
    requirements: Requirements
    labels: tuple[tuple[str, str], ...]
    overhead: Ints
    """(n_resources,): the least that daemons take on any of the types."""
    keeps_min_values: bool
    annotations: tuple[tuple[str, str], ...]
    """Sorted by key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """A node to buy; claims that are the same but for their pods share one."""

    known: ClaimClass
    launch: LaunchList
    requests: Resources
    """Those of its pods, and the least that daemons take."""


@dataclass(slots=True)
class LaunchLists:
    """Launch lists by class and rows, purchases by class and use."""

    _lists: dict[tuple[ClaimClass, bytes], LaunchList] = field(default_factory=dict)
    _purchases: dict[tuple[ClaimClass, bytes], Purchase] = field(default_factory=dict)

    def purchase(self, known: ClaimClass, used: Ints) -> Purchase:
        """Return what to buy for a claim of a class with so much used, (n_resources,)."""
        key = (known, used.tobytes())
        found = self._purchases.get(key)
        if found is None:
            found = self._purchases[key] = purchase(known, used, self.of(known, used))
        return found

    def of(self, known: ClaimClass, used: Ints) -> LaunchList:
        """Return what claims of a class with so much used, (n_resources,), may be bought as."""
        rows = known.rows_for(used)
        key = (known, rows.tobytes())
        found = self._lists.get(key)
        if found is None:
            found = self._lists[key] = _launch_list(known, rows)
        return found


def purchase(known: ClaimClass, used: Ints, launch: LaunchList) -> Purchase:
    """Return the purchase of a node for so much use, (n_resources,), from this list."""
    requests = known.template.dimensions.resources(used + launch.overhead)
    return Purchase(known=known, launch=launch, requests=requests)


def planned(index: int, bought: Purchase, pod_uids: tuple[str, ...]) -> PlannedNodeClaim:
    """Return the NodeClaim to create.

    Args:
        index: its position in the plan.
        bought: what for; its class is that when packing is done.
        pod_uids: its pods, sorted.
    """
    pool, launch = bought.known.template.pool, bought.launch
    return PlannedNodeClaim(
        index=index,
        nodepool=pool.name,
        nodepool_uid=pool.uid,
        nodepool_hash=pool.hash,
        requirements=launch.requirements,
        requests=bought.requests,
        instance_types=launch.instance_types,
        cheapest=launch.cheapest,
        pod_uids=pod_uids,
        labels=launch.labels,
        annotations=launch.annotations,
    )


def _launch_list(known: ClaimClass, rows: Bools) -> LaunchList:
    template = known.template
    columns = template.columns
    everything = np.flatnonzero(known.narrowed_rows(rows))
    everything = everything[columns.rank[everything].argsort()]
    found = _steered(known, rows, _without_holes(known, rows, everything))
    kinds = _kinds(columns, found)
    listed = rows & _of_kinds(columns, kinds)
    found = found[listed[columns.row[found]]]
    names = tuple(map(columns.names.__getitem__, kinds.tolist()))
    lowered = {
        key: there
        for key, there in _reached(known, rows, found).items()
        if there < min_values.wanted(known)[key]
    }
    requirements = _lowered(known.requirements, lowered)
    if len(found) < _allowed(known, kinds).sum():
        zones = _one_of(label_keys.ZONE, (zone for zone, _ in columns.spots(found)))
        requirements = requirements.intersection(Requirements([zones]))
    first = columns.offerings[found[0]]
    return LaunchList(
        instance_types=names,
        cheapest=LaunchOption(
            instance_type=names[0],
            zone=first.zone,
            capacity_type=first.capacity_type,
            price_nanos_per_hour=first.price_nanos_per_hour,
        ),
        weight=int(columns.price[found[0]]),
        requirements=_launch_requirements(requirements, columns, found, names),
        labels=concrete_labels(template, requirements),
        overhead=template.overhead[_rows_of(columns, found)].min(axis=0),
        keeps_min_values=not lowered,
        annotations=_annotations(template.offers, names, relaxed=bool(lowered)),
    )


def _kinds(columns: CatalogueColumns, found: Ints) -> Ints:
    """Return the types of these offerings, in their order, as many as a claim may list."""
    kinds = dict.fromkeys(columns.row_type[columns.row[found]].tolist())
    return np.array([*islice(kinds, MOST_TYPES)], np.int64)


def _rows_of(columns: CatalogueColumns, found: Ints) -> Bools:
    """Return (n_rows,): the rows of these offerings."""
    there = np.zeros(len(columns.rows), np.bool_)
    there[columns.row[found]] = True
    return there


def _of_kinds(columns: CatalogueColumns, kinds: Ints) -> Bools:
    """Return (n_rows,): the rows of these types."""
    among = np.zeros(len(columns.types), np.bool_)
    among[kinds] = True
    found: Bools = among[columns.row_type]
    return found


def _reached(known: ClaimClass, rows: Bools, found: Ints) -> dict[str, int]:
    """Return how many values the list of these offerings' types has, per key with minValues."""
    wanted = min_values.wanted(known)
    if not wanted:
        return {}
    columns = known.template.columns
    kinds = _kinds(columns, found)
    listed = rows & _of_kinds(columns, kinds)
    there = {key: min_values.achieved(known, listed, key) for key in wanted}
    if there.keys().isdisjoint((label_keys.ZONE, label_keys.CAPACITY_TYPE)):
        return there
    offered = found[listed[columns.row[found]]]
    spots = columns.spots(offered)
    stated = {label_keys.CAPACITY_TYPE: len({kind for _, kind in spots})}
    if len(offered) < _allowed(known, kinds).sum():
        stated[label_keys.ZONE] = len({zone for zone, _ in spots})
    return {key: min(count, stated.get(key, count)) for key, count in there.items()}


def _choice_kept(known: ClaimClass, rows: Bools, found: Ints) -> Callable[[Ints], bool]:
    """Return who tells whether fewer offerings reach the minValues that these reach."""
    wanted = min_values.wanted(known)
    reached = _reached(known, rows, found)

    def kept(fewer: Ints) -> bool:
        there = _reached(known, rows, fewer)
        return all(there[one] >= min(least, reached[one]) for one, least in wanted.items())

    return kept


def _without_holes(known: ClaimClass, rows: Bools, found: Ints) -> Ints:
    """Return the offerings whose types, zones and capacity types may all be combined."""
    columns = known.template.columns
    bad = _allowed(known, columns.row_type[columns.row[found]])
    bad[found] = False
    return without_holes(columns, found, bad, _choice_kept(known, rows, found))


def _steered(known: ClaimClass, rows: Bools, found: Ints) -> Ints:
    """Return the offerings among which a provider chooses as we would, if minValues allow it."""
    kept = _choice_kept(known, rows, found)
    wanted = min_values.wanted(known)

    def allowed(key: str, fewer: Ints) -> bool:
        return kept(fewer) and (key == label_keys.INSTANCE_TYPE or key not in wanted)

    return steered(known.template.offers, found, allowed)


def _allowed(known: ClaimClass, kinds: Ints) -> Bools:
    """Return (n_offerings,): the offerings of these types that the requirements alone allow."""
    template = known.template
    columns = template.columns
    mask = template.permitted & _of_kinds(columns, kinds)[columns.row]
    for one in known.requirements:
        mask = mask & columns.mask(one, lenient=one.key in template.requirements)
    return mask


def _annotations(
    offers: Offers, names: tuple[str, ...], *, relaxed: bool
) -> tuple[tuple[str, str], ...]:
    found = {MIN_VALUES_RELAXED: "true" if relaxed else "false"}
    if not offers.overlay.priced.isdisjoint(names):
        found[PRICE_OVERLAY] = "true"
    if not offers.overlay.capacity.keys().isdisjoint(names):
        found[CAPACITY_OVERLAY] = "true"
    return tuple(sorted(found.items()))


def _lowered(requirements: Requirements, lowered: dict[str, int]) -> Requirements:
    """Return the requirements with the minValues that the list reaches."""
    if not lowered:
        return requirements
    return Requirements(
        replace(one, min_values=lowered[one.key] or None) if one.key in lowered else one
        for one in requirements
    )


def _launch_requirements(
    requirements: Requirements, columns: CatalogueColumns, found: Ints, names: tuple[str, ...]
) -> Requirements:
    capacity_types = {kind for _, kind in columns.spots(found)}
    added = [
        _one_of(label_keys.INSTANCE_TYPE, names),
        _one_of(label_keys.CAPACITY_TYPE, capacity_types),
    ]
    if capacity_types == {CapacityType.RESERVED}:
        offered = [columns.offerings[one] for one in found.tolist()]
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
