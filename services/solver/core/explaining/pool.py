"""A pool: what it could buy, what its requirements take away, whom it refuses.

Apart from nodes because everything here is about nodes that do not exist yet.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from libs.domain import labels as label_keys
from libs.domain import spelling
from libs.domain.explanation import Explanation, FunnelStep, NodePoolExplanation, Refusal
from libs.domain.nodepool import NodePool
from libs.domain.plan import LaunchOption, PoolMessage
from libs.domain.reason import Rejection, Rule
from libs.domain.requirement import Operator, Requirement
from libs.domain.resources import NODES, NOTHING, Resources
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.explaining.known import sold_values
from services.solver.core.explaining.options import cheapest_by_capacity_type
from services.solver.core.explaining.trial import Desk
from services.solver.core.explaining.waiting import unpacked, verdicts
from services.solver.core.offers.catalogue import CatalogueColumns
from services.solver.core.offers.limits import PoolLimits
from services.solver.core.offers.template import Refused, Template, in_order, template_requirements
from services.solver.core.packing.encode import Encoded
from services.solver.core.reasons.case import Case
from services.solver.core.reasons.pool_reasons import pool_rejection
from services.solver.core.vectors import Bools, Ints

_OWN_KEYS = frozenset({label_keys.NODEPOOL, label_keys.REGISTERED, label_keys.INITIALIZED})
"""Keys that every pool has; they take nothing away."""


def explain_pool(
    desk: Desk, snapshot: ClusterSnapshot, name: str, base: Explanation
) -> Explanation | None:
    """Return what there is to say about a pool; None if there is no such one."""
    pool = snapshot.nodepools.get(name)
    if pool is None:
        return None
    decision = desk.decide(snapshot)
    encoded = decision.encoded
    template = next((one for one in encoded.templates if one.pool.name == name), None)
    refused = next((one for one in encoded.refused if one.pool.name == name), None)
    offers = encoded.market.by_pool.get(name)
    columns = offers.columns if offers is not None else None
    explained = _pool(snapshot, pool, columns, usable=template is not None)
    if template is not None:
        explained = _with_template(explained, encoded, template)
    elif refused is not None:
        explained = replace(explained, refusals=_all_refused(encoded, refused))
    told = [one for one in decision.plan.pool_messages if one.nodepool == name]
    if any(one.rule is Rule.MIN_VALUES for one in told):
        explained = replace(explained, usable=False)
    if refused is not None and refused.static:
        told.append(refused.as_message())
    options: tuple[LaunchOption, ...] = ()
    if columns is not None and template is not None:
        options = cheapest_by_capacity_type(columns, template.offerings)
    return replace(
        base,
        nodepool=explained,
        pool_messages=(*told, *_misspelt(pool, columns)),
        options_by_price=options,
        node_class=pool.template.node_class,
    )


def _pool(
    snapshot: ClusterSnapshot, pool: NodePool, columns: CatalogueColumns | None, *, usable: bool
) -> NodePoolExplanation:
    order = [one.name for one in in_order(snapshot.nodepools.values())]
    nodes = sum(
        dict(one.labels).get(label_keys.NODEPOOL) == pool.name and not one.leaving
        for one in snapshot.nodes.values()
    )
    return NodePoolExplanation(
        name=pool.name,
        weight=pool.weight,
        position=order.index(pool.name) + 1,
        pools=len(order),
        usable=usable,
        replicas=pool.replicas,
        requirements=template_requirements(pool),
        taints=pool.template.taints,
        funnel=() if columns is None else tuple(_funnel(pool, columns)),
        nodes=nodes,
        limits=pool.limits,
        used=NOTHING,
        left=NOTHING,
        least_overhead=NOTHING,
        most_overhead=NOTHING,
    )


# What it could buy.


def _funnel(pool: NodePool, columns: CatalogueColumns) -> Iterator[FunnelStep]:
    """Yield what is sold, then what each requirement leaves of it, in the order of the keys."""
    mask = np.ones(len(columns.offerings), np.bool_)
    yield _step("sold", columns, mask)
    mask = mask & columns.available
    yield _step("available now", columns, mask)
    for one in template_requirements(pool):
        if one.key in _OWN_KEYS:
            continue
        left = mask & columns.mask(one, lenient=True)
        if (left != mask).any() or one.key in pool.template.requirements:
            yield _step(str(one), columns, left)
        mask = left


def _step(step: str, columns: CatalogueColumns, mask: Bools) -> FunnelStep:
    kinds = np.unique(columns.row_type[columns.row[mask]])
    return FunnelStep(step=step, instance_types=len(kinds), offerings=int(mask.sum()))


def _misspelt(pool: NodePool, columns: CatalogueColumns | None) -> Iterator[PoolMessage]:
    """Say which values of the requirements nothing that is sold has, and what was perhaps meant."""
    if columns is None:
        return
    for one in pool.template.requirements:
        if one.key == label_keys.CAPACITY_TYPE:
            continue  # plans tell of these
        known = sold_values(columns, one.key)
        if one.operator is not Operator.IN or not known:
            continue
        for value in sorted(one.values - known):
            message = f'nothing that is sold has "{value}" as {one.key}{_meant(value, known, one)}'
            yield PoolMessage(nodepool=pool.name, rule=Rule.POOL_VALUES, message=message)


def _meant(value: str, known: frozenset[str], one: Requirement) -> str:
    near = spelling.nearest(value, known - one.values, 1)
    return f'; "{near[0]}" is sold' if near else ""


# Limits, daemons, waiting pods.


def _with_template(
    explained: NodePoolExplanation, encoded: Encoded, template: Template
) -> NodePoolExplanation:
    state = unpacked(encoded)
    found = verdicts(state, partial(_refuse, template))
    limits = state.problem.limits[template.index]
    bought = np.unique(template.columns.row[template.offerings])
    overhead = template.overhead[bought]
    dimensions = template.dimensions
    return replace(
        explained,
        usable=_leave_a_node(limits, bought),
        used=_used(limits),
        left=limits.left(),
        least_overhead=dimensions.resources(overhead.min(axis=0)),
        most_overhead=dimensions.resources(overhead.max(axis=0)),
        could_take=found.could_take,
        refusals=found.refusals,
    )


def _refuse(template: Template, case: Case) -> Rejection | None:
    return pool_rejection(case, template)


def _leave_a_node(limits: PoolLimits, rows: Ints) -> bool:
    """Tell whether the limits allow one more node of some of these rows, (n,)."""
    allowed = limits.rows()
    return limits.nodes_left and (allowed is None or bool(allowed[rows].any()))


def _used(limits: PoolLimits) -> Resources:
    left, limited = limits.left(), limits.template.pool.limits
    names = (*limits.template.limited, *((NODES,) if NODES in limited else ()))
    return Resources({name: limited.get(name) - left.get(name) for name in names})


def _all_refused(encoded: Encoded, refused: Refused) -> tuple[Refusal, ...]:
    uids = [uid for one in encoded.work.groups if not one.virtual for uid in one.uids]
    if not uids:
        return ()
    refusal = Refusal(rule=refused.rule, message=refused.message, pod_uids=tuple(sorted(uids)))
    return (refusal,)
