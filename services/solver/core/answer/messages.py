"""What a plan has to say about pools: why nothing is bought from one, what is doubtful of another.

Apart from reasons, which are about pods: these are said even where every pod has a place.
"""

from collections.abc import Iterable, Iterator, Mapping, Set

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.nodepool import NodePool
from libs.domain.plan import PoolMessage
from libs.domain.reason import Rule
from libs.domain.resources import BYTES, named_amount, readable_amount
from libs.domain.solution import MinValuesPolicy
from libs.domain.validation import unknown_capacity_types
from services.solver.core.exclusion import exclusives
from services.solver.core.offers import min_values
from services.solver.core.offers.template import Template
from services.solver.core.packing.encode import Encoded
from services.solver.core.packing.packing import Packer
from services.solver.core.packing.problem import Problem
from services.solver.core.vectors import Bools, Ints, covering

_ERROR = 20
"""An estimate of memory or storage may be wrong by one part in so many; of CPU there is none."""


def pool_messages(
    encoded: Encoded, made: Problem, packer: Packer, kept: Set[int]
) -> tuple[PoolMessage, ...]:
    """Return what is to be said about pools, in the order in which pools are tried.

    Args:
        encoded: the input.
        made: the packing problem.
        packer: after its run.
        kept: the claims of the packer that the plan creates.
    """
    free = kept - _set_apart(made, packer)
    return (
        *(one.as_message() for one in encoded.refused if not one.static),
        *(
            message
            for template in encoded.templates
            for message in (
                _values(template.pool),
                _out_of_reach(made, template),
                _estimated(template, packer, free),
            )
            if message is not None
        ),
    )


def _values(pool: NodePool) -> PoolMessage | None:
    """Say which values of a requirement nobody knows, where others are left to buy by."""
    one = pool.template.requirements.get(label_keys.CAPACITY_TYPE)
    if one is None or one.complement:
        return None
    unknown = unknown_capacity_types(one.values)
    if not unknown:
        return None
    return PoolMessage(nodepool=pool.name, rule=Rule.POOL_VALUES, message=f"{unknown}; passed over")


def _out_of_reach(made: Problem, template: Template) -> PoolMessage | None:
    """Say which minValues no claim of a pool can reach, be it empty."""
    if made.min_values is not MinValuesPolicy.STRICT:
        return None
    nothing = np.zeros(len(template.dimensions.names), np.int64)
    short = min_values.shortfall(made.classes.root(template, None), nothing)
    if not short:
        return None
    return PoolMessage(nodepool=template.pool.name, rule=Rule.MIN_VALUES, message=short)


def _estimated(template: Template, packer: Packer, free: Set[int]) -> PoolMessage | None:
    """Say so where a node less might do, if the estimate of its allocatable is a little low.

    Looked at is the emptiest claim: with any other one, on a type that no live node has shown yet
    and that the plan buys, so that its first node will show what it really offers.
    """
    bins = packer.bins
    mine = [claim for claim in sorted(free) if bins.claims[claim].template is template]
    if len(mine) < 2:
        return None
    least = min(mine, key=lambda claim: (int(bins.pods[claim]), claim))
    others: Mapping[object, int] = {
        (bins.claims[claim].id, bins.used[claim].tobytes()): claim
        for claim in mine
        if claim != least
    }
    bought = _bought(template, packer, (least, *others.values()))
    for other in others.values():
        both = bins.used[least] + bins.used[other]
        offerings = bins.claims[least].offerings & bins.claims[other].offerings
        rows = np.zeros(len(template.room), np.bool_)
        rows[template.columns.row[offerings]] = True
        rows &= bought & ~template.observed & ~covering(template.room, both)
        rows &= covering(template.room + _doubt(template), both)
        if rows.any():
            return _estimate(template, int(np.flatnonzero(rows)[0]), both)
    return None


def _bought(template: Template, packer: Packer, claims: Iterable[int]) -> Bools:
    """Return (n_rows,): what these claims of a pool are bought as if nothing is in the way."""
    bins, columns = packer.bins, template.columns
    found = np.zeros(len(columns.rows), np.bool_)
    for claim in claims:
        known = bins.claims[claim]
        offerings = np.flatnonzero(known.narrowed_rows(known.rows_for(bins.used[claim])))
        found[columns.row[offerings[columns.rank[offerings].argsort()[:1]]]] = True
    return found


def _doubt(template: Template) -> Ints:
    """Return (n_rows, n_resources): how much more there might be than is estimated."""
    in_bytes = np.array([name in BYTES for name in template.dimensions.names])
    found: Ints = (template.room + template.overhead) // _ERROR * in_bytes
    return found


def _set_apart(made: Problem, packer: Packer) -> frozenset[int]:
    """Return the claims with a pod that others may keep from joining, whatever the room."""
    standing = len(packer.problem.algebra.ground.standing)
    apart = [
        asks[0].topological or bool(exclusives(group.shape))
        for group, asks in zip(made.groups, made.asks, strict=True)
    ]
    return frozenset(
        one.bin - standing
        for one in packer.bins.placements
        if one.bin >= standing and apart[one.group]
    )


def _estimate(template: Template, row: int, asked: Ints) -> PoolMessage:
    kind = template.columns.types[int(template.columns.row_type[row])].name
    room = template.room[row]
    short = ", ".join(
        f"{readable_amount(name, wanted, up=True)} of {named_amount(name, there)}"
        for name, wanted, there in _short(template, asked, room)
    )
    return PoolMessage(
        nodepool=template.pool.name,
        rule=Rule.ESTIMATE,
        message=f"one node more is planned because of an estimate: for one {kind} less, {short} "
        "would be asked; the first node of that type will show what it really offers",
    )


def _short(template: Template, asked: Ints, room: Ints) -> Iterator[tuple[str, int, int]]:
    names = template.dimensions.names
    for name, wanted, there in zip(names, asked.tolist(), room.tolist(), strict=True):
        if wanted > there:
            yield name, wanted, there
