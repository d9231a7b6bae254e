"""What may replace nodes: cheaper offerings only, by Karpenter's rules about spot.

Apart because packing asks what fits; here it is asked what is worth it. Prices are judged offering
by offering: whatever a provider may choose of the launch list is cheaper than what goes.

Source: `docs/sources.md` H8.3-6, H9, H10.4. Difference on purpose: of a type that is cheap enough
in some zones only, those zones stay; Karpenter drops the type.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from libs.domain import feature_gates
from libs.domain import labels as label_keys
from libs.domain.feature_gates import FeatureGate
from libs.domain.requirement import Requirement
from libs.domain.solution import MinValuesPolicy
from services.solver.core.answer.launch import LaunchList, LaunchLists
from services.solver.core.consolidating.leavers import Leaver
from services.solver.core.offers.catalogue import CatalogueColumns
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.packing.problem import Problem
from services.solver.core.vectors import Bools, Ints

LEAST_SPOT_TYPES = 15
"""A single spot node is replaced by spot only if so many types are cheaper, or the next one would
be taken away just as soon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """What is bought instead of some nodes."""

    known: ClaimClass
    """Cheap enough offerings only."""
    used: Ints
    """(n_resources,): what its pods request."""
    launch: LaunchList


def replacement(
    problem: Problem,
    known: ClaimClass,
    used: Ints,
    leavers: Sequence[Leaver],
    gates: Mapping[str, bool],
) -> Replacement | str:
    """Return what may be bought instead of these nodes, or in words why nothing may.

    Args:
        problem: what was packed.
        known: the claim that packing has opened.
        used: (n_resources,): what its pods request.
        leavers: the nodes that it replaces.
        gates: feature gates as they were given.
    """
    fitting = known.narrowed_rows(known.rows_for(used))
    found = _cheap_enough(known.template.columns, fitting, leavers, gates)
    if isinstance(found, str):
        return found
    cheaper = problem.classes.restrict(known, found)
    lists = LaunchLists()
    if _is_spot_to_spot(known.template.columns, found, leavers) and len(leavers) == 1:
        cheaper = _cut(problem, cheaper, used, lists)
    launch = lists.of(cheaper, used)
    if not launch.keeps_min_values and problem.min_values is MinValuesPolicy.STRICT:
        return "too few types are cheaper for the minValues of the pool"
    return Replacement(known=cheaper, used=used, launch=launch)


def _cheap_enough(
    columns: CatalogueColumns,
    fitting: Bools,
    leavers: Sequence[Leaver],
    gates: Mapping[str, bool],
) -> Bools | str:
    """Return (n_offerings,): what may be bought of the offerings that fit."""
    spent = sum(one.price for one in leavers)
    found = fitting & (columns.price < spent)
    spot = _of_type(columns, label_keys.SPOT)
    if _is_spot_to_spot(columns, fitting, leavers):
        gate = FeatureGate.SPOT_TO_SPOT_CONSOLIDATION
        if not feature_gates.is_open(gate, gates):
            return f"spot nodes are replaced by spot nodes only if the feature gate {gate} is open"
        found = found & spot
    elif (found & spot).any():
        # Who cannot get spot shall not come home with on-demand, which is dearer.
        found = found & ~_of_type(columns, label_keys.ON_DEMAND)
    if len(leavers) > 1:
        found = _without_same_types(columns, found, leavers)
    kinds = len(np.unique(columns.row_type[columns.row[found]]))
    if not kinds:
        return "nothing that has room for its pods is cheaper"
    alone = _is_spot_to_spot(columns, fitting, leavers) and len(leavers) == 1
    if alone and kinds < LEAST_SPOT_TYPES:
        return (
            f"a spot node is replaced by spot only if {LEAST_SPOT_TYPES} instance types are "
            f"cheaper, {kinds} are"
        )
    return found


def _is_spot_to_spot(columns: CatalogueColumns, fitting: Bools, leavers: Sequence[Leaver]) -> bool:
    all_spot = all(one.offering[2] == label_keys.SPOT for one in leavers)
    return all_spot and bool((fitting & _of_type(columns, label_keys.SPOT)).any())


def _of_type(columns: CatalogueColumns, capacity_type: str) -> Bools:
    """Return (n_offerings,): those of one capacity type."""
    one = Requirement(
        key=label_keys.CAPACITY_TYPE,
        complement=False,
        values=frozenset({capacity_type}),
        absent=False,
    )
    return columns.mask(one, lenient=False)


def _without_same_types(
    columns: CatalogueColumns, found: Bools, leavers: Sequence[Leaver]
) -> Bools:
    """Return what is cheaper than each node that goes whose type is among what could come.

    Or several nodes would be given up for one of the same kind that only one of them was needed
    for.
    """
    names = [kind.name for kind in columns.types]
    coming = {names[kind] for kind in np.unique(columns.row_type[columns.row[found]]).tolist()}
    prices = [one.price for one in leavers if one.offering[0] in coming]
    return found & (columns.price < min(prices)) if prices else found


def _cut(problem: Problem, known: ClaimClass, used: Ints, lists: LaunchLists) -> ClaimClass:
    """Return the class with the cheapest types only, as few as the rule asks for and minValues.

    More would not be cheaper one day than what the node then is: so it would be replaced again.
    """
    columns = known.template.columns
    offered = np.flatnonzero(known.offerings)
    ordered = offered[columns.rank[offered].argsort()]
    kinds = list(dict.fromkeys(columns.row_type[columns.row[ordered]].tolist()))
    for most in range(LEAST_SPOT_TYPES, len(kinds)):
        some = np.isin(columns.row_type, kinds[:most])[columns.row]
        narrower = problem.classes.restrict(known, some)
        if lists.of(narrower, used).keeps_min_values:
            return narrower
    return known
