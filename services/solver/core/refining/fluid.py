"""What a plan costs at least, as amounts that flow: pods from groups to offers and standing room.

Apart from its solution because the bound after the fast stage, the linear program and the weighing
of bins all speak of the same amounts.

Words: an *offer* is a row of a pool at its least price for those who may use it; its *room* has the
columns of resources; one more per *rule of one*: pods of which a node can have only one, since they
keep away from each other on hosts or take the same port or disk; and one more per group of which
whole pods are counted.

Laws:
    - Every valid plan for the pods is a way in which they flow, at no higher cost. What rules over
      zones, limits, minValues and devices forbid is allowed here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.capacity import CapacityType
from libs.domain.workload import Namespace
from services.solver.core.exclusion import Exclusive, conflict, exclusives
from services.solver.core.offers.template import Template
from services.solver.core.packing.problem import Problem
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.shape_index import ShapeIndex
from services.solver.core.standing.standing import StandingClass
from services.solver.core.vectors import Bools, Floats, Ints, covering, most_that_fit

MOST_RULES = 16
"""Most rules of one that are minded: those with most pods."""

MOST_WHOLE = 8
"""Groups of which offers have room for whole pods only: those that ask for most."""

NO_STOCK = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Offers:
    """What can be bought, (n_offers,), none of which another is better than for the same pods."""

    template: Ints
    """Index of the pool."""
    row: Ints
    room: Floats
    """(n_offers, n_dims)."""
    price: Floats
    """Nano-dollars per hour."""
    stock: Ints
    """Index into `left` of the reservation, `NO_STOCK` where there is no end of it."""
    left: Floats
    """Instances per reservation."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fluid:
    """Groups with pods to place, (n,), and where they may flow."""

    groups: Ints
    """Their indices in the problem."""
    count: Floats
    """Pods of each."""
    request: Floats
    """(n, n_dims): of one pod."""
    kinds: Ints
    """(n,): equal for those who may use the same offers, room apart."""
    offers: Offers
    usable: Bools
    """(n, n_offers): whether a pod may run there, by labels, taints and room."""
    free: Floats
    """(n_classes, n_dims): room that stands already, by class of bins."""
    cap: Floats
    """(n, n_classes): most pods of a group that fit there."""


PriceOf = Callable[[Template], Ints]
"""(n_offerings,): what the offerings of a pool count for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Pods whose cost is asked about."""

    problem: Problem
    namespaces: Mapping[str, Namespace]
    counts: Sequence[int]
    """Pods of each group that have a place."""
    asks: Sequence[Ask]
    """What they ask for, by group."""


def fluid(placed: Placed, price_of: PriceOf) -> Fluid:
    """Return where the pods may flow.

    Pods that no node is bought for take only what stands: they are left out, and so is the room
    that they may need.
    """
    problem = placed.problem
    groups = [
        index
        for index, group in enumerate(problem.groups)
        if placed.counts[index] and not group.existing_only
    ]
    asks = [placed.asks[index] for index in groups]
    counts = np.array([placed.counts[index] for index in groups], np.float64)
    requests = np.array(
        [problem.dimensions.requests(ask.shape.requests) for ask in asks], np.int64
    ).reshape(len(groups), len(problem.dimensions.names))
    rules = _rules_of_one(asks, counts, placed.namespaces)
    kinds, allowed = _kinds(problem, asks)
    offers, by_kind = _offers(problem, allowed, price_of)
    whole, wholly = _whole_pods(counts, requests, offers.room)
    request = np.hstack([requests.astype(np.float64), rules, whole])
    room = np.hstack([offers.room, np.ones((len(offers.price), rules.shape[1])), wholly])
    fits = _fits(requests, offers.room)
    free, cap = _standing(problem, asks, requests, rules.shape[1])
    free = np.hstack([free, (cap.T @ whole) if len(free) else np.zeros((0, whole.shape[1]))])
    return Fluid(
        groups=np.array(groups, np.int64),
        count=counts,
        request=request,
        kinds=kinds,
        offers=_with_room(offers, room),
        usable=by_kind[kinds] & fits,
        free=free,
        cap=np.minimum(cap, counts[:, None]),
    )


def _whole_pods(counts: Floats, requests: Ints, room: Floats) -> tuple[Floats, Floats]:
    """Return, for the groups that ask for most, how many of their pods fit, in whole pods.

    Pods can be divided among nodes here, which matters where few fit on one.

    Returns:
        (n, n_whole): 1 where a group is the one that is counted; (n_offers, n_whole): how many.
    """
    share = (requests / np.maximum(counts @ requests, 1)).max(axis=1, initial=0.0) * counts
    most = np.argsort(-share, kind="stable")[:MOST_WHOLE]
    found = np.zeros((len(counts), len(most)))
    found[most, np.arange(len(most))] = 1
    fit = np.zeros((len(room), len(most)))
    for column, position in enumerate(most.tolist()):
        asked = np.flatnonzero(requests[position])
        often = np.floor(np.maximum(room[:, asked], 0) / requests[position, asked])
        fit[:, column] = often.min(axis=1, initial=counts[position])
    return found, fit


def _with_room(offers: Offers, room: Floats) -> Offers:
    return Offers(
        template=offers.template,
        row=offers.row,
        room=room,
        price=offers.price,
        stock=offers.stock,
        left=offers.left,
    )


def _fits(requests: Ints, room: Floats) -> Bools:
    """Return (n, n_offers): whether one pod of each group fits."""
    found = np.ones((len(requests), len(room)), np.bool_)
    for column in range(requests.shape[1]):
        found &= requests[:, column, None] <= room[None, :, column]
    return found


def _rules_of_one(
    asks: Sequence[Ask], counts: Floats, namespaces: Mapping[str, Namespace]
) -> Floats:
    """Return (n, n_rules): 1 where pods of a group are among those of which a node has just one."""
    members: dict[object, list[int]] = {}
    keeping = [ask.shape for ask in asks if _keeps_hosts(ask)]
    index = ShapeIndex(keeping, namespaces)
    for position, ask in enumerate(asks):
        for key in _keys_of_one(ask, index):
            members.setdefault(key, []).append(position)
    most = sorted(members.values(), key=lambda own: -counts[own].sum())[:MOST_RULES]
    found = np.zeros((len(asks), len(most)))
    for rule, own in enumerate(most):
        found[own, rule] = 1
    return found


def _keeps_hosts(ask: Ask) -> bool:
    return any(_on_hosts(term.topology_key) for term in ask.shape.anti_affinity)


def _on_hosts(key: str) -> bool:
    return label_keys.canonical_key(key) == label_keys.HOSTNAME


def _keys_of_one(ask: Ask, index: ShapeIndex) -> Iterator[object]:
    shape = ask.shape
    for term in dict.fromkeys(shape.anti_affinity):
        if _on_hosts(term.topology_key) and shape.id in index.matching_all((term,)):
            yield term
    for one in dict.fromkeys(exclusives(shape)):
        if conflict((one,), (one,)):
            yield one


def _kinds(problem: Problem, asks: Sequence[Ask]) -> tuple[Ints, list[Bools]]:
    """Return who may buy what, by labels and taints.

    Returns:
        (n,): the kind of each group; per pool (n_kinds, n_offerings): what a kind may use of it.
    """
    known: dict[object, int] = {}
    numbers: dict[bytes, int] = {}
    masks: list[list[Bools]] = []
    kinds = np.empty(len(asks), np.int64)
    for position, ask in enumerate(asks):
        key = _content(ask)
        if key not in known:
            found = _allowed(problem, ask)
            content = b"".join(one.tobytes() for one in found)
            if content not in numbers:
                numbers[content] = len(masks)
                masks.append(found)
            known[key] = numbers[content]
        kinds[position] = known[key]
    by_template = [
        np.array([one[template.index] for one in masks], np.bool_).reshape(
            len(masks), len(template.offerings)
        )
        for template in problem.templates
    ]
    return kinds, by_template


def _content(ask: Ask) -> tuple[object, ...]:
    """Return what of an ask decides which new nodes it may have."""
    own: tuple[Exclusive, ...] = exclusives(ask.shape)
    return ask.places, own, ask.shape.tolerations, ask.effects


def _allowed(problem: Problem, ask: Ask) -> list[Bools]:
    found = [np.zeros(len(template.offerings), np.bool_) for template in problem.templates]
    for known in problem.topology.ground.new_nodes_by_all(ask):
        found[known.template.index] |= known.offerings
    return found


def _offers(problem: Problem, allowed: list[Bools], price_of: PriceOf) -> tuple[Offers, Bools]:
    """Return the offers, and (n_kinds, n_offers): who may use them."""
    stocks: dict[str, int] = {}
    parts = [
        _of_pool(problem, template, mask, price_of(template), stocks)
        for template, mask in zip(problem.templates, allowed, strict=True)
    ]
    dims = len(problem.dimensions.names)
    kinds = len(allowed[0]) if allowed else 0
    template = np.concatenate(
        [[], *(np.full(len(one[0]), index) for index, one in enumerate(parts))]
    )
    row = np.concatenate([np.zeros(0, np.int64), *(one[0] for one in parts)])
    price = np.concatenate([np.zeros(0), *(one[1] for one in parts)])
    stock = np.concatenate([np.zeros(0, np.int64), *(one[2] for one in parts)])
    room = np.concatenate([np.zeros((0, dims)), *(one[3] for one in parts)])
    usable = np.concatenate([np.zeros((kinds, 0), np.bool_), *(one[4] for one in parts)], axis=1)
    kept = _undominated(room, price, stock, usable)
    counts = [template.columns.reservations for template in problem.templates]
    left = [float(min(one[name] for one in counts if name in one)) for name in stocks]
    offers = Offers(
        template=template[kept].astype(np.int64),
        row=row[kept],
        room=room[kept],
        price=price[kept],
        stock=stock[kept],
        left=np.array(left, np.float64),
    )
    return offers, usable[:, kept]


def _of_pool(
    problem: Problem, template: Template, allowed: Bools, price: Ints, stocks: dict[str, int]
) -> tuple[Ints, Floats, Ints, Floats, Bools]:
    """Return rows, prices, stocks, rooms and who may use them of one pool, each at its cheapest."""
    columns = template.columns
    some = np.flatnonzero(allowed.any(axis=0))
    stock = np.full(len(columns.offerings), NO_STOCK, np.int64)
    if columns.reservations and problem.reservations:
        for position in some.tolist():
            offering = columns.offerings[position]
            if offering.capacity_type == CapacityType.RESERVED:
                number = stocks.setdefault(offering.reservation_id, len(stocks))
                stock[position] = number
    packed = np.packbits(allowed[:, some], axis=0).T
    keys = np.column_stack([columns.row[some], stock[some], packed])
    order = np.lexsort((price[some], *keys.T[::-1]))
    ordered = keys[order]
    first = np.ones(len(some), np.bool_)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    kept = some[order[first]]
    room = template.room[columns.row[kept]].astype(np.float64)
    return columns.row[kept], price[kept].astype(np.float64), stock[kept], room, allowed[:, kept]


def _undominated(room: Floats, price: Floats, stock: Ints, usable: Bools) -> Ints:
    """Return the offers than which none for the same kinds has as much room for as little.

    What there is no end of may take the place of anything; what is in stock of nothing.
    """
    order = np.lexsort((*(-room.T), price))
    users = np.packbits(usable, axis=0).T[order]
    _, sort = np.unique(users, axis=0, return_inverse=True)
    sort = sort.reshape(-1)
    kept = [np.zeros(0, np.int64)]
    for number in range(int(sort.max(initial=-1)) + 1):
        mine = order[sort == number]
        larger = np.tri(len(mine), k=-1, dtype=np.bool_).T
        for column in range(room.shape[1]):
            amounts = room[mine, column]
            larger &= amounts[:, None] >= amounts
        larger[stock[mine] != NO_STOCK] = False
        kept.append(mine[~larger.any(axis=0)])
    return np.sort(np.concatenate(kept))


_MOST_CELLS = 2_000_000
"""Pairs of groups and bins that are looked at one by one; beyond, bins count as if joined."""

_MOST_CLASSES = 16
"""Classes of bins that are told apart, those with most bins; any pod may use the rest together."""


def _standing(
    problem: Problem, asks: Sequence[Ask], requests: Ints, rules: int
) -> tuple[Floats, Floats]:
    """Return what room stands by class of bins, and (n, n_classes) how many pods fit there."""
    standing = problem.topology.ground.standing
    exact = len(asks) * len(standing) <= _MOST_CELLS
    present, sizes = np.unique(standing.class_of, return_counts=True)
    by_size = present[np.lexsort((present, -sizes))].tolist()
    parts = [
        (standing.class_of == number, _suiting(standing.classes[number], asks))
        for number in by_size[:_MOST_CLASSES]
    ]
    if rest := by_size[_MOST_CLASSES:]:
        parts.append((np.isin(standing.class_of, rest), np.ones(len(asks), np.bool_)))
    free, caps = [], []
    for where, allowed in parts:
        bins = np.maximum(standing.free[where], 0)
        if allowed.any() and bins.any():
            free.append(np.concatenate([bins.sum(axis=0), np.full(rules, len(bins))]))
            caps.append(np.where(allowed, _most_pods(bins, requests, exact=exact), 0))
    dims = requests.shape[1] + rules
    return (
        np.array(free, np.float64).reshape(len(free), dims),
        np.array(caps, np.float64).reshape(len(free), len(asks)).T,
    )


def _suiting(known: StandingClass, asks: Sequence[Ask]) -> Bools:
    """Return (n,): whose labels and taints suit; equal asks are looked at once."""
    suits: dict[object, bool] = {}
    for ask in asks:
        key = _content(ask)
        if key not in suits:
            suits[key] = known.tolerated(ask) and any(
                known.allows(one.requirements) for one in ask.places
            )
    return np.array([suits[_content(ask)] for ask in asks], np.bool_)


def _most_pods(bins: Ints, requests: Ints, *, exact: bool) -> Floats:
    """Return (n,): how many pods of each group alone fit on these bins together."""
    found = np.zeros(len(requests))
    if not exact:
        found[covering(bins.max(axis=0), requests)] = np.inf
        return found
    for position, request in enumerate(requests):
        asked = np.flatnonzero(request)
        found[position] = float(most_that_fit(bins[:, asked], request[asked]).sum())
    return found
